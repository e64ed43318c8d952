// Particles beside solids thinner than a cell: what of the grid they see, and what they do not.
#pragma once

#include "base/arena.h"
#include "particles/particles.h"
#include "phys/solid.h"
#include "phys/transfer.h"

/// Cells: solids that are thicker hide nothing.
#define THIN_SIGHT 1.75

/// Places that particles give to and take from: faces across an axis, and cells, always by the
/// linear kernel.
enum { THIN_CELLS = AXES, THIN_PLACES };

/// A particle from which a solid hides some of the samples around it.
typedef struct thin_particle {
    particle_ix particle;
    /// Bit (k 4 + j) 4 + i: sample (i, j, k) of the kernel, counted from its first, is in sight.
    uint64_t seen[THIN_PLACES];
    float normal[AXES];      // of the nearest solid
    float solid_u[AXES];     // m/s, its velocity there
    float value[AXES];       // what the particle takes: velocity, m/s
    float slope[AXES][AXES]; // and its change per cell
    float before[AXES];      // m/s, what it would have taken before the flow; FLIP only
} thin_particle;

/// All such particles, in ascending order.
typedef struct thin_view {
    int64_t count;
    thin_particle* members;
    float*
        volume; // [particles], the VOLUME column with 0 for these members; NULL if there are none
} thin_view;

typedef struct thin_params {
    const grid_domain* domain;
    solid_scene scene; // where the solids are now
    const particles* p;
    treacle_kernel kernel; // of velocity
    arena* scratch;        // the view lives here
} thin_params;

/// Looks around. Without thin solids the view is empty.
treacle_status thin_look(const thin_params* params, thin_view* out) TREACLE_NODISCARD;
/// The members of the view from `first` to before `end`; NULL and *count = 0 if there are none.
thin_particle* thin_particles_between(const thin_view* view, particle_ix first, particle_ix end,
                                      int64_t* count);

/// Adds what the members of a tile give to a block, as transfer_scatter does, but to samples in
/// sight only. `first` is the tile's first particle; of `source`, arrays are the tile's own and the
/// volume is the particles'.
typedef struct thin_tile {
    thin_particle* members;
    int64_t count;
    particle_ix first;
    int which; // axis, or THIN_CELLS
} thin_tile;
void thin_scatter(const thin_tile* tile, const transfer_source* source, const transfer_place* place,
                  float* block);
/// Sets value[which] and slope[which] of the members: what samples in sight say. Those out of sight
/// are taken for the nearest in sight, and across the solid for its own velocity [thin.2].
/// `position` is the tile's own.
void thin_gather(const thin_tile* tile, const float* position, const transfer_place* place,
                 const float* block);
