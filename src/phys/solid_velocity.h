// The liquid's velocity on faces that solids close.
#pragma once

#include "grid/face_field.h"
#include "phys/solid_fields.h"

typedef struct solid_velocity_params {
    const grid_domain* domain;
    const tile_map* map;
    solid_scene scene;
    const float* cell_phi;   // cells, > 0 outside
    const uint16_t* cell_id; // the nearest solid
    face_view face_open;     // 0..1
    face_view face_give;     // m/s, as fast liquid may still come; NULL: not at all
} solid_velocity_params;

/// face_u on closed faces, extrapolated from the liquid, keeps what is along the solid and takes
/// the solid's own velocity across it. `scratch` has room for three such fields.
void solid_velocity_constrain(const solid_velocity_params* params, float* const face_u[AXES],
                              float* const scratch[AXES]);
