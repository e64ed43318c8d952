// Where solids and bodies are at both ends of a step.
#pragma once

#include "step/liquid_state.h"
#include "step/solid_grid.h"
#include "step/step_frame.h"

/// Poses in the scratch arena. Contacts and joints change the motion of bodies, which then move on;
/// `before` is the liquid of the last step, which holds those that it touches.
treacle_status move_solids(const step_frame* f, const liquid_state* before, body_state* bodies,
                           solid_poses* out) TREACLE_NODISCARD;
