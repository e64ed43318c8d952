// The liquid's surface, from its particles.
#pragma once

#include "particles/particles.h"
#include "step/liquid_grid.h"
#include "step/liquid_state.h"
#include "step/particle_grid.h"
#include "step/solid_grid.h"
#include "step/step_frame.h"

/// The distance to the surface at the cells of the state, continued into solids; far from every
/// cell where liquid is everywhere.
treacle_status find_surface(const step_frame* f, const particles* p, const particle_grid* given,
                            const solid_grid* solids, liquid_state* out) TREACLE_NODISCARD;
/// The surface is far from every cell.
void find_surface_nowhere(liquid_state* out);
/// Counts what is inside it in the statistics of the step; with fractions of all that a unified
/// flow asks for where `out` is not NULL.
treacle_status find_surface_volume(const step_frame* f, const liquid_state* state,
                                   const solid_grid* solids, liquid_grid* out) TREACLE_NODISCARD;
