// Elasticity: strain that particles carry, the stress it puts on the grid, and how it follows the
// flow.
#pragma once

#include "grid/tile_mask.h"
#include "particles/particles.h"
#include "phys/p2g.h"
#include "phys/strain.h"
#include "phys/velocity.h"

/// A symmetric tensor on the grid: entry aa at cells, the entry between the two other axes at the
/// edges along a. [count + 1][512] each.
typedef struct tensor_field {
    float* cell[AXES];
    float* edge[AXES];
} tensor_field;

/// Where a part of a tensor lives, parts as in phys/strain.h.
static inline grid_place tensor_place(int part) {
    return part < AXES ? PLACE_CELL : place_edge(part - AXES);
}
static inline float* tensor_part(const tensor_field* t, int part) {
    return part < AXES ? t->cell[part] : t->edge[part - AXES];
}

typedef struct elastic_params {
    const strain_law* laws; // [materials]; modulus 0: not elastic
    double dt;              // s
    double theta;           // 1/2 .. 1: how implicit the stress is
} elastic_params;

/// What particles bring to the solve [elastic.2]; the stretch they expect during the step is taken
/// from `stretch` ([count][6], 1/s), or is none where it is NULL.
///     stress  [count][6], Pa: what is there without any motion
///     mu      [count], Pa s: what motion adds, as a viscosity
void elastic_load(const elastic_params* params, const particles* p, const float* stretch,
                  float* stress, float* mu);

/// force_a += the divergence of a stress, in differences: sum over the cells and edges next to a
/// face of +-pull [elastic.3]. force is [tile][axis][512].
void elastic_add_force(const tile_map* map, const tensor_field* pull, double* force);

/// The stretch D and the spin about each axis (at its edges) of a velocity, 1/s.
void elastic_measure(const face_velocity* flow, const tensor_field* stretch,
                     float* const spin[AXES]);

/// Stretch (and spin, if wanted) at particles: [count][6] and [count][3].
typedef struct elastic_motion {
    float* stretch;
    float* spin; // or NULL
} elastic_motion;
void elastic_gather(const face_velocity* flow, const tensor_field* stretch, float* const spin[AXES],
                    const particles* p, const elastic_motion* out);

/// STRAIN of all particles over the step.
void elastic_advance(const elastic_params* params, const particles* p,
                     const elastic_motion* motion);
