// What a step reports of the state that it has made.
#pragma once

#include "sim/sim_internal.h"

/// Fills volume, energy and the like from the state `now`.
void step_stats_measure(const treacle_sim* sim, treacle_step_stats* out);
