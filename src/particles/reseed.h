// Keeps the number of particles in a cell near the one that the scene asks for, without changing
// what they hold: crowded cells merge, particles that have grown too large split.
//
//     merge   while a cell has more than 2 n particles: its smallest, with the nearest to it in the
//             cell of the same material, as long as the two are not larger than 2 V
//     split   a particle larger than 1.5 V in a cell with fewer than n
//
// where n is per_cell and V the volume of a full cell over n. Afterwards the store must be sorted.
#pragma once

#include "base/arena.h"
#include "particles/particles.h"

typedef struct reseed_params {
    const grid_domain* domain;
    arena* scratch; // gets everything back
    uint64_t seed;
    int per_cell;
    uint64_t source; // of the ids of split particles
    uint64_t births; // ids of that source given so far
} reseed_params;

typedef struct reseed_stats {
    int64_t split, merged;
} reseed_stats;

/// The store must be sorted. ERR_LIMIT if the ids run out.
treacle_status reseed_particles(particles* p, const reseed_params* params,
                                reseed_stats* stats) TREACLE_NODISCARD;
