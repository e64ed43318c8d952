// The stages of a step from the geometry of the liquid to its particles' new velocity.
#include <math.h>
#include <string.h>

#include "grid/gather.h"
#include "grid/stagger.h"
#include "grid/tile_band.h"
#include "grid/tile_ranks.h"
#include "phys/apart.h"
#include "phys/g2p.h"
#include "phys/open_volume.h"
#include "sim/euler.h"
#include "step/closed_liquid.h"
#include "step/couple_bodies.h"
#include "step/solid_geometry.h"
#include "step/solve_report.h"
#include "step/viscosity_grid.h"

// --- faces that liquid may cross, or that an emitter moves --------------------------------------

typedef struct face_job {
    liquid_work* w;
    int axis;
} face_job;

// Whether the face lies in the domain or on an open side of it.
static bool is_open_face(const grid_domain* domain, int axis, const int at[AXES]) {
    for (int b = 0; b < AXES; ++b) {
        if (b != axis && at[b] >= domain->cells[b]) {
            return false;
        }
    }
    if (domain->is_periodic[axis]) {
        return at[axis] < domain->cells[axis];
    }
    if (at[axis] == 0 || at[axis] == domain->cells[axis]) {
        return domain->sides[axis][at[axis] == 0 ? 0 : 1] == TREACLE_SIDE_OPEN;
    }
    return at[axis] < domain->cells[axis];
}

static bool may_let_go(const grid_domain* domain, int axis, const int at[AXES]) {
    return (at[axis] == 0 && domain->separation[axis][0].is_on) ||
           (at[axis] == domain->cells[axis] && domain->separation[axis][1].is_on);
}

// Whether the face lies on a side of the domain.
static bool is_side_face(const grid_domain* domain, int axis, const int at[AXES]) {
    bool is_on_plane = at[axis] == 0 || at[axis] == domain->cells[axis];
    for (int b = 0; b < AXES; ++b) {
        is_on_plane = is_on_plane && (b == axis || at[b] < domain->cells[b]);
    }
    return is_on_plane;
}

// face_open holds what solids leave open, if there are any. A side that a solid stands in moves by
// the share that the solid has of it: what comes into a cell through the side leaves it on the
// other face, and the liquid beside it need not make room [press.1].
static void open_faces(void* data, int64_t begin, int64_t end) {
    const face_job* job = data;
    for (int64_t t = begin; t < end; ++t) {
        float* open = job->w->solid.face_open.at[job->axis] + (size_t)t * TILE_CELLS;
        float* held = job->w->solid.face_u.at[job->axis];
        for (int i = 0; i < TILE_CELLS; ++i) {
            int at[AXES];
            tile_cell_at(&job->w->state->map, (tile_ix)t, i, at);
            bool is_open = is_open_face(job->w->setup->domain, job->axis, at);
            if (held != NULL && !is_open) {
                bool is_side = is_side_face(job->w->setup->domain, job->axis, at);
                held[t * TILE_CELLS + i] *= is_side ? 1.0f - open[i] : 0.0f;
            }
            open[i] = !is_open ? 0.0f : held != NULL ? open[i] : 1.0f;
        }
    }
}

// Closed faces move as their solid does, or not at all; walls that may let go have to be asked.
static void hold_faces(void* data, int64_t begin, int64_t end) {
    const face_job* job = data;
    const float* open = job->w->solid.face_open.at[job->axis];
    const float* held = job->w->solid.face_u.at[job->axis];
    const liquid_state* state = job->w->state;
    float* u = state->face_u.at[job->axis];
    for (int64_t i = begin * TILE_CELLS; i < end * TILE_CELLS; ++i) {
        int at[AXES];
        tile_cell_at(&state->map, (tile_ix)(i / TILE_CELLS), (int)(i % TILE_CELLS), at);
        bool keeps = open[i] > 0.0f || may_let_go(job->w->setup->domain, job->axis, at);
        u[i] = keeps ? u[i] : held != NULL ? held[i] : 0.0f;
    }
}

// Faces inside a running emitter move as it says: no pressure accelerates them, as if they were
// infinitely dense.
static void prescribe_faces(void* data, int64_t begin, int64_t end) {
    const face_job* job = data;
    liquid_work* w = job->w;
    const grid_domain* domain = w->setup->domain;
    int a = job->axis;
    for (int64_t i = begin * TILE_CELLS; i < end * TILE_CELLS; ++i) {
        int at[AXES];
        tile_cell_at(&w->state->map, (tile_ix)(i / TILE_CELLS), (int)(i % TILE_CELLS), at);
        vec3 x;
        for (int b = 0; b < AXES; ++b) {
            double offset = (double)place_offset(place_face(a), b);
            x.at[b] = domain->origin[b] + domain->h * (at[b] + offset);
        }
        for (int e = 0; e < w->setup->emitter_count; ++e) {
            const emitter* source = &w->setup->emitters[e];
            double speed = emitter_speed(source, w->time + w->dt);
            vec3 offset = emitter_offset(source, w->time + w->dt);
            if (speed > 0.0 && shape_is_inside(source->where, vec3_sub(x, offset))) {
                vec3 motion = emitter_motion(source, w->time, w->time + w->dt);
                w->state->face_u.at[a][i] = (float)(speed * source->direction.at[a] + motion.at[a]);
                w->material.face_rho.at[a][i] = INFINITY;
            }
        }
    }
}

// --- density on faces ---------------------------------------------------------------------------

static void face_densities(void* data, int64_t begin, int64_t end) {
    const face_job* job = data;
    const liquid_work* w = job->w;
    const int side = BLOCK_SIDE(1, 0), steps[AXES] = {1, side, side * side};
    for (int64_t t = begin; t < end; ++t) {
        float cell[BLOCK_VALUES(1, 0)];
        gather_block(&w->state->map, w->given.density, (tile_ix)t, 1, 0, cell);
        float* rho = w->material.face_rho.at[job->axis] + (size_t)t * TILE_CELLS;
        for (int i = 0; i < TILE_CELLS; ++i) {
            int at = BLOCK_INDEX(1, 0, i % TILE_SIZE, i / TILE_SIZE % TILE_SIZE,
                                 i / TILE_SIZE / TILE_SIZE);
            float high = cell[at], low = cell[at - steps[job->axis]];
            float sum = low + high;
            rho[i] = low > 0.0f && high > 0.0f ? 0.5f * sum : sum > 0.0f ? sum : 1.0f;
        }
    }
}

treacle_status liquid_walls(liquid_work* w) {
    TREACLE_TRY(arena_take_zero(w->scratch, (size_t)w->state->map.count + 1, sizeof(tile_mask),
                                "known faces", (void**)&w->valid));
    for (int a = 0; a < AXES; ++a) {
        TREACLE_TRY(arena_take_zero(w->scratch, w->values, sizeof(float), "open faces",
                                    (void**)&w->solid.face_open.at[a]));
    }
    step_frame f = liquid_frame(w);
    TREACLE_TRY(
        solid_geometry_find(&f, &w->state->map, &w->poses, w->solid_cache, &w->solid, &w->body));
    if (w->solid.open != NULL) {
        open_volume_normalise(w->setup->domain, &w->state->map, w->solid.open, w->given.volume);
    }
    for (int a = 0; a < AXES; ++a) {
        face_job job = {w, a};
        tile_for_held(&w->state->map, 8, open_faces, &job);
    }
    return TREACLE_OK;
}

treacle_status liquid_geometry(liquid_work* w) {
    TREACLE_TRY(liquid_walls(w));
    TREACLE_TRY(liquid_surface(w));
    solid_geometry_close_holes(&w->state->map, w->state->cell_phi, &w->solid);
    bool has_rho = w->setup->has_densities || w->setup->emitter_count > 0;
    for (int a = 0; a < AXES; ++a) {
        face_job job = {w, a};
        if (has_rho) {
            TREACLE_TRY(arena_take_zero(w->scratch, w->values, sizeof(float), "densities on faces",
                                        (void**)&w->material.face_rho.at[a]));
            tile_for(&w->state->map, 4, face_densities, &job);
            tile_share_field(&w->state->map, w->material.face_rho.at[a]);
        }
    }
    return liquid_reach_surface(w);
}

// --- velocity where particles gave none ---------------------------------------------------------

typedef struct mass_job {
    const float* mass;
    tile_mask* known;
} mass_job;

static void mark_heavy(void* data, int64_t begin, int64_t end) {
    const mass_job* job = data;
    for (int64_t t = begin; t < end; ++t) {
        tile_mask* mask = &job->known[t];
        memset(mask, 0, sizeof(*mask));
        for (int i = 0; i < TILE_CELLS; ++i) {
            if (job->mass[t * TILE_CELLS + i] > 0.0f) {
                tile_mask_add(mask, i);
            }
        }
    }
}

wet_faces liquid_wet_faces(const liquid_work* w) {
    return (wet_faces){.domain = w->setup->domain,
                       .map = &w->state->map,
                       .cell_phi = w->state->cell_phi,
                       .solid = &w->solid,
                       .liquid = &w->liquid,
                       .surface = w->euler != NULL ? euler_surface_of(w) : (tile_sampler){0},
                       .known = w->valid};
}

// Of a viscosity at cells, which is spread.
static treacle_status slopes_of(liquid_work* w, float* cell_log_mu, float** out) {
    double h = w->setup->domain->h;
    viscosity_grid viscosity = {.domain = w->setup->domain,
                                .map = &w->state->map,
                                .cell_volume = w->given.volume,
                                .known = w->valid,
                                .cell_log_mu = cell_log_mu};
    return viscosity_slopes(&viscosity, w->setup->def, w->setup->reference_density * h * h / w->dt,
                            w->scratch, out);
}

// The surface may lie a little beyond what the particles' kernel reaches, and the masses of the
// unified flow lie around it.
static treacle_status reach_surface(liquid_work* w, const float* slope) {
    wet_faces wet = liquid_wet_faces(w);
    for (int a = 0; a < AXES; ++a) {
        mass_job job = {w->given.face_mass.at[a], w->valid};
        tile_for_held(&w->state->map, 8, mark_heavy, &job);
        bool is_everywhere = w->setup->def->fill == TREACLE_FILL_ALL;
        int layers = is_everywhere ? TILE_BAND_MAX : LIQUID_KERNEL_RADIUS + 1;
        TREACLE_TRY(wet_faces_extend(&wet, a, layers, slope, w->state->face_u.at[a]));
    }
    return TREACLE_OK;
}

treacle_status liquid_reach_surface(liquid_work* w) {
    return reach_surface(w, NULL);
}

// Once the viscosity is known.
static treacle_status reach_smoothly(liquid_work* w) {
    int mark = arena_mark(w->scratch);
    float* slope = NULL;
    TREACLE_TRY(liquid_viscosity_at_rest(w));
    TREACLE_TRY(slopes_of(w, w->material.log_mu, &slope));
    TREACLE_TRY(reach_surface(w, slope));
    arena_give_to(w->scratch, mark);
    return TREACLE_OK;
}

static treacle_status extend_found(liquid_work* w, int layers) {
    int mark = arena_mark(w->scratch);
    wet_faces wet = liquid_wet_faces(w);
    float *slope = NULL, *seen = w->elastic.log_mu; // what the flow has seen
    TREACLE_TRY(slopes_of(w, seen != NULL ? seen : w->material.log_mu, &slope));
    TREACLE_TRY(wet_faces_extend_velocity(&wet, layers, false, slope, w->state->face_u.at));
    arena_give_to(w->scratch, mark);
    return TREACLE_OK;
}

treacle_status liquid_extrapolate(liquid_work* w) {
    int layers = (int)ceil(w->setup->def->step.cfl) + LIQUID_KERNEL_RADIUS + 1;
    TREACLE_TRY(extend_found(w, layers));
    step_frame f = liquid_frame(w);
    face_view give = w->euler != NULL ? face_view_of(w->euler->face_give) : (face_view){0};
    TREACLE_TRY(solid_geometry_slide(&f, &w->poses, &w->solid, give, w->state));
    liquid_hold_walls(w);
    energy_account_flown(w->state, &w->given, &w->account);
    return TREACLE_OK;
}

// --- flow ---------------------------------------------------------------------------------------

typedef struct scale_job {
    const liquid_work* w;
    double* x;
    bool to_state;
} scale_job;

static void scale_tiles(void* data, int64_t begin, int64_t end) {
    const scale_job* job = data;
    const liquid_work* w = job->w;
    for (int64_t i = begin * TILE_CELLS; i < end * TILE_CELLS; ++i) {
        if (job->to_state) {
            w->state->cell_pressure[i] = (float)(job->x[i] / w->dt);
        } else {
            job->x[i] = (double)w->state->cell_pressure[i] * w->dt;
        }
    }
}

// The dummy tile's, too.
static void scale_pressure(const liquid_work* w, double* x, bool to_state) {
    scale_job job = {w, x, to_state};
    tile_for_held(&w->state->map, 8, scale_tiles, &job);
    scale_tiles(&job, w->state->map.count, (int64_t)w->state->map.count + 1);
}

static projection_params projection_of(liquid_work* w) {
    const treacle_pressure_def* pressure = &w->setup->def->pressure;
    return (projection_params){
        .domain = w->setup->domain,
        .map = &w->state->map,
        .cell_phi = w->state->cell_phi,
        .face_open = face_view_of(w->solid.face_open),
        .face_rho = face_view_of(w->material.face_rho),
        .face_solid_u = face_view_of(w->solid.face_u),
        .face_id = {w->body.solid[0], w->body.solid[1], w->body.solid[2]},
        .first_body = w->setup->solids.scripted_count,
        .solid_count = w->setup->solids.count,
        .walls = w->walls.ctx != NULL ? &w->walls : NULL,
        .solve = {.norm = SOLVE_NORM_2,
                  .relative = pressure->tolerance,
                  .absolute = fmin(LIQUID_DIVERGENCE_MIN, pressure->tolerance) *
                              w->setup->domain->h / w->dt,
                  .max_iterations = pressure->max_iterations,
                  .is_warm = true},
        .body_count = w->body.rows != NULL ? w->setup->bodies.count : 0,
        .bodies = w->body.rows,
        .is_relaxed = pressure->method == TREACLE_PROJECTION_RELAX,
    };
}

treacle_status liquid_accept(liquid_work* w, const solve_stats* solve, const char* what,
                             treacle_solve_stats* out) {
    return solve_report(w->ctx, w->setup->def, solve, what, out);
}

// Closed faces move with what closes them.
static void hold_all(liquid_work* w) {
    step_frame f = liquid_frame(w);
    couple_bodies_hold(&f, &w->state->map, w->bodies, &w->body, &w->solid);
    for (int a = 0; a < AXES; ++a) {
        face_job job = {w, a};
        tile_for_held(&w->state->map, 8, hold_faces, &job);
    }
}

// What the projection begins with, for the account of energy.
static treacle_status keep_before(liquid_work* w, float* before[AXES], body_motion** bodies) {
    size_t count = (size_t)w->body.flow.count;
    for (int a = 0; a < AXES; ++a) {
        TREACLE_TRY(arena_take(w->scratch, w->values, sizeof(float), "velocity before the pressure",
                               (void**)&before[a]));
        tile_copy(&w->state->map, before[a], w->state->face_u.at[a], TILE_CELLS * sizeof(float));
    }
    TREACLE_TRY(
        arena_take(w->scratch, count, sizeof(**bodies), "motions of bodies", (void**)bodies));
    for (size_t i = 0; i < count; ++i) {
        (*bodies)[i] = body_motion_of(&w->bodies[i], w->setup->domain->h);
    }
    return TREACLE_OK;
}

static treacle_status project(liquid_work* w, double* x) {
    step_frame f = liquid_frame(w);
    solve_stats solve;
    int mark = arena_mark(w->scratch);
    float* before[AXES];
    body_motion* bodies = NULL;
    TREACLE_TRY(keep_before(w, before, &bodies));
    TREACLE_TRY(projection_apply(&w->projection, w->state->face_u.at, x, &solve));
    if (w->body.rows != NULL) {
        couple_bodies_drag(&f, &w->projection, x, &w->body, w->bodies);
        hold_all(w);
    }
    const float* const start[AXES] = {before[0], before[1], before[2]};
    account_projection done = {.system = &w->projection,
                               .before = start,
                               .after = w->state,
                               .cell_x = x,
                               .grid = &w->body,
                               .motion_before = bodies,
                               .bodies = w->bodies};
    TREACLE_TRY(energy_account_projection(&f, &done, &w->account));
    arena_give_to(w->scratch, mark);
    closed_liquid_warn(&f, &solve, w->has_warned);
    return liquid_accept(w, &solve, "pressure", &w->stats->pressure);
}

flow_inputs liquid_flow_inputs(const liquid_work* w, bool is_unified) {
    return (flow_inputs){.frame = liquid_frame(w),
                         .is_unified = is_unified,
                         .pushed = w->account.push,
                         .wet = liquid_wet_faces(w),
                         .poses = w->poses.to,
                         .bodies = w->body.flow.at != NULL ? &w->body.flow : NULL,
                         .history = &w->history,
                         .past_u = face_view_of(w->before->face_u),
                         .p = w->p,
                         .given = &w->given};
}

flow_outputs liquid_flow_outputs(liquid_work* w, double* cell_x) {
    return (flow_outputs){.u = w->state->face_u,
                          .x = cell_x,
                          .open = w->solid.face_open,
                          .liquid = &w->liquid,
                          .material = &w->material,
                          .walls = &w->walls,
                          .elastic = &w->elastic,
                          .energy = &w->account.part};
}

static treacle_status find_flow(liquid_work* w, bool is_unified, double* x) {
    flow_inputs in = liquid_flow_inputs(w, is_unified);
    flow_outputs out = liquid_flow_outputs(w, x);
    return flow_find(&in, &out);
}

treacle_status liquid_thicken(liquid_work* w) {
    return find_flow(w, false, NULL);
}

// Where bodies touch that do not merge, and whether they are pressed together.
static treacle_status find_contacts(liquid_work* w) {
    if (!w->setup->has_apart) {
        return TREACLE_OK;
    }
    apart_params params = {.domain = w->setup->domain,
                           .map = &w->state->map,
                           .p = w->p,
                           .material_count = w->setup->material_count,
                           .materials = w->setup->materials,
                           .face_u = face_view_of(w->state->face_u),
                           .cell_pressure = w->state->cell_pressure,
                           .dt = w->dt};
    TREACLE_TRY(
        arena_take_zero(w->scratch, w->values, 1, "where bodies touch", (void**)&w->material.cut));
    w->liquid.is_current = false; // the surface may have changed
    return apart_find(&params, w->scratch, w->state->cell_phi, w->material.cut);
}

// Bodies take over the motion that a flow with viscosity has given them.
static void release_bodies(liquid_work* w) {
    if (w->body.flow.at != NULL) {
        step_frame f = liquid_frame(w);
        couple_bodies_take(&f, &w->body, w->bodies);
        hold_all(w);
    }
}

// A unified solve that came near its target is used, but not with the divergence that it left.
static treacle_status unify(liquid_work* w, double* x) {
    step_frame f = liquid_frame(w);
    couple_bodies_note(&f, w->bodies, &w->body);
    TREACLE_TRY(find_flow(w, true, x));
    scale_pressure(w, x, true);
    energy_account_part(&f, &w->account);
    release_bodies(w);
    if (w->stats->flow.converged) {
        return TREACLE_OK;
    }
    tile_clear(&w->state->map, x, TILE_CELLS * sizeof(double));
    return project(w, x);
}

static treacle_status prescribe(liquid_work* w) {
    int mark = arena_mark(w->scratch);
    float* before[AXES];
    if (w->setup->emitter_count == 0) {
        return TREACLE_OK;
    }
    for (int a = 0; a < AXES; ++a) {
        face_job job = {w, a};
        TREACLE_TRY(arena_take(w->scratch, w->values, sizeof(float), "velocity before emitters",
                               (void**)&before[a]));
        tile_copy(&w->state->map, before[a], w->state->face_u.at[a], TILE_CELLS * sizeof(float));
        tile_for_held(&w->state->map, 4, prescribe_faces, &job);
    }
    if (w->euler == NULL) {
        step_frame f = liquid_frame(w);
        energy_account_emitters(&f, w->state, &w->given, before, &w->account);
    }
    arena_give_to(w->scratch, mark);
    return TREACLE_OK;
}

treacle_status liquid_flow_part(liquid_work* w, treacle_flow kind) {
    step_frame f = liquid_frame(w);
    double had = body_set_energy(&w->setup->bodies, w->bodies);
    TREACLE_TRY(
        couple_bodies(&f, w->state, face_view_of(w->material.face_rho), w->bodies, &w->body));
    energy_account_couple(&f, w->bodies, &w->body, had, &w->account);
    TREACLE_TRY(find_contacts(w));
    hold_all(w);
    TREACLE_TRY(prescribe(w));
    TREACLE_TRY(kind == TREACLE_FLOW_UNIFIED
                    ? liquid_grid_take(w->scratch, &w->state->map, &w->liquid)
                    : TREACLE_OK);
    double* x = NULL;
    TREACLE_TRY(arena_take(w->scratch, w->values, sizeof(double), "pressure", (void**)&x));
    scale_pressure(w, x, false);
    TREACLE_TRY(liquid_find_walls(w));
    w->projection_params = projection_of(w);
    TREACLE_TRY(projection_create(&w->projection_params, &w->projection));
    w->stats->pressure = w->stats->viscosity = w->stats->flow = (treacle_solve_stats){0};
    if (kind == TREACLE_FLOW_UNIFIED) {
        TREACLE_TRY(unify(w, x));
    } else {
        TREACLE_TRY(project(w, x));
        scale_pressure(w, x, true);
    }
    if (kind == TREACLE_FLOW_SPLIT) {
        couple_bodies_note(&f, w->bodies, &w->body);
        TREACLE_TRY(find_flow(w, false, x));
        energy_account_part(&f, &w->account);
        release_bodies(w);
        tile_clear(&w->state->map, x, TILE_CELLS * sizeof(double));
        TREACLE_TRY(project(w, x));
    }
    liquid_keep_walls(w);
    arena_give(w->scratch, x);
    return TREACLE_OK;
}

treacle_status liquid_flow(liquid_work* w) {
    if (viscosity_keeps_slope(w->setup->def)) {
        TREACLE_TRY(reach_smoothly(w));
    }
    return liquid_flow_part(w, w->setup->def->flow);
}

// --- back to the particles ----------------------------------------------------------------------

// FLIP's share for each material: the user's, or what viscosity leaves of it [S19 eq. 17].
static void flip_shares(const liquid_work* w, float* keep) {
    const treacle_sim_def* def = w->setup->def;
    double h = w->setup->domain->h;
    for (int m = 0; m < w->setup->material_count; ++m) {
        const treacle_material_def* material = &w->setup->materials[m];
        double nu = material->viscosity / material->density;
        double pic = fmin(6.0 * nu * w->dt / (h * h), 1.0);
        keep[m] = (float)(def->flip_from_viscosity ? 1.0 - pic : def->flip_blend);
    }
}

treacle_status liquid_to_particles(liquid_work* w) {
    face_velocity now = {.map = &w->state->map,
                         .domain = w->setup->domain,
                         .has_viscosity = liquid_is_viscous(w->setup),
                         .u = w->state->face_u};
    face_velocity before = now;
    float keep[LIQUID_MATERIALS_MAX];
    bool is_flip = w->setup->def->transfer == TREACLE_TRANSFER_FLIP;
    before.u = w->given.face_u;
    flip_shares(w, keep);
    g2p_params params = {.now = &now,
                         .before = &before,
                         .to = w->p,
                         .kernel = w->setup->def->kernel,
                         .is_affine = w->setup->def->transfer == TREACLE_TRANSFER_APIC,
                         .keeps_velocity = w->is_first,
                         .keep = is_flip ? keep : NULL,
                         .thin = &w->given.thin};
    int mark = arena_mark(w->scratch);
    step_frame f = liquid_frame(w);
    free_flyers strays;
    float *velocity = NULL, *affine = NULL;
    TREACLE_TRY(free_flyers_find(&f, w->state, w->p, &strays));
    TREACLE_TRY(free_flyers_keep(&f, &strays, w->p, PARTICLE_VELOCITY, &velocity));
    TREACLE_TRY(free_flyers_keep(&f, &strays, w->p, PARTICLE_AFFINE, &affine));
    if (w->setup->def->step.splitting == TREACLE_SPLITTING_SECOND && !w->is_first) {
        TREACLE_TRY(liquid_foresee(w, now.u.at));
    }
    g2p_velocity(&params);
    free_flyers_put(&strays, PARTICLE_VELOCITY, velocity, w->p);
    free_flyers_put(&strays, PARTICLE_AFFINE, affine, w->p);
    if (!w->is_first) {
        TREACLE_TRY(free_flyers_push(&f, &strays, w->p));
    }
    TREACLE_TRY(liquid_elastic_end(w, &strays));
    arena_give_to(w->scratch, mark);
    return TREACLE_OK;
}

void liquid_work_finish(liquid_work* w) {
    tile_history_finish(&w->history);
    wall_set_destroy(&w->walls);
    projection_destroy(&w->projection);
}
