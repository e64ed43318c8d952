#include "step/run_flow.h"

#include "grid/tile_loop.h"
#include "phys/no_merge.h"
#include "step/closed_liquid.h"
#include "step/couple_bodies.h"
#include "step/emitter_faces.h"
#include "step/flow_yield.h"
#include "step/side_faces.h"
#include "step/solve_report.h"

// --- the pressure --------------------------------------------------------------------------------

typedef struct scale_job {
    float* cell_pressure;
    double* x;
    double dt;
    bool to_state;
} scale_job;

static void scale_tiles(void* data, int64_t begin, int64_t end) {
    const scale_job* job = data;
    for (int64_t i = begin * TILE_CELLS; i < end * TILE_CELLS; ++i) {
        if (job->to_state) {
            job->cell_pressure[i] = (float)(job->x[i] / job->dt);
        } else {
            job->x[i] = (double)job->cell_pressure[i] * job->dt;
        }
    }
}

// The dummy tile's, too.
static void scale_pressure(const step_frame* f, const liquid_state* state, double* x,
                           bool to_state) {
    scale_job job = {state->cell_pressure, x, f->dt, to_state};
    tile_for(&state->map, &(tile_use){.reads = TILE_ALONE, .grain = 8}, scale_tiles, &job);
    scale_tiles(&job, state->map.count, (int64_t)state->map.count + 1);
}

// Closed faces move with what closes them.
static void hold_all(const step_frame* f, const run_flow_outputs* out) {
    couple_bodies_hold(f, &out->state->map, out->bodies, out->body, out->solid);
    side_faces_hold(f->setup->domain, out->solid, out->state);
}

// What the projection begins with, for the account of energy.
static treacle_status keep_before(const step_frame* f, const run_flow_outputs* out,
                                  float* before[AXES], body_motion** bodies) {
    const tile_map* map = &out->state->map;
    size_t count = (size_t)out->body->flow.count;
    for (int a = 0; a < AXES; ++a) {
        TREACLE_TRY(step_take(f, map, "velocity before the pressure", &before[a]));
        tile_copy(map, before[a], out->state->face_u.at[a], TILE_CELLS * sizeof(float));
    }
    TREACLE_TRY(
        arena_take(f->scratch, count, sizeof(**bodies), "motions of bodies", (void**)bodies));
    for (size_t i = 0; i < count; ++i) {
        (*bodies)[i] = body_motion_of(&out->bodies[i], f->setup->domain->h);
    }
    return TREACLE_OK;
}

static treacle_status project(const step_frame* f, const run_flow_outputs* out, double* x) {
    const projection* system = &out->system->projection;
    solve_stats solve;
    int mark = arena_mark(f->scratch);
    float* before[AXES];
    body_motion* bodies = NULL;
    TREACLE_TRY(pressure_system_ask(out->system));
    TREACLE_TRY(keep_before(f, out, before, &bodies));
    TREACLE_TRY(projection_apply(system, out->state->face_u.at, x, &solve));
    if (out->body->solve != NULL) {
        couple_bodies_drag(f, system, x, out->body, out->bodies);
        hold_all(f, out);
    }
    const float* const start[AXES] = {before[0], before[1], before[2]};
    account_projection done = {.system = system,
                               .before = start,
                               .after = out->state,
                               .cell_impulse = x,
                               .grid = out->body,
                               .motion_before = bodies,
                               .bodies = out->bodies};
    TREACLE_TRY(energy_account_projection(f, &done, out->account));
    arena_give_to(f->scratch, mark);
    closed_liquid_warn(f, &solve, out->has_warned);
    return solve_report(f, &solve, "pressure", &f->stats->pressure);
}

// --- viscosity -----------------------------------------------------------------------------------

static flow_inputs inputs_of(const run_flow_inputs* in, const run_flow_outputs* out,
                             bool is_unified) {
    return (flow_inputs){.frame = *in->f,
                         .is_unified = is_unified,
                         .pushed = out->account->push,
                         .wet = *in->wet,
                         .poses = in->poses->to,
                         .bodies = out->body->flow.at != NULL ? &out->body->flow : NULL,
                         .history = in->history,
                         .past_u = in->past_u,
                         .p = in->p,
                         .given = in->given};
}

static flow_outputs outputs_of(const run_flow_outputs* out, double* cell_impulse) {
    return (flow_outputs){.u = out->state->face_u,
                          .x = cell_impulse,
                          .open = out->solid->face_open,
                          .liquid = out->liquid,
                          .material = out->material,
                          .contacts = &out->system->contacts,
                          .elastic = out->elastic,
                          .energy = &out->account->part};
}

static treacle_status find_flow(const run_flow_inputs* in, const run_flow_outputs* out,
                                bool is_unified, double* x) {
    flow_inputs takes = inputs_of(in, out, is_unified);
    flow_outputs makes = outputs_of(out, x);
    return flow_find(&takes, &makes);
}

// Bodies take over the motion that a flow with viscosity gives them.
static treacle_status find_with_bodies(const run_flow_inputs* in, const run_flow_outputs* out,
                                       bool is_unified, double* x) {
    const step_frame* f = in->f;
    couple_bodies_note(f, out->bodies, out->body);
    TREACLE_TRY(find_flow(in, out, is_unified, x));
    if (is_unified) {
        scale_pressure(f, out->state, x, true);
    }
    energy_account_part(f, out->account);
    if (out->body->flow.at != NULL) {
        couple_bodies_take(f, out->body, out->bodies);
        hold_all(f, out);
    }
    return TREACLE_OK;
}

treacle_status run_flow_viscosity(const run_flow_inputs* in, const run_flow_outputs* out) {
    TREACLE_ASSERT(in->wet->map == &out->state->map);
    TREACLE_ASSERT(out->material->log_mu != NULL);
    return find_flow(in, out, false, NULL);
}

treacle_status run_flow_stretch(const run_flow_inputs* in, const run_flow_outputs* out) {
    TREACLE_ASSERT(in->wet->map == &out->state->map);
    flow_inputs takes = inputs_of(in, out, true);
    flow_outputs makes = outputs_of(out, NULL);
    return flow_measure_stretch(&takes, &makes);
}

// --- the flow ------------------------------------------------------------------------------------

// Where bodies touch that do not merge, and whether they are pressed together.
static treacle_status find_contacts(const run_flow_inputs* in, const run_flow_outputs* out) {
    const step_frame* f = in->f;
    const liquid_state* state = out->state;
    if (!f->setup->has.no_merge) {
        return TREACLE_OK;
    }
    no_merge_params params = {.domain = f->setup->domain,
                              .map = &state->map,
                              .p = in->p,
                              .material_count = f->setup->material_count,
                              .materials = f->setup->materials,
                              .face_u = face_view_of(state->face_u),
                              .cell_pressure = state->cell_pressure,
                              .dt = f->dt};
    TREACLE_TRY(arena_take_zero(f->scratch, tile_map_values(&state->map), 1, "where bodies touch",
                                (void**)&out->material->cut));
    out->liquid->is_current = false; // the surface may have changed
    return no_merge_find(&params, f->scratch, state->cell_phi, out->material->cut);
}

// What takes part beside the liquid, and the system of its pressure.
static treacle_status begin(const run_flow_inputs* in, const run_flow_outputs* out) {
    const step_frame* f = in->f;
    double had = body_set_energy(&f->setup->bodies, out->bodies);
    bool is_tracked = in->wet->surface.values != NULL; // the account knows particles alone
    face_view face_rho = face_view_of(out->material->face_rho);
    TREACLE_TRY(couple_bodies(f, out->state, face_rho, out->bodies, out->body));
    energy_account_couple(f, out->bodies, out->body, had, out->account);
    TREACLE_TRY(find_contacts(in, out));
    hold_all(f, out);
    // What is tracked keeps what the solve before the first step leaves, and that is in no account:
    // emitters begin to push with the first step.
    if (!is_tracked || !f->is_first) {
        TREACLE_TRY(emitter_faces_set(f, in->given, is_tracked ? NULL : out->account,
                                      out->material->face_rho, out->state));
    }
    f->stats->pressure = f->stats->viscosity = f->stats->flow = (treacle_solve_stats){0};
    TREACLE_TRY(
        pressure_system_create(f, out->state, out->solid, out->body, face_rho, out->system));
    out->system->params.cell_source = in->given->source;
    return TREACLE_OK;
}

treacle_status run_flow(const run_flow_inputs* in, treacle_flow kind, const run_flow_outputs* out) {
    TREACLE_ASSERT(in->f->dt > 0.0 && isfinite(in->f->dt));
    TREACLE_ASSERT(in->wet->map == &out->state->map);
    TREACLE_ASSERT(kind != TREACLE_FLOW_NONE && kind != TREACLE_FLOW_AUTO);
    TREACLE_ASSERT(out->solid == in->wet->solid);
    const step_frame* f = in->f;
    const tile_map* map = &out->state->map;
    bool is_unified = kind == TREACLE_FLOW_UNIFIED, is_split = kind == TREACLE_FLOW_SPLIT;
    double* x = NULL;
    TREACLE_TRY(begin(in, out));
    if (is_unified) {
        TREACLE_TRY(liquid_grid_take(f->scratch, map, out->liquid));
    }
    TREACLE_TRY(
        arena_take(f->scratch, tile_map_values(map), sizeof(double), "pressure", (void**)&x));
    scale_pressure(f, out->state, x, false);
    if (!is_unified) {
        TREACLE_TRY(project(f, out, x));
        scale_pressure(f, out->state, x, true);
    }
    if (is_unified || is_split) {
        TREACLE_TRY(find_with_bodies(in, out, is_unified, x));
    }
    // A unified solve that came near its target is used, but not with the divergence that it left.
    if (is_split || (is_unified && !f->stats->flow.converged)) {
        tile_clear(map, x, TILE_CELLS * sizeof(double));
        TREACLE_TRY(project(f, out, x));
    }
    pressure_system_keep_contacts(f, out->system, out->state);
    arena_give(f->scratch, x);
    return TREACLE_OK;
}
