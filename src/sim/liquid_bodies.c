// The stages of a step that know rigid bodies: contacts first, then forces, then the pressure.
#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "grid/stagger.h"
#include "math/curve.h"
#include "sim/liquid.h"
#include "step/body_world.h"

// A body has the mass of its faces where these hold its volume up to this share. They do not where
// part of it is far from all liquid.
static const double volume_error = 0.05;

// What of an axis of length one is rounding where it leaves a flat domain's plane.
static const double axis_slack = 1e-9;

// Over the step.
static void impulse_of(const treacle_curve* curve, const liquid_work* w, double out[3]) {
    memset(out, 0, 3 * sizeof(double));
    if (curve->count > 0) {
        curve_integral(curve, w->time, w->time + w->dt, out);
    }
}

void liquid_push_bodies(liquid_work* w) {
    for (int i = 0; i < w->setup->bodies.count; ++i) {
        body_state* state = &w->bodies[i];
        for (int a = 0; a < AXES; ++a) {
            state->velocity[a] += w->setup->domain->is_active[a] ? w->dt * w->gravity[a] : 0.0;
        }
    }
}

// --- coupling ------------------------------------------------------------------------------------

typedef struct couple_job {
    liquid_work* w;
    body_faces faces;
    int64_t* count;              // [bodies]
    int64_t* slot;               // of all bodies
    double (*row)[BODY_MOTIONS]; // of all bodies
    int64_t* first;              // [bodies]
} couple_job;

static body_on_grid on_grid(const liquid_work* w, int i) {
    const rigid_body* body = &w->setup->bodies.bodies[i];
    return (body_on_grid){.id = w->setup->solids.scripted_count + i,
                          .density = body->density,
                          .radius = body->radius,
                          .place = vec3_from(w->bodies[i].place)};
}

static void count_rows(void* data, int64_t begin, int64_t end) {
    const couple_job* job = data;
    for (int64_t i = begin; i < end; ++i) {
        body_on_grid body = on_grid(job->w, (int)i);
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
static void restrict_to_joint(const liquid_work* w, int i, double mass[BODY_MOTIONS][BODY_MOTIONS],
                              double inverse[BODY_MOTIONS][BODY_MOTIONS]) {
    const body_set* set = &w->setup->bodies;
    double h = w->setup->domain->h;
    for (int k = 0; k < set->joint_count; ++k) {
        if (set->joints[k].body != i || set->joints[k].to >= 0) {
            continue;
        }
        double z[BODY_MOTIONS], mz[BODY_MOTIONS], energy = 0.0, along = 0.0;
        bool is_any = motion_left(&set->joints[k], &w->bodies[i], w->setup->domain, z);
        body_motion motion = body_motion_of(&w->bodies[i], h);
        six_multiply((const double(*)[BODY_MOTIONS])mass, z, mz);
        for (int n = 0; n < BODY_MOTIONS; ++n) {
            energy += z[n] * mz[n];
            along += motion.at[n] * mz[n];
        }
        double share = is_any && energy > 0.0 ? 1.0 / energy : 0.0;
        for (int n = 0; n < BODY_MOTIONS * BODY_MOTIONS; ++n) {
            inverse[n / BODY_MOTIONS][n % BODY_MOTIONS] =
                share * z[n / BODY_MOTIONS] * z[n % BODY_MOTIONS];
        }
        flow_body* flow = &w->body.flow.at[i];
        flow->is_bound = true;
        for (int n = 0; n < BODY_MOTIONS; ++n) {
            motion.at[n] = share * along * z[n];
            flow->left[n] = is_any ? z[n] : 0.0;
        }
        body_set_motion(&w->bodies[i], &motion, h);
    }
}

// Forces and torques move the body with the mass that it has on the grid.
static void push_body(liquid_work* w, int i) {
    const rigid_body* own = &w->setup->bodies.bodies[i];
    const grid_domain* domain = w->setup->domain;
    double h = domain->h, unit = w->setup->reference_density * h * h * h, force[3], torque[3];
    double impulse[BODY_MOTIONS], change[BODY_MOTIONS];
    impulse_of(&own->force, w, force);
    impulse_of(&own->torque, w, torque);
    for (int a = 0; a < AXES; ++a) {
        impulse[a] = domain->is_active[a] ? force[a] / unit : 0.0;
        impulse[AXES + a] = torque[a] / (unit * h);
    }
    six_multiply((const double(*)[BODY_MOTIONS])w->body.rows[i].inverse_mass, impulse, change);
    body_motion motion = body_motion_of(&w->bodies[i], h);
    for (int n = 0; n < BODY_MOTIONS; ++n) {
        motion.at[n] += change[n];
    }
    body_set_motion(&w->bodies[i], &motion, h);
}

static void fill_body(const couple_job* job, int i) {
    liquid_work* w = job->w;
    const rigid_body* own = &w->setup->bodies.bodies[i];
    body_on_grid body = on_grid(w, i);
    int64_t first = job->first[i];
    double h = w->setup->domain->h, mass[BODY_MOTIONS][BODY_MOTIONS];
    body_rows* out = &w->body.rows[i];
    body_make_rows(&job->faces, &body, job->count[i], job->slot + first, job->row + first);
    *out = (body_rows){.count = job->count[i],
                       .slot = job->slot + first,
                       .row = (const double(*)[BODY_MOTIONS])(job->row + first)};
    double volume = body_grid_mass(&job->faces, &body, mass) * h * h * h;
    if (!(fabs(volume - own->mass.volume) <= volume_error * own->mass.volume)) {
        solid_pose pose = body_pose(&w->bodies[i]);
        body_own_mass(&own->mass, &pose.rotate, &job->faces, mass);
    }
    flow_body* flow = &w->body.flow.at[i];
    memcpy(flow->mass, mass, sizeof(mass));
    for (int a = 0; a < AXES; ++a) {
        flow->pivot[a] = (w->bodies[i].place[a] - w->setup->domain->origin[a]) / h;
    }
    six_invert((const double(*)[BODY_MOTIONS])mass, out->inverse_mass);
    flow->forced = -liquid_energy_of_body(w, i);
    push_body(w, i);
    flow->forced += liquid_energy_of_body(w, i);
    restrict_to_joint(w, i, mass, out->inverse_mass);
}

static void fill_bodies(void* data, int64_t begin, int64_t end) {
    const couple_job* job = data;
    for (int64_t i = begin; i < end; ++i) {
        fill_body(job, (int)i);
    }
}

static treacle_status take_rows(couple_job* job, int64_t total) {
    arena* scratch = job->w->scratch;
    TREACLE_TRY(arena_take(scratch, (size_t)total, sizeof(*job->slot), "rows of bodies",
                           (void**)&job->slot));
    return arena_take(scratch, (size_t)total, sizeof(*job->row), "rows of bodies",
                      (void**)&job->row);
}

treacle_status liquid_couple_bodies(liquid_work* w) {
    int bodies = w->setup->bodies.count;
    size_t count = (size_t)bodies;
    if (bodies == 0 || w->is_first) {
        return TREACLE_OK;
    }
    couple_job job = {
        .w = w,
        .faces = {.domain = w->setup->domain,
                  .map = &w->state->map,
                  .shut = {w->body.shut.at[0], w->body.shut.at[1], w->body.shut.at[2]},
                  .fill = {w->body.fill.at[0], w->body.fill.at[1], w->body.fill.at[2]},
                  .cell_phi = w->state->cell_phi,
                  .rho = {w->material.face_rho.at[0], w->material.face_rho.at[1],
                          w->material.face_rho.at[2]},
                  .id = {w->body.solid[0], w->body.solid[1], w->body.solid[2]},
                  .reference_density = w->setup->reference_density}};
    TREACLE_TRY(arena_take_zero(w->scratch, count, sizeof(*w->body.rows), "rows of bodies",
                                (void**)&w->body.rows));
    TREACLE_TRY(arena_take_zero(w->scratch, count, sizeof(*w->body.impulse), "rows of bodies",
                                (void**)&w->body.impulse));
    w->body.flow = (flow_bodies){.count = bodies, .first_solid = w->setup->solids.scripted_count};
    TREACLE_TRY(arena_take_zero(w->scratch, count, sizeof(*w->body.flow.at), "rows of bodies",
                                (void**)&w->body.flow.at));
    for (int a = 0; a < AXES; ++a) {
        w->body.flow.shut[a] = w->body.shut.at[a];
        w->body.flow.solid[a] = w->body.solid[a];
    }
    TREACLE_TRY(arena_take_zero(w->scratch, 2 * count, sizeof(int64_t), "rows of bodies",
                                (void**)&job.count));
    job.first = job.count + count;
    parallel_for(w->ctx, bodies, 1, count_rows, &job);
    int64_t total = 0;
    for (size_t i = 0; i < count; ++i) {
        job.first[i] = total;
        total += job.count[i];
    }
    TREACLE_TRY(take_rows(&job, total));
    double energy = liquid_energy_of_bodies(w);
    parallel_for(w->ctx, bodies, 1, fill_bodies, &job);
    liquid_account_couple(w, energy);
    return TREACLE_OK;
}

// --- motion --------------------------------------------------------------------------------------

typedef struct hold_job {
    liquid_work* w;
    int axis;
} hold_job;

static vec3 face_place(const grid_domain* domain, int axis, const int at[AXES]) {
    vec3 x;
    for (int b = 0; b < AXES; ++b) {
        double offset = (double)place_offset(place_face(axis), b);
        x.at[b] = domain->origin[b] + domain->h * (at[b] + offset);
    }
    return x;
}

// A side of the domain that a body touches moves by the share that the body has of it: so that the
// flux is that of the rows [rigid.2].
static void hold_tiles(void* data, int64_t begin, int64_t end) {
    const hold_job* job = data;
    liquid_work* w = job->w;
    int first = w->setup->solids.scripted_count, a = job->axis;
    for (int64_t i = begin * TILE_CELLS; i < end * TILE_CELLS; ++i) {
        int id = w->body.solid[a][i];
        float closed = 1.0f - w->solid.face_open.at[a][i];
        if (id == SOLID_NONE || id < first || !(closed > 0.0f)) {
            continue;
        }
        int at[AXES];
        tile_cell_at(&w->state->map, (tile_ix)(i / TILE_CELLS), (int)(i % TILE_CELLS), at);
        vec3 x = face_place(w->setup->domain, a, at);
        double share = (double)w->body.shut.at[a][i] / (double)closed;
        w->solid.face_u.at[a][i] = (float)(share * body_face_speed(&w->bodies[id - first], x, a));
    }
}

void liquid_hold_bodies(liquid_work* w) {
    for (int a = 0; a < AXES && w->setup->bodies.count > 0; ++a) {
        if (w->setup->domain->is_active[a]) {
            hold_job job = {w, a};
            parallel_for(w->ctx, w->state->map.count, 8, hold_tiles, &job);
        }
    }
}

void liquid_note_bodies(liquid_work* w) {
    for (int i = 0; i < w->body.flow.count; ++i) {
        body_motion motion = body_motion_of(&w->bodies[i], w->setup->domain->h);
        memcpy(w->body.flow.at[i].before, motion.at, sizeof(motion.at));
        memcpy(w->body.flow.at[i].after, motion.at, sizeof(motion.at));
    }
}

void liquid_take_bodies(liquid_work* w) {
    for (int i = 0; i < w->body.flow.count; ++i) {
        body_motion motion;
        memcpy(motion.at, w->body.flow.at[i].after, sizeof(motion.at));
        body_set_motion(&w->bodies[i], &motion, w->setup->domain->h);
    }
}

void liquid_drag_bodies(liquid_work* w, const double* x) {
    double h = w->setup->domain->h;
    projection_body_impulses(&w->projection, x, (double(*)[BODY_MOTIONS])w->body.impulse);
    for (int i = 0; i < w->setup->bodies.count; ++i) {
        body_motion motion = body_motion_of(&w->bodies[i], h);
        double change[BODY_MOTIONS];
        six_multiply((const double(*)[BODY_MOTIONS])w->body.rows[i].inverse_mass,
                     w->body.impulse[i].at, change);
        for (int n = 0; n < BODY_MOTIONS; ++n) {
            motion.at[n] += change[n];
        }
        body_set_motion(&w->bodies[i], &motion, h);
    }
}
