// The surface of the liquid, continued into solids.
#pragma once

#include "grid/face_field.h"
#include "grid/tile_map.h"

typedef struct extend_surface_params {
    const grid_domain* domain;
    const tile_map* map;
    const float* cell_solid_phi; // cells, > 0 outside
    face_view face_open;         // 0..1
} extend_surface_params;

/// Cells nearer to a solid than this, in cells, see too little of the liquid to know its surface.
#define EXTEND_REACH 1.0f

/// cell_phi of cells near solids and in them from the cells outside; `scratch` has room for two
/// such fields.
void extend_surface(const extend_surface_params* params, float* cell_phi, float* const scratch[2]);
