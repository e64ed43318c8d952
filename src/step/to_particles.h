// Particles take their new velocity from the grid: PIC, FLIP or APIC.
#pragma once

#include "step/free_flyers.h"
#include "step/particle_grid.h"
#include "step/solid_grid.h"

/// From `u`, on the faces of the state; in gaps without a slope [gap.1]. Flyers keep what they
/// have, and are pushed by forces. Before the first step particles keep their velocity and get its
/// gradient.
treacle_status to_particles(const step_frame* f, const liquid_state* state,
                            const particle_grid* given, const solid_grid* solids, face_field u,
                            const free_flyers* flyers, particles* p) TREACLE_NODISCARD;
