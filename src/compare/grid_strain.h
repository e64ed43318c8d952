// Elastic strain that lives on the grid.
#pragma once

#include "phys/strain.h"
#include "phys/tensor.h"

typedef struct grid_strain_params {
    const grid_domain* domain;
    const tile_map* map;
    const strain_law* law;
    double density; // kg/m^3
    double dt;      // s
} grid_strain_params;

/// u += dt mu_e/rho div eps [G11 eq. 3.5 and 3.14]; strain must be known around the liquid.
void grid_strain_push(const grid_strain_params* params, const tensor_field* strain,
                      float* const face_u[AXES]);

/// The stretch and spin of the flow, as tensor_of_velocity gives them.
typedef struct grid_strain_motion {
    const tensor_field* stretch;
    float* const* spin;
} grid_strain_motion;
/// The strain after the step: turned, stretched, decayed [G11 eq. 3.29], without being carried.
void grid_strain_advance(const grid_strain_params* params, const grid_strain_motion* motion,
                         const tensor_field* before, const tensor_field* after);
/// Edges on sides of the domain along which liquid slides have no shear.
void grid_strain_free_sides(const grid_strain_params* params, const tensor_field* strain);
