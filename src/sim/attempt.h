// A step as a transaction: its begin and its end.
#pragma once

#include "sim/sim_internal.h"

/// Makes `next` the state; what was the state becomes the room for the next step.
void sim_state_swap(treacle_sim* sim);
/// Brings the liquid of the start to the grid.
treacle_status step_prepare(treacle_sim* sim) TREACLE_NODISCARD;
