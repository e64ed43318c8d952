#include "run/substep.h"

#include <stdbool.h>

// Time is a sum of steps: it hits the frame's end up to rounding.
static const double tiny_share = 1e-9;

substep_plan substep_begin(int64_t frame, double fps) {
    return (substep_plan){.end = (double)(frame - 1) / fps, .tiny = tiny_share / fps};
}

double substep_limit(const substep_plan* plan, double time) {
    double rest = plan->end - time;
    if (rest <= plan->tiny) {
        return 0.0;
    }
    // A whisker more than last_dt is taken in one step: CFL has its own margin.
    bool halve = plan->last_dt > 0.0 && rest > plan->last_dt * (1.0 + tiny_share) &&
                 rest < 2.0 * plan->last_dt;
    return halve ? 0.5 * rest : rest;
}

void substep_took(substep_plan* plan, double dt) {
    plan->last_dt = dt;
}
