// The curvature of the liquid's surface, at cells near it.
#pragma once

#include "phys/wetting.h"

/// Cells, from the surface, as far as curvature is known.
#define CURVATURE_REACH 1.5f

typedef struct curvature_params {
    const grid_domain* domain;
    const tile_map* map;
    const float* cell_phi; // cells, < 0 in the liquid, a distance up to 3.5 cells at least
    // Sides and solids that the surface meets at their angles; NULL: at sides it has right angles.
    const wetting_params* wetting;
    const float* cell_wet_phi; // with `wetting`: phi as that has extended it; else NULL
    float* cell_across;        // of curvature_compute; NULL: it is not wanted
    bool is_near_only;         // with `wetting`: other tiles are as they were
} curvature_params;

/// cell_kappa, [count + 1][512]: the sum of the principal curvatures of the surface at the point
/// that is nearest to the cell's middle, times h; > 0 where liquid is convex; 0 beyond
/// CURVATURE_REACH. The dummy is not written.
///
/// cell_across: that of the direction which leads away from the nearest side or solid, of cells
/// next to the surface and as high above it as wetting_bend asks; NAN elsewhere, in the dummy, too.
void curvature_compute(const curvature_params* params, float* cell_kappa);
