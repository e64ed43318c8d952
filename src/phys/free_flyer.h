// Particles outside the surface of the liquid.
#pragma once

#include "particles/particles.h"

typedef struct free_flyer_params {
    const grid_domain* domain;
    const tile_map* map;
    const float* cell_phi; // distance to the surface, cells, [count + 1][512]
    const particles* p;
    const uint8_t* is_thick; // [materials], whether it holds together; NULL: none does
} free_flyer_params;

/// How far outside, in cells, a particle may be and still belong to the liquid.
#define FREE_FLYER_DISTANCE 0.25f
#define FREE_FLYER_DISTANCE_THICK 0.75f

/// is_free_flyer[row] = 1 for particles that are not part of the liquid, else 0. Positions may be
/// up to half a cell outside their tile.
void free_flyer_find(const free_flyer_params* params, uint8_t* is_free_flyer);
