// The surface of the liquid, continued into solids.
#pragma once

#include "grid/tile_map.h"

typedef struct extend_surface_params {
    const grid_domain* domain;
    const tile_map* map;
    const float* cell_solid_phi;  // cells, > 0 outside
    const float* face_open[AXES]; // 0..1
} extend_surface_params;

/// cell_phi of cells in solids from the cells outside; `scratch` has room for two
/// such fields.
void extend_surface(const extend_surface_params* params, float* cell_phi, float* const scratch[2]);
