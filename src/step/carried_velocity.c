#include "step/carried_velocity.h"

#include "grid/tile_loop.h"
#include "phys/foresee.h"
#include "step/solve_report.h"

// Extended beyond the faces that the pressure moves: those that have no more than the mass of a
// unified flow are not among them.
static treacle_status find_impulse(const step_frame* f, const projection* system,
                                   const wet_faces* wet, const liquid_state* state,
                                   float* const impulse[AXES]) {
    face_field u;
    solve_stats solve;
    TREACLE_TRY(step_take_faces(f, wet->map, "velocity that was found", &u));
    wet_faces_copy(wet, face_view_of(state->face_u), u.at);
    foresee_params params = {system, face_view_of(u), f->dt, f->scratch};
    TREACLE_TRY(foresee_impulse(&params, impulse, &solve));
    const liquid_grid no_masses = {0};
    wet_faces moved = *wet;
    moved.liquid = &no_masses;
    TREACLE_TRY(wet_faces_extend_all(&moved, LIQUID_KERNEL_RADIUS + 1, impulse));
    return solve_report(f, &solve, "coming pressure's", &f->stats->pressure);
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

treacle_status carried_velocity_find(const step_frame* f, pressure_system* system,
                                     const wet_faces* wet, const liquid_state* state,
                                     face_field* out) {
    TREACLE_ASSERT(state->face_u.at[0] != NULL);
    *out = state->face_u;
    if (f->setup->def->step.splitting != TREACLE_SPLITTING_SECOND || f->is_first) {
        return TREACLE_OK;
    }
    TREACLE_ASSERT(wet->map == &state->map && system->params.map != NULL);
    TREACLE_TRY(pressure_system_ask(system));
    TREACLE_TRY(step_take_faces_zero(f, wet->map, "velocity to carry", out));
    int mark = arena_mark(f->scratch);
    TREACLE_TRY(find_impulse(f, &system->projection, wet, state, out->at));
    arena_give_to(f->scratch, mark);
    for (int a = 0; a < AXES; ++a) {
        carry_job job = {state->face_u.at[a], out->at[a]};
        tile_for(wet->map, &(tile_use){.reads = TILE_ALONE, .grain = 8}, add_velocity, &job);
    }
    return TREACLE_OK;
}
