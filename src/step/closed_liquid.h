// Liquid that solids press on and that has no way out.
#pragma once

#include "solve/solve_stats.h"
#include "step/step_frame.h"

/// Says once that the part of a motion which would change its volume was left out. `has_warned` is
/// NULL where nobody listens.
void closed_liquid_warn(const step_frame* f, const solve_stats* solve, bool* has_warned);
