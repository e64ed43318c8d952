// Whether what emitters bring still fits.
#pragma once

#include "sim/sim_internal.h"
#include "sim/step_work.h"

/// In this step; solids have moved, and nothing was brought yet. If not, it is said, once.
bool room_is_left(treacle_sim* sim, const step_work* w);
