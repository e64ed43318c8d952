// The stages of a step, in their order.
#pragma once

#include "base/profile.h"
#include "sim/sim_internal.h"

/// When it takes place, s.
typedef struct step_span {
    double from, to, dt;
    bool is_first; // before the first step: the velocity that liquids begin with comes to the grid
    bool is_thin;  // viscosity does not act
    bool is_stiff_surface; // tension is implicit
} step_span;

/// Makes `next` of `now`. What it held beside the state is freed, however it ends.
treacle_status step_run(treacle_sim* sim, const step_span* span, profile* timers,
                        treacle_step_stats* stats) TREACLE_NODISCARD;
