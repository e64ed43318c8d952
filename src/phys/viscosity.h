// Viscosity: the implicit step of a thick liquid with its free surface.
#pragma once

#include "grid/domain.h"
#include "grid/fraction.h"
#include "grid/tile_map.h"
#include "solve/solve_stats.h"

/// What the step needs to know about the liquid.
typedef struct viscosity_params {
    const grid_domain* domain;
    const tile_map* map;
    fraction_fields volume;       // shares of liquid: cell, face and edge are used
    const float* cell_log_mu;     // log of the viscosity (Pa s); VISCOSITY_NONE where not known
    const float* face_open[AXES]; // 0 at walls
    const float* face_rho[AXES];  // density over the reference; INFINITY where the velocity is
                                  // prescribed; NULL: 1 everywhere
    double dt;                    // s
    double reference_density;     // kg/m^3
    solve_params solve;
} viscosity_params;

/// No viscosity is known here: no liquid is near. In the dummy tile, too.
#define VISCOSITY_NONE (-1e30f)
/// The least viscosity that is told apart from none, Pa s.
#define VISCOSITY_LEAST 1e-9

/// Advances face_u by one implicit step, in place. Faces that touch no liquid keep their value.
treacle_status viscosity_apply(const viscosity_params* params, float* const face_u[AXES],
                               solve_stats* stats) TREACLE_NODISCARD;
