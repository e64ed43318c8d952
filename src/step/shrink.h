// Shrinkage in a step: particles that take less room than their column says, and what the flow is
// asked for while they shrink.
#pragma once

#include "particles/particles.h"
#include "step/particle_grid.h"
#include "step/solid_grid.h"
#include "step/step_frame.h"

/// Volumes and densities that particles have given to cells become those of what they are by now.
/// Nothing without material that shrinks.
treacle_status shrink_to_grid(const step_frame* f, const tile_map* map, const particles* p,
                              particle_grid* given) TREACLE_NODISCARD;
/// After heat: how fast cells gain volume.
treacle_status shrink_find(const step_frame* f, const tile_map* map, const solid_grid* solids,
                           const particles* p, particle_grid* given) TREACLE_NODISCARD;
