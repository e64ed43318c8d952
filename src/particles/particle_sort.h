// Brings particles back into order: every particle to the tile it has gone to, particles by (tile,
// cell, id).
//
// Positions that left their tile are carried over to another. At the domain's sides:
//
//     periodic        the particle enters opposite
//     open            it is gone, and counted as removed
//     slip, no-slip   it is put SIDE_MARGIN inside the wall, loses its velocity into the wall (all
//                     of it at a no-slip wall), and is counted as stopped
//
// Along an inactive axis it is put on the mid-plane. Afterwards every position is in [0, 8)
// exactly, and inside the domain. The result is a function of the particles alone.
#pragma once

#include "base/arena.h"
#include "particles/particles.h"

// Cells between a wall and a particle that hit it. Far above the rounding of a position in its
// tile, far below anything that a kernel resolves.
#define SIDE_MARGIN (1.0 / 1024.0)

typedef struct particle_sort_stats {
    int64_t removed;  // through open sides
    int64_t stopped;  // at walls
    int64_t migrated; // to another tile
} particle_sort_stats;

/// What a sort works with; the memory is scratch.
typedef struct particle_sorter {
    const grid_domain* domain;
    arena* scratch; // gets everything back
} particle_sorter;

/// Borrowed columns are read where they are and become the store's own, in order; to sort its own
/// takes one more column, of 12 bytes a particle or less if it is large, for as long as the sort
/// goes on.
/// ERR_DIVERGED where a position is not finite, ERR_MEMORY, ERR_LIMIT above 2^32 - 1 particles; the
/// store is then good for nothing but particles_copy and particles_destroy.
treacle_status particle_sort(particles* p, const particle_sorter* sorter,
                             particle_sort_stats* out) TREACLE_NODISCARD;
