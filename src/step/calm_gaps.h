// Liquid in gaps that the grid does not resolve.
#pragma once

#include "particles/particles.h"
#include "step/solid_grid.h"
#include "step/step_frame.h"

/// Particles in gaps have no slope of velocity [gap.1].
void calm_gaps(const step_frame* f, const tile_map* map, const solid_grid* room, particles* p);
