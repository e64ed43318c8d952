// The liquid where it has let go of solids: as if they were not there, and its surface were theirs.
#pragma once

#include "phys/separation.h"

/// Fields [count + 1][512] as the flow without released walls has them.
typedef struct release_params {
    const grid_domain* domain;
    const tile_map* map;
    const wall_set* walls;
    const float* cell_phi;       // cells, < 0 in liquid
    const float* cell_solid_phi; // cells, < 0 in solids
    const uint16_t* cell_solid_id;
    const float* face_open[AXES];
} release_params;

/// What becomes of them; room for as many values.
typedef struct release_fields {
    float* cell_phi;
    uint16_t* cell_solid_id;
    float* face_open[AXES];
    uint8_t* cell_kind; // [2], for the velocities
} release_fields;

/// Whether a solid has let go anywhere.
bool release_is_needed(const wall_set* walls);
void release_compute(const release_params* params, const release_fields* out);
/// Faces that were closed and now are open get the velocity of the liquid beside them.
void release_velocity(const release_params* params, const release_fields* fields,
                      float* const face_u[AXES]);
