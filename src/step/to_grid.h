// Particles give to the grid what the flow begins with.
#pragma once

#include "particles/particles.h"
#include "step/liquid_state.h"
#include "step/particle_grid.h"
#include "step/solid_grid.h"
#include "step/step_frame.h"

/// Velocity on the faces of the state, and masses, densities, volumes and buoyancy in the scratch
/// arena. Brings particles of other ranks near first.
treacle_status to_grid(const step_frame* f, const solid_poses* poses, particles* p,
                       liquid_state* state, particle_grid* out) TREACLE_NODISCARD;
/// Means of a column of the particles at cells; `thin` is that of the transfer.
treacle_status to_grid_column(const step_frame* f, const tile_map* map, const particles* p,
                              const thin_view* thin, const float* column,
                              float* to) TREACLE_NODISCARD;
