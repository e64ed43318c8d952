#include "step/couple_bodies.h"

#include <math.h>
#include <string.h>

#include "grid/stagger.h"
#include "grid/tile_loop.h"
#include "math/curve.h"

// A body has the mass of its faces where these hold its volume up to this fraction. They do not
// where part of it is far from all liquid.
static const double volume_error = 0.05;

// What of an axis of length one is rounding where it leaves a flat domain's plane.
static const double axis_slack = 1e-9;

// Over the step.
static void impulse_of(const treacle_curve* curve, const step_frame* f, double out[3]) {
    memset(out, 0, 3 * sizeof(double));
    if (curve->count > 0) {
        curve_integral(curve, f->time, f->time + f->dt, out);
    }
}

void couple_bodies_push(const step_frame* f, body_state* bodies) {
    TREACLE_ASSERT(f->setup->bodies.count == 0 || bodies != NULL);
    for (int i = 0; i < f->setup->bodies.count; ++i) {
        body_state* state = &bodies[i];
        for (int a = 0; a < AXES; ++a) {
            state->velocity[a] += f->setup->domain->is_active[a] ? f->dt * f->gravity.mean[a] : 0.0;
        }
    }
}

// --- coupling ------------------------------------------------------------------------------------

typedef struct couple_job {
    const step_frame* f;
    body_state* bodies;
    body_grid* out;
    body_faces faces;
    int64_t* count;              // [bodies]
    int64_t* slot;               // of all bodies
    double (*row)[BODY_MOTIONS]; // of all bodies
    int64_t* first;              // [bodies]
} couple_job;

static body_on_grid on_grid(const couple_job* job, int i) {
    const liquid_setup* setup = job->f->setup;
    const rigid_body* body = &setup->bodies.bodies[i];
    return (body_on_grid){.id = setup->solids.scripted_count + i,
                          .density = body->density,
                          .radius = body->radius,
                          .place = vec3_from(job->bodies[i].place)};
}

static void count_rows(void* data, int64_t begin, int64_t end) {
    const couple_job* job = data;
    for (int64_t i = begin; i < end; ++i) {
        body_on_grid body = on_grid(job, (int)i);
        job->count[i] = body_make_rows(&job->faces, &body, 0, NULL, NULL);
    }
}

// Whether the domain has motion n at all: flat axes have no speed, and no spin but about a flat
// one.
static bool has_motion(const grid_domain* domain, int n) {
    int b = (n + 1) % AXES, c = (n + 2) % AXES;
    return n < AXES ? domain->is_active[n] : domain->is_active[b] && domain->is_active[c];
}

// The one motion that a joint to the world leaves to a body; false if there is none. A hinge or a
// slider whose axis would take the body out of a flat domain leaves none.
static bool motion_left(const body_joint* joint, const body_state* state, const grid_domain* domain,
                        double z[BODY_MOTIONS]) {
    bool is_hinge = joint->kind == TREACLE_JOINT_HINGE;
    bool is_any = joint->kind != TREACLE_JOINT_FIXED;
    vec3 arm = vec3_sub(vec3_from(state->place), joint->anchor);
    vec3 speed = is_hinge ? vec3_scale(1.0 / domain->h, vec3_cross(joint->axis, arm)) : joint->axis;
    for (int a = 0; a < AXES; ++a) {
        bool turns = has_motion(domain, AXES + a), moves = has_motion(domain, a);
        bool is_free = is_hinge ? turns : moves;
        is_any = is_any && (is_free || fabs(joint->axis.at[a]) < axis_slack);
        z[a] = moves ? speed.at[a] : 0.0;
        z[AXES + a] = is_hinge && turns ? joint->axis.at[a] : 0.0;
    }
    return is_any;
}

// A joint to the world leaves z, or nothing: C = z z^T / (z^T M z), and the motion is the nearest
// one along z in the norm of M [rigid.4].
static void restrict_to_joint(const couple_job* job, int i) {
    const body_set* set = &job->f->setup->bodies;
    const grid_domain* domain = job->f->setup->domain;
    body_state* state = &job->bodies[i];
    solve_body* body = &job->out->solve[i];
    double h = domain->h;
    for (int k = 0; k < set->joint_count; ++k) {
        if (set->joints[k].body != i || set->joints[k].to >= 0) {
            continue;
        }
        double z[BODY_MOTIONS], mz[BODY_MOTIONS], energy = 0.0, along = 0.0;
        bool is_any = motion_left(&set->joints[k], state, domain, z);
        body_motion motion = body_motion_of(state, h);
        mat6_multiply((const double(*)[BODY_MOTIONS])body->mass, z, mz);
        for (int n = 0; n < BODY_MOTIONS; ++n) {
            energy += z[n] * mz[n];
            along += motion.at[n] * mz[n];
        }
        double coefficient = is_any && energy > 0.0 ? 1.0 / energy : 0.0;
        for (int n = 0; n < BODY_MOTIONS * BODY_MOTIONS; ++n) {
            body->inverse_mass[n / BODY_MOTIONS][n % BODY_MOTIONS] =
                coefficient * z[n / BODY_MOTIONS] * z[n % BODY_MOTIONS];
        }
        body->is_bound = true;
        for (int n = 0; n < BODY_MOTIONS; ++n) {
            motion.at[n] = coefficient * along * z[n];
            body->free_motion[n] = is_any ? z[n] : 0.0;
        }
        body_set_motion(state, &motion, h);
    }
}

// Forces and torques move the body with the mass that it has on the grid.
static void push_body(const couple_job* job, int i) {
    const liquid_setup* setup = job->f->setup;
    const rigid_body* own = &setup->bodies.bodies[i];
    const grid_domain* domain = setup->domain;
    double h = domain->h, unit = setup->reference_density * h * h * h, force[3], torque[3];
    double impulse[BODY_MOTIONS], change[BODY_MOTIONS];
    impulse_of(&own->force, job->f, force);
    impulse_of(&own->torque, job->f, torque);
    for (int a = 0; a < AXES; ++a) {
        impulse[a] = domain->is_active[a] ? force[a] / unit : 0.0;
        impulse[AXES + a] = torque[a] / (unit * h);
    }
    mat6_multiply((const double(*)[BODY_MOTIONS])job->out->solve[i].inverse_mass, impulse, change);
    body_motion motion = body_motion_of(&job->bodies[i], h);
    for (int n = 0; n < BODY_MOTIONS; ++n) {
        motion.at[n] += change[n];
    }
    body_set_motion(&job->bodies[i], &motion, h);
}

static void fill_body(const couple_job* job, int i) {
    const grid_domain* domain = job->f->setup->domain;
    const rigid_body* own = &job->f->setup->bodies.bodies[i];
    body_state* state = &job->bodies[i];
    body_on_grid body = on_grid(job, i);
    int64_t first = job->first[i];
    double h = domain->h;
    solve_body* out = &job->out->solve[i];
    body_make_rows(&job->faces, &body, job->count[i], job->slot + first, job->row + first);
    *out = (solve_body){.row_count = job->count[i],
                        .slot = job->slot + first,
                        .row = (const double(*)[BODY_MOTIONS])(job->row + first)};
    double volume = body_grid_mass(&job->faces, &body, out->mass) * h * h * h;
    if (!(fabs(volume - own->mass.volume) <= volume_error * own->mass.volume)) {
        solid_pose pose = body_pose(state);
        body_own_mass(&own->mass, &pose.rotate, &job->faces, out->mass);
    }
    for (int a = 0; a < AXES; ++a) {
        out->pivot[a] = (state->place[a] - domain->origin[a]) / h;
    }
    mat6_invert((const double(*)[BODY_MOTIONS])out->mass, out->inverse_mass);
    double before = body_energy(&own->mass, state);
    push_body(job, i);
    job->out->flow.at[i].forced = body_energy(&own->mass, state) - before;
    restrict_to_joint(job, i);
}

static void fill_bodies(void* data, int64_t begin, int64_t end) {
    const couple_job* job = data;
    for (int64_t i = begin; i < end; ++i) {
        fill_body(job, (int)i);
    }
}

static treacle_status take_rows(couple_job* job, size_t count) {
    arena* scratch = job->f->scratch;
    body_grid* out = job->out;
    const char* name = "rows of bodies";
    TREACLE_TRY(arena_take_zero(scratch, count, sizeof(*out->solve), name, (void**)&out->solve));
    TREACLE_TRY(
        arena_take_zero(scratch, count, sizeof(*out->impulse), name, (void**)&out->impulse));
    TREACLE_TRY(
        arena_take_zero(scratch, count, sizeof(*out->flow.at), name, (void**)&out->flow.at));
    TREACLE_TRY(arena_take_zero(scratch, 2 * count, sizeof(int64_t), name, (void**)&job->count));
    job->first = job->count + count;
    parallel_for(job->f->ctx, (int64_t)count, 1, count_rows, job);
    size_t total = 0;
    for (size_t i = 0; i < count; ++i) {
        job->first[i] = (int64_t)total;
        total += (size_t)job->count[i];
    }
    TREACLE_TRY(arena_take(scratch, total, sizeof(*job->slot), name, (void**)&job->slot));
    return arena_take(scratch, total, sizeof(*job->row), name, (void**)&job->row);
}

treacle_status couple_bodies(const step_frame* f, const liquid_state* state, face_view face_rho,
                             body_state* bodies, body_grid* out) {
    TREACLE_ASSERT(f->setup->bodies.count == 0 || bodies != NULL);
    TREACLE_ASSERT(f->dt > 0.0 && state->cell_phi != NULL);
    int count = f->setup->bodies.count;
    if (count == 0 || f->is_first) {
        return TREACLE_OK;
    }
    couple_job job = {.f = f,
                      .bodies = bodies,
                      .out = out,
                      .faces = {.domain = f->setup->domain,
                                .map = &state->map,
                                .cell_phi = state->cell_phi,
                                .reference_density = f->setup->reference_density}};
    out->flow = (flow_bodies){.count = count, .first_solid = f->setup->solids.scripted_count};
    for (int a = 0; a < AXES; ++a) {
        job.faces.closed[a] = out->flow.closed[a] = out->closed.at[a];
        job.faces.id[a] = out->flow.solid[a] = out->solid[a];
        job.faces.fill[a] = out->fill.at[a];
        job.faces.rho[a] = face_rho.at[a];
    }
    TREACLE_TRY(take_rows(&job, (size_t)count));
    out->flow.body = out->solve;
    parallel_for(f->ctx, count, 1, fill_bodies, &job);
    return TREACLE_OK;
}

// --- motion --------------------------------------------------------------------------------------

typedef struct hold_job {
    const grid_domain* domain;
    const tile_map* map;
    int axis, first; // solids from there on are bodies
    const body_state* bodies;
    const body_grid* grid;
    solid_grid* out;
} hold_job;

static vec3 face_place(const grid_domain* domain, int axis, const int at[AXES]) {
    vec3 x;
    for (int b = 0; b < AXES; ++b) {
        double offset = (double)place_offset(place_face(axis), b);
        x.at[b] = domain->origin[b] + domain->h * (at[b] + offset);
    }
    return x;
}

// A side of the domain that a body touches moves by the fraction that the body has of it: so that
// the flux is that of the rows [rigid.2].
static void hold_tiles(void* data, int64_t begin, int64_t end) {
    const hold_job* job = data;
    int first = job->first, a = job->axis;
    for (int64_t i = begin * TILE_CELLS; i < end * TILE_CELLS; ++i) {
        int id = job->grid->solid[a][i];
        float closed = 1.0f - job->out->face_open.at[a][i];
        if (id == SOLID_NONE || id < first || !(closed > 0.0f)) {
            continue;
        }
        int at[AXES];
        tile_cell_at(job->map, (tile_ix)(i / TILE_CELLS), (int)(i % TILE_CELLS), at);
        vec3 x = face_place(job->domain, a, at);
        double fraction = (double)job->grid->closed.at[a][i] / (double)closed;
        job->out->face_u.at[a][i] =
            (float)(fraction * body_face_speed(&job->bodies[id - first], x, a));
    }
}

void couple_bodies_hold(const step_frame* f, const tile_map* map, const body_state* bodies,
                        const body_grid* grid, solid_grid* out) {
    TREACLE_ASSERT(f->setup->bodies.count == 0 || (bodies != NULL && out->face_u.at[0] != NULL));
    TREACLE_ASSERT(f->setup->bodies.count == 0 || grid->solid[0] != NULL);
    const grid_domain* domain = f->setup->domain;
    for (int a = 0; a < AXES && f->setup->bodies.count > 0; ++a) {
        if (domain->is_active[a]) {
            hold_job job = {domain, map, a, f->setup->solids.scripted_count, bodies, grid, out};
            tile_for(map, &(tile_use){.reads = TILE_ANYWHERE, .grain = 8}, hold_tiles, &job);
        }
    }
}

void couple_bodies_note(const step_frame* f, const body_state* bodies, body_grid* out) {
    TREACLE_ASSERT(out->flow.count == 0 || (out->flow.at != NULL && bodies != NULL));
    for (int i = 0; i < out->flow.count; ++i) {
        body_motion motion = body_motion_of(&bodies[i], f->setup->domain->h);
        memcpy(out->flow.at[i].before, motion.at, sizeof(motion.at));
        memcpy(out->flow.at[i].after, motion.at, sizeof(motion.at));
        for (int a = 0; a < AXES; ++a) {
            motion.at[a] -= f->setup->domain->is_active[a] ? f->dt * f->gravity.mean[a] : 0.0;
        }
        memcpy(out->flow.at[i].guess, motion.at, sizeof(motion.at));
    }
}

void couple_bodies_take(const step_frame* f, const body_grid* grid, body_state* bodies) {
    TREACLE_ASSERT(grid->flow.count == 0 || (grid->flow.at != NULL && bodies != NULL));
    for (int i = 0; i < grid->flow.count; ++i) {
        body_motion motion;
        memcpy(motion.at, grid->flow.at[i].after, sizeof(motion.at));
        body_set_motion(&bodies[i], &motion, f->setup->domain->h);
    }
}

void couple_bodies_drag(const step_frame* f, const projection* pressure, const double* cell_impulse,
                        body_grid* grid, body_state* bodies) {
    TREACLE_ASSERT(cell_impulse != NULL);
    TREACLE_ASSERT(f->setup->bodies.count == 0 || (grid->impulse != NULL && bodies != NULL));
    double h = f->setup->domain->h;
    projection_body_impulses(pressure, cell_impulse, (double(*)[BODY_MOTIONS])grid->impulse);
    for (int i = 0; i < f->setup->bodies.count; ++i) {
        body_motion motion = body_motion_of(&bodies[i], h);
        double change[BODY_MOTIONS];
        mat6_multiply((const double(*)[BODY_MOTIONS])grid->solve[i].inverse_mass,
                      grid->impulse[i].at, change);
        for (int n = 0; n < BODY_MOTIONS; ++n) {
            motion.at[n] += change[n];
        }
        body_set_motion(&bodies[i], &motion, h);
    }
}
