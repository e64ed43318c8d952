// Faces of which solids leave less open than the particles around them weigh.
#pragma once

#include "step/liquid_state.h"
#include "step/particle_grid.h"
#include "step/step_frame.h"
#include "step/wet_faces.h"

/// The velocity that a flow has found, as far as particles can follow it through narrow faces
/// [gap.2]. face_rho: over the reference, NULL for one density.
treacle_status narrow_faces_ease(const step_frame* f, const wet_faces* wet,
                                 const particle_grid* given, face_view face_rho,
                                 liquid_state* out) TREACLE_NODISCARD;
