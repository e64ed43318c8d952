// The length of steps.
#pragma once

#include "sim/sim_internal.h"

/// How long a step from that state on may be, s, where that is the largest speed of what is in it;
/// see timestep.c.
double timestep_limit(const treacle_sim* sim, const sim_state* state, double speed);
/// dt of the next step, s: what is left to max_dt, cut into equal steps.
double timestep_choose(const treacle_sim* sim, double max_dt, double speed);
/// Whether surface tension must be implicit in a step of dt.
bool timestep_is_stiff_surface(const treacle_sim* sim, double dt);
/// Finds out how calm `next` is, which a step of dt has made from `now`; these are the largest
/// speeds before and after. False if the step was too long for what it has set in motion.
bool timestep_review(treacle_sim* sim, double dt, double before, double after);
