// The flow of a step where there is viscosity: velocity, pressure, and all that depends on the
// velocity which comes out.
#pragma once

#include "particles/particles.h"
#include "phys/energy.h"
#include "phys/separation.h"
#include "step/body_grid.h"
#include "step/flow_elastic.h"
#include "step/material_grid.h"
#include "step/particle_grid.h"
#include "step/step_frame.h"
#include "step/tile_history.h"
#include "step/wet_faces.h"

/// What the flow takes. Fields are [count + 1][512].
typedef struct flow_inputs {
    step_frame frame;
    bool is_unified;           // pressure and viscosity in one solve; else viscosity alone
    energy_push pushed;        // what forces have added to the velocity
    wet_faces wet;             // has domain, map, surface and what solids leave open
    const solid_pose* poses;   // [solids], at the end of the step
    const flow_bodies* bodies; // solids that the flow moves; NULL: none
    const tile_history* history;
    face_view past_u; // m/s, of the last step, on its map
    const particles* p;
    const particle_grid* given;
} flow_inputs;

/// What the flow changes.
typedef struct flow_outputs {
    face_field u;            // m/s
    double* x;               // dt p / (rho_ref h), m/s: first guess in; of the unified flow
    face_field open;         // of the solid_grid: sides that let go are open while the flow lasts
    liquid_grid* liquid;     // of the unified flow: fractions without what has let go of solids
    material_grid* material; // log_mu
    contact_set* contacts;
    flow_elastic* elastic;
    energy_part* energy; // what it did to that
} flow_outputs;

/// ERR_DIVERGED where no solve came near its target.
treacle_status flow_find(const flow_inputs* in, const flow_outputs* out) TREACLE_NODISCARD;
