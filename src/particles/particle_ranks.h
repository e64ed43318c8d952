// Loops over the tiles of sorted particles in which every rank does its own; see grid/tile_ranks.h.
//
// A group of rows belongs to the owner of its tile, also where the group was appended and is not in
// order. Ranks hold all rows, and gather what a loop wrote; or, where the domain is lean, only
// their own (particle_away), and bring in the rows around them where a stage reads those.
#pragma once

#include "base/arena.h"
#include "base/parallel_sum.h"
#include "grid/tile_ranks.h"
#include "particles/particles.h"

/// The groups of a sorted store whose tiles are one's own; all of them where tiles are not shared
/// out.
tile_range particle_ranks_own(const grid_domain* domain, const particles* p);
/// The groups of a sorted store that this rank holds: its own where the domain is lean, else all;
/// and their rows.
tile_range particle_ranks_here(const grid_domain* domain, const particles* p);
tile_range particle_ranks_rows(const grid_domain* domain, const particles* p);
/// first[r] = the first row of rank r's groups in a sorted store; first: [ranks + 1].
void particle_ranks_first(const grid_domain* domain, const particles* p, int64_t* first);
/// Whose tile it is.
int particle_ranks_owner(treacle_context* ctx, const grid_domain* domain, tile_coord tile);

/// parallel_for over one's own groups.
void particle_ranks_for(const grid_domain* domain, const particles* p, int64_t grain,
                        parallel_fcn* fcn, void* data);
/// Sum and maximum over all groups, of which each rank does its own.
double particle_ranks_sum(const grid_domain* domain, const particles* p, parallel_term_fcn* fcn,
                          void* data);
double particle_ranks_max(const grid_domain* domain, const particles* p, parallel_term_fcn* fcn,
                          void* data);
/// The volume of all particles, m^3.
double particle_ranks_volume(const grid_domain* domain, const particles* p);

/// What the owners of rows have in `data`, row_bytes a row, comes to all ranks that hold all rows.
void particle_ranks_gather(const grid_domain* domain, const particles* p, void* data,
                           size_t row_bytes);
/// The same for a column; harmless where it is not there.
void particle_ranks_gather_column(const grid_domain* domain, const particles* p,
                                  particle_column column);

/// Where the domain is lean: rows of the tiles next to one's own come here, in the columns of the
/// mask (bit c: column c) that exist.
void particle_ranks_halo(const grid_domain* domain, const tile_map* map, const particles* p,
                         uint32_t columns);
/// parallel_for over the rows that this rank may read once it has its halo.
void particle_ranks_near(const grid_domain* domain, const tile_map* map, const particles* p,
                         parallel_fcn* fcn, void* data);

/// Whether the rows of a tile, or a group, are this rank's to work on, also if they were appended.
bool particle_ranks_has_tile(const grid_domain* domain, const particles* p, tile_coord tile);
bool particle_ranks_has(const grid_domain* domain, const particles* p, tile_ix group);
/// particles_remove, where each rank has marked the rows that it has.
treacle_status particle_ranks_remove(const grid_domain* domain, particles* p,
                                     const uint8_t* is_removed, arena* scratch) TREACLE_NODISCARD;

/// Where the domain is lean: the store, in order, holds this rank's rows and no others; the memory
/// of others is given back.
void particle_ranks_keep_own(const grid_domain* domain, particles* p);
/// Spoils the rows that are not here, with a map but those around one's own; see comm_poisons.
void particle_ranks_poison(const grid_domain* domain, const tile_map* map, const particles* p);
