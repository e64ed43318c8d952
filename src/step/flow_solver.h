// The solve inside of all loops of a flow: pressure and viscosity in one, or viscosity alone.
#pragma once

#include "step/flow_rheology.h"

/// Zeroed: nothing is held.
typedef struct flow_solver {
    int mark;                      // of the scratch arena: what lies above is of the solve
    liquid_grid liquid;            // of viscosity alone
    unified_params params;         // params.liquid: of either kind
    landing_params landing;        // of params
    const tension_params* tension; // of the surface; NULL: none
    unified_solver* unified;
    bool is_exact; // the last solve has met its target and was not cut short
    bool is_lost;  // Newton's method has led it nowhere, and there is another way
} flow_solver;

/// Fields that are taken from the scratch arena afterwards are the solver's, or given back.
void flow_solver_begin(const flow_inputs* in, flow_solver* solver);
/// Makes it ready for the liquid as it is. Within a loop of Newton's method it follows the
/// viscosity alone, and keeps its preconditioner.
treacle_status flow_solver_set(const flow_inputs* in, const flow_outputs* out,
                               const flow_rheology* loop, flow_solver* solver) TREACLE_NODISCARD;
/// Advances the velocity, finds the pressure, and adds up statistics. ERR_DIVERGED where it failed;
/// of Newton's method only if there is nothing to go on with.
treacle_status flow_solver_run(const flow_inputs* in, const flow_outputs* out,
                               const flow_rheology* loop, flow_solver* solver) TREACLE_NODISCARD;
/// ERR_DIVERGED where the last solve of a unified flow was not near its target.
treacle_status flow_solver_judge(const flow_inputs* in) TREACLE_NODISCARD;
/// Harmless on a zeroed solver, and twice.
void flow_solver_finish(flow_solver* solver);
