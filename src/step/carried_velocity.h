// The velocity that particles carry into the next step.
#pragma once

#include "step/liquid_state.h"
#include "step/pressure_system.h"
#include "step/step_frame.h"
#include "step/wet_faces.h"

/// That of the state, or with steps of second order, in the scratch arena, with half of what the
/// motion will ask of the pressure [foresee.1], whose system is that of the flow.
treacle_status carried_velocity_find(const step_frame* f, pressure_system* system,
                                     const wet_faces* wet, const liquid_state* state,
                                     face_field* out) TREACLE_NODISCARD;
