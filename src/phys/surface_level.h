// The level of the surface follows the volume of the particles.
#pragma once

#include "base/arena.h"
#include "grid/tile_map.h"

/// [count + 1][512] each.
typedef struct surface_level_params {
    const grid_domain* domain;
    const tile_map* map;
    const float* cell_volume; // in full cells, of particles as the linear kernel gives it
    const float* cell_share;  // 0..1, inside the surface
    const float* cell_open;   // 0..1, outside solids; NULL: all
    arena* scratch;
} surface_level_params;

/// Raises and lowers the surface, which cell_phi is the distance to in cells.
treacle_status surface_level(const surface_level_params* params, float* cell_phi) TREACLE_NODISCARD;
