// Runs of the solvers on the cases of solver_cases.h, timed.
#pragma once

#include "solve/pressure_solver.h"
#include "solve/stokes_solver.h"
#include "solve/viscosity_solver.h"
#include "solver_cases.h"

/// CPU time of the calling thread: other load on the machine disturbs it little.
double solver_cpu_seconds(void);
/// A context with so many threads.
treacle_status solver_context(int threads, treacle_context** out);

/// One solve to one target.
typedef struct solver_outcome {
    int iterations; // negative: not reached
    double seconds; // CPU, set-up and solve
    double setup_seconds;
    double wall_seconds; // set-up and solve
    double true_residual;
    double bytes; // that the solver holds
    double unknowns;
    char regime[SOLVE_REGIME_NAME];
} solver_outcome;

pressure_system pressure_system_of(const pressure_case* c);
viscosity_system viscosity_system_of(const viscosity_case* c);
/// For cases with is_unified.
stokes_system stokes_system_of(const viscosity_case* c);

/// r is the right-hand side, used up; x the solution.
treacle_status solver_run_pressure(treacle_context* ctx, const pressure_case* c, double* r,
                                   double* x, const solve_params* params, solver_outcome* out);
treacle_status solver_run_viscosity(treacle_context* ctx, const viscosity_case* c, double* r,
                                    double* x, const solve_params* params, solver_outcome* out);

/// A solve of velocity and pressure together, from rest.
typedef struct solver_unified {
    stokes_stats stats;
    double seconds; // CPU, set-up and solve
    double bytes;
} solver_unified;
treacle_status solver_run_unified(treacle_context* ctx, const viscosity_case* c,
                                  const stokes_params* params, solver_unified* out);
