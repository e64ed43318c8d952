// The velocity that particles carry into the next step, with half of what pressure will do to it.
#include "grid/tile_ranks.h"
#include "phys/foresee.h"
#include "sim/liquid.h"

// Extended beyond the faces that the flow has found.
static treacle_status find_impulse(liquid_work* w, float* const impulse[AXES]) {
    face_field u;
    solve_stats solve;
    for (int a = 0; a < AXES; ++a) {
        TREACLE_TRY(arena_take(w->scratch, w->values, sizeof(float), "velocity that was found",
                               (void**)&u.at[a]));
    }
    wet_faces wet = liquid_wet_faces(w);
    wet_faces_copy(&wet, face_view_of(w->state->face_u), u.at);
    foresee_params params = {&w->projection, face_view_of(u), w->dt, w->scratch};
    TREACLE_TRY(foresee_impulse(&params, impulse, &solve));
    TREACLE_TRY(wet_faces_extend_all(&wet, LIQUID_KERNEL_RADIUS + 1, impulse));
    return liquid_accept(w, &solve, "coming pressure's", &w->stats->pressure);
}

typedef struct carry_job {
    const float* u;
    float* carried; // the impulse comes in
} carry_job;

static void add_velocity(void* data, int64_t begin, int64_t end) {
    const carry_job* job = data;
    for (int64_t i = begin * TILE_CELLS; i < end * TILE_CELLS; ++i) {
        job->carried[i] += job->u[i];
    }
}

treacle_status liquid_foresee(liquid_work* w, float* u[AXES]) {
    float* carried[AXES];
    for (int a = 0; a < AXES; ++a) {
        TREACLE_TRY(arena_take_zero(w->scratch, w->values, sizeof(float), "velocity to carry",
                                    (void**)&carried[a]));
    }
    int mark = arena_mark(w->scratch);
    TREACLE_TRY(find_impulse(w, carried));
    arena_give_to(w->scratch, mark);
    for (int a = 0; a < AXES; ++a) {
        carry_job job = {w->state->face_u.at[a], carried[a]};
        tile_for_held(&w->state->map, 8, add_velocity, &job);
        u[a] = carried[a];
    }
    return TREACLE_OK;
}
