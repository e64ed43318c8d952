// Forces push the liquid on the grid, and bodies.
#include "sim/liquid.h"
#include "step/forces.h"

treacle_status liquid_push(liquid_work* w) {
    force_params params;
    step_frame f = liquid_frame(w);
    TREACLE_TRY(liquid_account_forces(w));
    TREACLE_TRY(forces_find(&f, &w->state->map, w->given.buoyancy, &params));
    params.face_push = w->account.face_push;
    force_apply(&params, w->state->face_u.at);
    liquid_push_bodies(w);
    liquid_account_pushed(w);
    arena_give(w->scratch, params.fields);
    return TREACLE_OK;
}
