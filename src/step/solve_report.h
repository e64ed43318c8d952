// What a solve did, for the statistics of a step.
#pragma once

#include "solve/solve_stats.h"
#include "step/step_frame.h"

/// Adds it; ERR_DIVERGED if it did not converge and nothing allows that. `what` names it in the
/// error.
treacle_status solve_report(const step_frame* f, const solve_stats* solve, const char* what,
                            treacle_solve_stats* out) TREACLE_NODISCARD;
