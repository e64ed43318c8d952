// What others do about viscosity and its free surface, to be compared with phys/viscosity.c.
#pragma once

#include "grid/face_field.h"
#include "grid/fraction.h"
#include "phys/stress.h"
#include "solve/solve_stats.h"

typedef struct comparator_params {
    stress_params liquid;
    treacle_viscosity_method method; // IMPLICIT is not one of them
    int substeps;                    // 0: as many as EXPLICIT needs to be stable, else 1
    bool has_lagged_shear;           // DECOUPLED: du/dy = -dv/dx of before where there is no stress
    solve_params solve;
} comparator_params;

/// Changes the fractions of liquid, which phi made, to those of another surface. face_rho gets
/// INFINITY where the air is held fast, with DIRICHLET; it is not used otherwise.
typedef struct comparator_surface {
    const grid_domain* domain;
    const tile_map* map;
    const float* cell_phi;
    treacle_viscosity_surface kind;
    fraction_fields fraction; // cell, face and edge
    face_field face_rho;
} comparator_surface;
void comparator_fractions(const comparator_surface* surface);

/// Advances face_u in place. *substeps is how many were taken; stats are of the last solve.
treacle_status comparator_apply(const comparator_params* params, float* const face_u[AXES],
                                int* substeps, solve_stats* stats) TREACLE_NODISCARD;
