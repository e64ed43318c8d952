// What a solve did, for the statistics of a step.
#pragma once

#include "base/context.h"
#include "solve/solve_stats.h"
#include "treacle/sim.h"

/// Adds it; ERR_DIVERGED if it did not converge and nothing allows that. `what` names it in the
/// error.
treacle_status solve_report(treacle_context* ctx, const treacle_sim_def* def,
                            const solve_stats* solve, const char* what,
                            treacle_solve_stats* out) TREACLE_NODISCARD;
