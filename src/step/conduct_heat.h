// Heat in a step: from particles to cells, what comes and goes, conduction, and back as increments:
// a particle gets c sum w dE/C. So what the grid gains the particles gain, to rounding, wherever
// they are.
#pragma once

#include "particles/particles.h"
#include "step/liquid_state.h"
#include "step/particle_grid.h"
#include "step/solid_grid.h"
#include "step/step_frame.h"

/// Heat and marker come, go and spread; particles, or the state's carried fields, get what that
/// changes. given: how fast cells gain volume by it, where material shrinks.
treacle_status conduct_heat(const step_frame* f, particle_grid* given, const solid_poses* poses,
                            const solid_grid* solids, liquid_state* state,
                            particles* p) TREACLE_NODISCARD;
