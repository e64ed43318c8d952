// Who does which tiles: loops in which every rank does its own, and what it then tells the others.
//
// Every rank knows all tiles; it owns a run of them along the Morton curve, between two keys
// (grid/partition.h). A loop over tiles writes only the tile that it is at, so each rank can run it
// for its own tiles alone. What the loop wrote must then come to who reads it:
//
//     tile_for(map, grain, fcn, data);        own tiles
//     tile_gather(map, field, bytes);         everybody gets all of it, or
//     tile_exchange(map, field, bytes);       everybody gets the tiles next to its own, or
//     tile_share(map, field, bytes);          who may read it gets it
//
// Lean ranks hold the values of their own tiles and of the ghosts around them; what else a field
// has room for is never touched, and its pages cost nothing. Other ranks hold all: fields are whole
// between the stages of a step, and a loop that nobody has taught to be shared runs on all ranks,
// with the same result. With one rank, or where a map has no `ranks`, all tiles are one's own and
// nothing is told. What is small, a few bytes a tile, is whole on all ranks in any case.
#pragma once

#include "base/comm.h"
#include "base/parallel.h"
#include "base/parallel_sum.h"
#include "grid/tile_map.h"

typedef struct tile_ranks {
    int64_t* first; // [ranks + 1], tiles of rank r: first[r] .. first[r + 1] - 1
    int peer_count;
    comm_peer* peers; // ranks that own a neighbour of one's own tiles
    int32_t* items;   // of the peers
    int64_t item_count;
    bool is_lean;
    int64_t ghost_count;
    tile_ix* ghost; // [ghost_count], tiles that peers give, ascending
} tile_ranks;

typedef struct tile_range {
    int64_t begin, end;
} tile_range;

/// Shares out the tiles of a map by the keys that the domain has; without keys it does nothing.
treacle_status tile_ranks_create(const grid_domain* domain, tile_map* map) TREACLE_NODISCARD;
/// The same for a coarser map, by the owners of its tiles' children, if these lie on one rank each
/// and in order; else the coarse tiles are everybody's. parent: of the fine tiles, -1 for none.
treacle_status tile_ranks_coarsen(const tile_map* fine, const tile_ix* parent,
                                  tile_map* coarse) TREACLE_NODISCARD;
/// Harmless where there are none.
void tile_ranks_destroy(tile_map* map);

/// The fine tiles that each coarse tile reads; the fine map's count stands for none.
typedef struct tile_reach {
    int per_tile;
    const tile_ix* tile; // [coarse tiles][per_tile]
} tile_reach;
/// The peers that must tell each other of fine tiles before coarse tiles read them: those of *out,
/// which is NULL where maps are not shared out.
treacle_status tile_ranks_reach(const tile_map* fine, const tile_map* coarse,
                                const tile_reach* reach, tile_ranks** out) TREACLE_NODISCARD;
/// Accepts NULL.
void tile_ranks_free(treacle_context* ctx, tile_ranks* ranks);

/// One's own tiles.
tile_range tile_ranks_own(const tile_map* map);
/// Of a list of tiles in ascending order, the places with one's own; all where the map is NULL or
/// has no ranks.
tile_range tile_ranks_list(const tile_map* map, int64_t count, const tile_ix* list);

/// Who owns which of a list of tiles in Morton order, by the keys of the domain: first[r], [ranks +
/// 1]. One's own are all where there are no keys; then first is left as it is.
tile_range tile_ranks_of_list(treacle_context* ctx, const grid_domain* domain, int64_t count,
                              const tile_coord* list, int64_t* first);

/// parallel_for over one's own tiles.
void tile_for(const tile_map* map, int64_t grain, parallel_fcn* fcn, void* data);
/// parallel_for over a range.
void tile_for_range(treacle_context* ctx, tile_range range, int64_t grain, parallel_fcn* fcn,
                    void* data);
/// What the owners of tiles have in `data`, tile_bytes a tile, comes to all.
void tile_gather(const tile_map* map, void* data, size_t tile_bytes);
/// A field of floats.
void tile_gather_field(const tile_map* map, float* field);
/// What neighbours' owners have comes to the neighbours.
void tile_exchange(const tile_map* map, void* data, size_t tile_bytes);
/// What the owners of tiles have comes to who may read it: all, or neighbours where ranks are lean.
void tile_share(const tile_map* map, void* data, size_t tile_bytes);
void tile_share_field(const tile_map* map, float* field);

/// Whether ranks hold no more than their own tiles and the ghosts.
bool tile_ranks_are_lean(const tile_map* map);
bool tile_ranks_holds(const tile_map* map, tile_ix t);
/// parallel_for over the tiles whose values this rank holds.
void tile_for_held(const tile_map* map, int64_t grain, parallel_fcn* fcn, void* data);
/// Zeroes what this rank holds, and the dummy tile; or copies it.
void tile_clear(const tile_map* map, void* data, size_t tile_bytes);
void tile_copy(const tile_map* map, void* to, const void* from, size_t tile_bytes);

/// As parallel_sum and parallel_max over all tiles; each rank asks for its own.
double tile_sum(const tile_map* map, parallel_term_fcn* fcn, void* data);
double tile_max(const tile_map* map, parallel_term_fcn* fcn, void* data);
/// The same over a range; where it is shared, that of each rank.
double tile_sum_range(treacle_context* ctx, tile_range own, bool is_shared, parallel_term_fcn* fcn,
                      void* data);
double tile_max_range(treacle_context* ctx, tile_range own, bool is_shared, parallel_term_fcn* fcn,
                      void* data);
