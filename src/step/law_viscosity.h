// What laws of viscosity make of the temperature and the marker of the liquid, at cells.
#pragma once

#include "particles/particles.h"
#include "step/liquid_state.h"
#include "step/material_grid.h"
#include "step/particle_grid.h"
#include "step/step_frame.h"

/// Adds it to the base of the viscosity, in which materials with a law have none; once a step.
treacle_status law_viscosity_add(const step_frame* f, const liquid_state* state, const particles* p,
                                 const particle_grid* given, material_grid* out) TREACLE_NODISCARD;
