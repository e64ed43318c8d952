// Faces inside a running emitter move as it says: no pressure accelerates them, as if they were
// infinitely dense.
#pragma once

#include "step/energy_account.h"

/// Sets their velocity and their density. The account gets what that does; NULL: nobody asks.
treacle_status emitter_faces_set(const step_frame* f, const particle_grid* given,
                                 const energy_account* account, face_field face_rho,
                                 liquid_state* out) TREACLE_NODISCARD;
