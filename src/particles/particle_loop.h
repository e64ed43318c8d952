// The one loop over particles: it says over which of them it goes and what it writes.
//
//     span                   a rank does                        then
//     PARTICLES_OWN_TILES    groups whose tiles are its own     `columns` and `values` go to the
//                                                               ranks that hold all rows
//     PARTICLES_NEAR_ROWS    its own rows, and those of the     nothing is sent: the owner does the
//                            tiles around that it has brought   same
//     PARTICLES_ALL_TILES,   all groups, all rows               nothing is sent; only where every
//     PARTICLES_ALL_ROWS                                        rank holds all rows
//
// A group is a run of rows with one tile, and a loop over groups gets their indices. With one rank
// each span is all of the particles.
#pragma once

#include "base/parallel_sum.h"
#include "particles/particle_ranks.h"

typedef enum particle_span {
    PARTICLES_OWN_TILES,
    PARTICLES_NEAR_ROWS,
    PARTICLES_ALL_TILES,
    PARTICLES_ALL_ROWS
} particle_span;

typedef struct particle_use {
    particle_span span;
    int64_t grain;       // groups or rows that a thread takes at a time
    uint32_t columns;    // bit c: the loop writes column c, if it exists
    void* values;        // what else it writes, value_bytes a row; NULL: nothing
    size_t value_bytes;  // of a row
    const tile_map* map; // of PARTICLES_NEAR_ROWS: the tiles around
} particle_use;

/// Runs fcn over groups or rows of the store as `use` says: a pass over the particles.
void particle_for(const particles* p, const particle_use* use, parallel_fcn* fcn, void* data);

/// Sum and maximum over all groups, of which each rank does its own.
double particle_sum(const particles* p, parallel_term_fcn* fcn, void* data);
double particle_max(const particles* p, parallel_term_fcn* fcn, void* data);
/// The volume of all particles, m^3.
double particle_volume(const particles* p);

/// For tests: fills the particles that a rank does not hold with NaN; with a map it spares those
/// that it has brought from the tiles around. See `poisons` of a context.
void particle_poison(const tile_map* map, const particles* p);
