// The one loop over particles: it says over which of them it goes and what it writes.
//
//     span                   a rank does                        then
//     PARTICLES_OWN_TILES    groups whose tiles are its own     `columns` and `values` go to the
//                                                               ranks that hold all particles
//     PARTICLES_EACH_NEAR    its own particles, and those of    nothing is sent: the owner does the
//                            tiles around that it has brought   same
//     PARTICLES_ALL_TILES,   all groups, or all particles one   nothing is sent; only where every
//     PARTICLES_EACH         by one                             rank holds all particles
//
// A group is a run of particles with one tile, and a loop over groups gets their indices. With one
// rank each span is all of the particles.
#pragma once

#include "base/parallel_sum.h"
#include "particles/particle_ranks.h"

typedef enum particle_span {
    PARTICLES_OWN_TILES,
    PARTICLES_EACH_NEAR,
    PARTICLES_ALL_TILES,
    PARTICLES_EACH
} particle_span;

typedef struct particle_use {
    particle_span span;
    int64_t grain;       // groups or particles that a thread takes at a time
    uint32_t columns;    // bit c: the loop writes column c, if it exists
    void* values;        // what else it writes, value_bytes a particle; NULL: nothing
    size_t value_bytes;  // of a particle
    const tile_map* map; // of PARTICLES_EACH_NEAR: the tiles around
} particle_use;

/// Runs fcn over groups or particles of the store as `use` says: a pass over the particles.
void particle_for(const particles* p, const particle_use* use, parallel_fcn* fcn, void* data);

/// Sum and maximum over all groups, of which each rank does its own.
double particle_sum(const particles* p, parallel_term_fcn* fcn, void* data);
double particle_max(const particles* p, parallel_term_fcn* fcn, void* data);
/// The volume of all particles, m^3.
double particle_volume(const particles* p);

/// For tests: fills the particles that a rank does not hold with NaN; with a map it spares those
/// that it has brought from the tiles around. See `poisons` of a context.
void particle_poison(const tile_map* map, const particles* p);
