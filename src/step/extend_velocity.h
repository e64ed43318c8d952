// Velocity on faces where nobody gave or found one.
#pragma once

#include "step/flow_elastic.h"
#include "step/material_grid.h"
#include "step/wet_faces.h"

/// Before the flow: to faces that the surface reaches but no particle does. The surface may lie a
/// little beyond what the particles' kernel reaches, and the masses of the unified flow lie around
/// it. slope as in grid/extrapolate.h.
treacle_status extend_velocity_given(const step_frame* f, const wet_faces* wet,
                                     const particle_grid* given, const float* slope,
                                     liquid_state* out) TREACLE_NODISCARD;
/// The same, once the viscosity is known, with the slope that thick liquid keeps; nothing where
/// none may.
treacle_status extend_velocity_smoothly(const step_frame* f, const wet_faces* wet,
                                        const particle_grid* given, material_grid* material,
                                        liquid_state* out) TREACLE_NODISCARD;
/// After the flow: into the air, as far as particles move and kernels reach. Slits are eased first.
treacle_status extend_velocity_found(const step_frame* f, const wet_faces* wet,
                                     const particle_grid* given, const material_grid* material,
                                     const flow_elastic* elastic,
                                     liquid_state* out) TREACLE_NODISCARD;
