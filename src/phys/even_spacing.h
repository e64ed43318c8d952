// Evening out particles below the resolution of cells.
#pragma once

#include "particles/particles.h"

typedef struct even_spacing_params {
    const grid_domain* domain;
    const tile_map* map;
    const float* cell_phi;    // distance to the surface, cells, [count + 1][512]
    const float* node_volume; // of the particles, from p2g_node_volume
    const particles* p;       // POSITION is moved, by at most SHIFT_MAX cells
} even_spacing_params;

#define SHIFT_RATE 0.1f
#define SHIFT_MAX 0.1f

/// Positions may be up to half a cell outside their tile. None is moved out of the domain.
void even_spacing_move(const even_spacing_params* params);
