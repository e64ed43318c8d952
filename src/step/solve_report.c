#include "step/solve_report.h"

#include <stdio.h>

#include "base/check.h"

treacle_status solve_report(const step_frame* f, const solve_stats* solve, const char* what,
                            treacle_solve_stats* out) {
    TREACLE_ASSERT(what != NULL && solve->iterations >= 0);
    *out = (treacle_solve_stats){
        .iterations = out->iterations + solve->iterations,
        .residual = solve->rhs_norm > 0.0 ? solve->residual / solve->rhs_norm : 0.0,
        .seconds = out->seconds + solve->seconds,
        .converged = solve->is_converged,
    };
    snprintf(out->regime, sizeof(out->regime), "%s", solve->regime);
    bool may_stop_early = f->setup->other.project != NULL;
    if (solve->is_broken || (!solve->is_converged && !may_stop_early)) {
        return check_fail(f->ctx, TREACLE_ERR_DIVERGED,
                          "the %s solve stopped at a relative residual of %g after %d iterations",
                          what, out->residual, solve->iterations);
    }
    return TREACLE_OK;
}
