// What pressure will do to particles on their way.
#pragma once

#include "base/arena.h"
#include "phys/projection.h"

typedef struct foresee_params {
    const projection* system; // of the flow that was found
    face_view u;              // m/s, NAN where the flow has found none
    double dt;                // s
    arena* scratch;
} foresee_params;

/// impulse, m/s, which comes zeroed, gets - (dt/2) grad phi [foresee.1] on faces that liquid may
/// cross.
treacle_status foresee_impulse(const foresee_params* params, float* const impulse[AXES],
                               solve_stats* stats) TREACLE_NODISCARD;
