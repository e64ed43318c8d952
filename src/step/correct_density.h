// The last stage of a step: particles are spread evenly again.
#pragma once

#include "particles/particles.h"
#include "phys/projection.h"
#include "step/liquid_state.h"
#include "step/particle_grid.h"
#include "step/solid_grid.h"
#include "step/step_frame.h"

/// `pressure` is the system of the flow that was found on the grid of the state. Particles move,
/// but not into solids, and those that are in one are pushed out, with the correction and without.
treacle_status correct_density(const step_frame* f, const projection* pressure,
                               const liquid_state* state, const particle_grid* given,
                               const solid_grid* solids, const solid_poses* poses,
                               particles* p) TREACLE_NODISCARD;
