// Viscosity at cells beyond those that have particles.
#pragma once

#include "base/arena.h"
#include "grid/tile_mask.h"
#include "step/step_setup.h"

typedef struct viscosity_grid {
    const grid_domain* domain;
    const tile_map* map;
    const float* cell_volume; // > 0 in cells with particles, which know their viscosity
    tile_mask* known;         // [count + 1], room for what is found
    float* cell_log_mu;       // log of Pa s, [count + 1][512]
} viscosity_grid;

/// Two layers of cells around those with particles take their viscosity over; others have none.
treacle_status viscosity_spread(const viscosity_grid* v) TREACLE_NODISCARD;
/// Whether the velocity's slope may go on beyond the surface.
bool viscosity_keeps_slope(const liquid_setup* setup);
/// How much of it does, at cells, in the scratch arena: all where mu >= `thick`, Pa s, nothing
/// where the log of mu is less by 1. NULL where none may. Spreads the viscosity first.
treacle_status viscosity_slopes(const viscosity_grid* v, const liquid_setup* setup, double thick,
                                arena* scratch, float** out) TREACLE_NODISCARD;
