#include "step/stage_run.h"

#include "particles/particle_ranks.h"

// Rows around one's own are good from the stage that brings them to the one that changes them.
static void poison(const step_work* w, treacle_stage stage) {
    bool has_halo = stage >= TREACLE_STAGE_TO_GRID && stage < TREACLE_STAGE_TO_PARTICLES;
    particle_ranks_poison(w->f.setup->domain, has_halo ? &w->state->map : NULL, w->p);
}

treacle_status stage_end(const stage_run* r, treacle_stage stage, treacle_status status) {
    profile_end(r->timers);
    poison(r->w, stage);
    return status;
}
