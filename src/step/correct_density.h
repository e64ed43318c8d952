// The last stage of a step: particles are spread evenly again.
#pragma once

#include "particles/particles.h"
#include "step/liquid_state.h"
#include "step/particle_grid.h"
#include "step/pressure_system.h"
#include "step/solid_grid.h"
#include "step/step_frame.h"

/// `system` is that of the flow that was found on the grid of the state. Particles move,
/// but not into solids, and those that are in one are pushed out, with the correction and without.
treacle_status correct_density(const step_frame* f, pressure_system* system,
                               const liquid_state* state, const particle_grid* given,
                               const solid_grid* solids, const solid_poses* poses,
                               particles* p) TREACLE_NODISCARD;
