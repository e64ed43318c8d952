// Single stages of a step, for tests and research. May change with any version.
//
// They work on the particles of a simulation between its steps, one by one and in any order that
// makes sense. Where there is liquid, its velocity on the grid is of the particles as they were:
// call treacle_stages_prepare before the next step. A stage that fails leaves the particles in no
// particular order: put or seed them anew. A step in between is a step like any other.
#pragma once

#include "../sim.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Particles in the caller's arrays.
typedef struct treacle_stages_particles {
    int64_t count;
    const double* place;     ///< [3 count], m
    const float* velocity;   ///< [3 count], m/s; NULL: at rest
    const uint64_t* id;      ///< [count], no two the same; NULL: 0, 1, 2, ...
    const float* volume;     ///< [count], m^3; NULL: as seeded particles have it
    const uint8_t* material; ///< [count]; NULL: 0
} treacle_stages_particles;

/// Puts these particles in place of all others. Not sorted: sort before anything else.
TREACLE_API treacle_status treacle_stages_put(treacle_sim* sim,
                                              const treacle_stages_particles* particles);
/// Puts the liquids of the def in place of all particles, sorted. Its domain must be that of sim.
TREACLE_API treacle_status treacle_stages_seed(treacle_sim* sim, const treacle_sim_def* def);
/// Free flight for dt seconds under the gravity of the simulation's time. Not sorted afterwards.
TREACLE_API treacle_status treacle_stages_advect(treacle_sim* sim, double dt);
/// Appends what the emitters give in (from, to], s. Not sorted afterwards.
TREACLE_API treacle_status treacle_stages_emit(treacle_sim* sim, double from, double to,
                                               int64_t* count);

typedef struct treacle_stages_sort_stats {
    int64_t removed;  ///< through open sides
    int64_t stopped;  ///< at walls
    int64_t migrated; ///< to another tile
} treacle_stages_sort_stats;
/// Sorts by (tile, cell, id): carries positions to their tiles, wraps, stops and removes at sides.
TREACLE_API treacle_status treacle_stages_sort(treacle_sim* sim, treacle_stages_sort_stats* out);

/// Makes the velocity on the grid anew from the particles, which must be sorted, as a simulation
/// does at its start; and the particles' from it. Does nothing where particles fly ballistically.
TREACLE_API treacle_status treacle_stages_prepare(treacle_sim* sim);

#ifdef __cplusplus
}
#endif
