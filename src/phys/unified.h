// Pressure and viscosity in one solve: unsteady Stokes flow with a free surface.
#pragma once

#include "grid/face_field.h"
#include "phys/energy.h"
#include "phys/landing.h"
#include "phys/stress.h"
#include "phys/tangent.h"
#include "phys/tension.h"
#include "solve/stokes_solver.h"

typedef struct unified_params {
    stress_params liquid;          // face_fraction: tents (grid/fraction.h)
    face_view face_box;            // fraction of liquid of the box around a face
    face_view guess_u;             // m/s, of the last step; NULL: none
    const landing_params* landing; // what says where liquid is about to land; NULL: nothing
    double push;                   // m/s that forces have added to the velocity
    double tolerance;              // of the energy norm of the error, relative
    int max_iterations;
    energy_push pushed;            // what forces have added
    const tension_params* tension; // of the surface; NULL: none
    const float* cell_firm;        // 0..1, solid without a pressure; NULL: none is
    const float* cell_swell;       // 1/s, that the stress of the liquid knows of; NULL: none
    const float* cell_source;      // m/s, asked for as divergence times cell width; NULL: none
} unified_params;

/// An error of the energy norm up to which a solve that did not converge may be used, if its
/// divergence is then taken out.
#define UNIFIED_ENERGY_MAX 1e-2
/// Faces with at least this fraction of liquid as their mass have a velocity to rely on.
#define UNIFIED_FRACTION_MIN 0.01f

typedef struct unified_solver unified_solver;

/// A pass of Newton's method: the velocity that the last one has found, and the law there. about
/// and rate.face_u.at are the same fields; the velocity of walls is filled in behind walls.
typedef struct unified_pass {
    face_field about;
    rheology_params rate;
    const float *cell_rate, *cell_slope; // of rate
    double drop; // of the error that is enough; 0: the params' tolerance has to be met
} unified_pass;

/// For several passes of one step. The params' fields must outlive the solver; face_u is what the
/// step begins with, here and below. energy: what the last pass did to that.
treacle_status unified_create(const unified_params* params, float* const face_u[AXES],
                              energy_part* energy, unified_solver** out) TREACLE_NODISCARD;
/// After the viscosity has changed. The preconditioner stays as it was; with bodies it is made
/// anew.
treacle_status unified_reweigh(unified_solver* solver, float* const face_u[AXES]) TREACLE_NODISCARD;
/// As unified_apply. pass: NULL for none.
treacle_status unified_solve(unified_solver* solver, const unified_pass* pass,
                             float* const face_u[AXES], double* cell_impulse,
                             stokes_stats* stats) TREACLE_NODISCARD;
/// Accepts NULL.
void unified_destroy(unified_solver* solver);

/// Advances face_u by one implicit step, in place. Faces that touch no liquid keep their value.
/// cell_impulse, [count + 1][512]: first guess in, dt p / (rho_ref h) in m/s out, 0 without liquid.
/// A solve that did not reach its target is no error: see stats. energy: what it did to that.
treacle_status unified_apply(const unified_params* params, float* const face_u[AXES],
                             double* cell_impulse, stokes_stats* stats,
                             energy_part* energy) TREACLE_NODISCARD;
