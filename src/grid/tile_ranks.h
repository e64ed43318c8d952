// Which rank owns which tiles, and which of the others' values it holds.
//
// Every rank knows all tiles; it owns a run of them along the Morton curve, between two keys
// (grid/partition.h). A loop over tiles writes only the tile that it is at, so each rank can run it
// for its own tiles alone; grid/tile_loop.h runs loops and sends what they wrote.
//
// Distributed ranks hold the values of their own tiles and of the ghosts around them; what else a
// field has room for is never touched, and its pages cost nothing. Other ranks hold all: fields are
// whole between the stages of a step. With one rank, or where a map has no `ranks`, all tiles are
// one's own and nothing is sent. What is small, a few bytes a tile, is whole on all ranks in any
// case.
#pragma once

#include "base/comm.h"
#include "grid/tile_map.h"

// What each rank owns of the Morton curve.
typedef struct tile_owners {
    const uint64_t* key; // [ranks + 1]: rank r owns the tiles with key[r] <= tile_key < key[r + 1]
    bool is_distributed; // a rank holds the values of its own tiles and of those around them alone
} tile_owners;

typedef struct tile_ranks {
    int64_t* first; // [ranks + 1], tiles of rank r: first[r] .. first[r + 1] - 1
    int peer_count;
    comm_peer* peers; // ranks that own a neighbour of one's own tiles
    int32_t* items;   // of the peers
    int64_t item_count;
    bool is_distributed;
    int64_t ghost_count;
    tile_ix* ghost; // [ghost_count], tiles that peers give, ascending
} tile_ranks;

typedef struct tile_range {
    int64_t begin, end;
} tile_range;

/// Shares out the tiles of a map among their owners; does nothing where `owners` is NULL.
treacle_status tile_ranks_create(const tile_owners* owners, tile_map* map) TREACLE_NODISCARD;
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
/// The places in an ascending list of tiles that have one's own; all where the map is NULL or
/// has no ranks.
tile_range tile_ranks_list(const tile_map* map, int64_t count, const tile_ix* list);

/// Which of a list of tiles in Morton order each rank owns: rank r those from first[r] on, [ranks +
/// 1]. Returns one's own: all of them where `owners` is NULL, and then first is left as it is.
tile_range tile_ranks_of_list(treacle_context* ctx, const tile_owners* owners, int64_t count,
                              const tile_coord* list, int64_t* first);

/// Whether ranks hold no more than their own tiles and the ghosts.
bool tile_ranks_are_distributed(const tile_map* map);
bool tile_ranks_holds(const tile_map* map, tile_ix t);
