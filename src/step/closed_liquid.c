#include "step/closed_liquid.h"

#include "base/log.h"

// The fraction of closed liquid's volume that a step would change and that is worth a warning.
#define SQUEEZE_MIN 1e-3

void closed_liquid_warn(const step_frame* f, const solve_stats* solve, bool* has_warned) {
    TREACLE_ASSERT(f->dt > 0.0 && f->setup->domain->h > 0.0);
    double fraction = solve->dropped * f->dt / f->setup->domain->h;
    if (fraction > SQUEEZE_MIN && has_warned != NULL && !*has_warned) {
        *has_warned = true;
        log_message(f->ctx, TREACLE_LOG_WARNING,
                    "at %g s something presses on liquid that has no way out; the part of the "
                    "motion that would change its volume (by %.2g %% in this step) is left out",
                    f->time, 100.0 * fraction);
    }
}
