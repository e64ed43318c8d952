// Particles move through the velocity of the last step.
#pragma once

#include "particles/particles.h"
#include "step/liquid_state.h"
#include "step/solid_grid.h"
#include "step/step_frame.h"

/// What moves particles beside the liquid.
typedef struct particle_push {
    const float* acceleration; // m/s^2, [particles][3], from the caller of the step; NULL: none
    bool is_given;             // the velocity was not found by a flow: no lump of liquid flies
} particle_push;

/// Liquid goes with `before`, what is outside its surface and lumps of it that touch nothing fly,
/// and nobody enters a solid. ERR_DIVERGED if particles would go too far for one step.
treacle_status move_particles(const step_frame* f, const liquid_state* before,
                              const solid_poses* poses, const particle_push* push,
                              particles* p) TREACLE_NODISCARD;
