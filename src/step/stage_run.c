#include "step/stage_run.h"

#include "particles/particle_loop.h"
#include "step/step_valid.h"

// Rows around one's own are good from the stage that brings them to the one that changes them.
static void poison(const step_work* w, treacle_stage stage) {
    bool has_halo = stage >= TREACLE_STAGE_TO_GRID && stage < TREACLE_STAGE_TO_PARTICLES;
    particle_poison(has_halo ? &w->state->map : NULL, w->p);
}

treacle_status stage_end(const stage_run* r, treacle_stage stage, treacle_status status) {
    TREACLE_ASSERT((r->planned >> stage & 1u) != 0);
    TREACLE_ASSERT(r->timers->open == (int)stage);
    profile_end(r->timers);
    poison(r->w, stage);
    TREACLE_VALIDATE(status != TREACLE_OK || step_work_is_valid(r->w, stage));
    return status;
}
