// Which rank owns which particles of a store, and how they get from one rank to another.
//
// A group of particles belongs to the owner of its tile, also where the group was appended and is
// not in order (grid/tile_ranks.h). Every rank holds all particles; or, where the owners are
// distributed, only its own (particle_away), and brings in the particles around them where a stage
// reads those. particles/particle_loop.h runs loops.
#pragma once

#include "base/arena.h"
#include "grid/tile_ranks.h"
#include "particles/particles.h"

/// Whether ranks hold no more particles than their own.
static inline bool particle_ranks_are_distributed(const particles* p) {
    return p->owners != NULL && p->owners->is_distributed;
}
/// The groups of a sorted store whose tiles are one's own; all of them where tiles are not shared
/// out.
tile_range particle_ranks_own(const particles* p);
/// The groups of a sorted store that this rank holds: its own where ranks are distributed, else
/// all; and their particles.
tile_range particle_ranks_here(const particles* p);
tile_range particle_ranks_own_range(const particles* p);
/// first[r] = the first particle of rank r's groups in a sorted store; first: [ranks + 1].
void particle_ranks_first(const particles* p, int64_t* first);
/// Whose tile it is.
int particle_ranks_owner(const particles* p, tile_coord tile);

/// The particles of a tile of a map in a sorted store; none where the tile has no group.
tile_range particle_ranks_of_tile(const tile_map* map, const particles* p, tile_ix t);
/// Where ranks are distributed: particles of the tiles next to one's own come here, in the columns
/// of the mask (bit c: column c) that exist.
void particle_ranks_halo(const tile_map* map, const particles* p, uint32_t columns);
/// Whether the particles of a tile, or a group, are this rank's to work on, also if they were
/// appended.
bool particle_ranks_has_tile(const particles* p, tile_coord tile);
bool particle_ranks_has(const particles* p, tile_ix group);
/// particles_remove, where each rank has marked the particles that it has.
treacle_status particle_ranks_remove(particles* p, const uint8_t* is_removed,
                                     arena* scratch) TREACLE_NODISCARD;

/// Where ranks are distributed: the store, in order, holds this rank's particles and no others; the
/// memory of others is given back.
void particle_ranks_keep_own(particles* p);
