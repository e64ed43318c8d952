// Viscosity alone: the implicit step of a thick liquid with its free surface.
#pragma once

#include "phys/energy.h"
#include "phys/stress.h"
#include "solve/solve_stats.h"

typedef struct viscosity_params {
    stress_params liquid; // face_fraction: that of the box around a face
    solve_params solve;
    energy_push pushed; // what forces have added
} viscosity_params;

/// Advances face_u by one implicit step, in place. Faces that touch no liquid keep their value.
/// energy: what it did to that.
treacle_status viscosity_apply(const viscosity_params* params, float* const face_u[AXES],
                               solve_stats* stats, energy_part* energy) TREACLE_NODISCARD;
