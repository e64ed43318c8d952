// The curvature of the liquid's surface, at cells near it.
#pragma once

#include "grid/domain.h"
#include "grid/tile_map.h"

/// Cells, from the surface, as far as curvature is known.
#define CURVATURE_REACH 1.5f

typedef struct curvature_params {
    const grid_domain* domain;
    const tile_map* map;
    const float* cell_phi; // cells, < 0 in the liquid, a distance up to 3.5 cells at least
} curvature_params;

/// cell_kappa, [count + 1][512]: the sum of the principal curvatures of the surface at the point
/// that is nearest to the cell's middle, times h; > 0 where liquid is convex; 0 beyond
/// CURVATURE_REACH. The dummy is not written.
void curvature_compute(const curvature_params* params, float* cell_kappa);
