// Symmetric tensors on the grid: stress and strain, staggered as the flow solve has them.
#pragma once

#include "grid/stagger.h"
#include "phys/slip_stress.h"
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
    TREACLE_ASSERT(part >= 0 && part < 2 * AXES);
    return part < AXES ? PLACE_CELL : place_edge(part - AXES);
}
static inline float* tensor_part(const tensor_field* t, int part) {
    TREACLE_ASSERT(part >= 0 && part < 2 * AXES);
    return part < AXES ? t->cell[part] : t->edge[part - AXES];
}

/// force_a += the divergence of a stress, in differences: sum over the cells and edges next to a
/// face of +-pull [elastic.3]. force is [tile][axis][512].
void tensor_add_divergence(const tile_map* map, const tensor_field* pull, double* force);

/// Solids beside the flow, as in phys/stress.h.
typedef struct tensor_slip {
    const float* cell_solid_phi;
    const uint16_t* cell_solid_id;
    const slip_kind* kinds; // [solids]
} tensor_slip;

/// The stretch D and the spin about each axis (at its edges) of a velocity, 1/s. Faces behind walls
/// that hold the liquid have the wall's velocity. walls: NULL without solids.
void tensor_of_velocity(const face_velocity* flow, const tensor_slip* slip,
                        const tensor_field* stretch, float* const spin[AXES]);
