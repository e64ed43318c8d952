#include "render/trace_solid.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "math/curve.h"
#include "math/mat3.h"
#include "render/trace_flat.h"

enum { AXIS_COUNT = 3, STATE_DOUBLES = 13 };

// Where a solid is: b of its shape is at place + rotate (b - pivot).
typedef struct pose {
    vec3 pivot, place;
    mat3 rotate;
} pose;

static vec3 trace_solid_place_of(const pose* p, vec3 b) {
    return vec3_add(p->place, mat3_apply(&p->rotate, vec3_sub(b, p->pivot)));
}

static vec3 curve_or_zero(const treacle_curve* curve, double time) {
    vec3 out = vec3_make(0.0, 0.0, 0.0);
    if (curve->count > 0) {
        curve_eval(curve, time, out.at);
    }
    return out;
}

// As treacle_solid_def says.
static pose scripted_pose(const treacle_solid_def* def, double time) {
    vec3 pivot = vec3_from(def->pivot), turn = curve_or_zero(&def->rotation, time);
    vec3 move =
        vec3_add_scaled(curve_or_zero(&def->position, time), time, vec3_from(def->velocity));
    mat3 rotation = mat3_rotation(turn.at);
    mat3 spun = mat3_rotation_about(vec3_scale(time, vec3_from(def->spin)));
    return (pose){pivot, vec3_add(pivot, move), mat3_multiply(&spun, &rotation)};
}

static mat3 rotation_of(const double q[4]) {
    double w = q[0], x = q[1], y = q[2], z = q[3];
    return (mat3){{{1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)},
                   {2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)},
                   {2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)}}};
}

// States are place, quaternion, velocity and spin, as docs/formats/frame.md has them.
static pose body_pose_at(const double* start, const double* state, double later) {
    vec3 turn = vec3_scale(later, vec3_from(state + 10));
    mat3 now = rotation_of(state + 3), on = mat3_rotation_about(turn);
    return (pose){vec3_from(start), vec3_add_scaled(vec3_from(state), later, vec3_from(state + 7)),
                  mat3_multiply(&on, &now)};
}

// What the poses of one solid are found from.
typedef struct mover {
    const treacle_solid_def* solid; // NULL: a body
    const double *start, *state;
    double time;
} mover;

static pose pose_at(const mover* m, double later) {
    return m->solid != NULL ? scripted_pose(m->solid, m->time + later)
                            : body_pose_at(m->start, m->state, later);
}

static void turn_inside_out(surface_mesh* m) {
    for (int64_t t = 0; t < m->triangle_count; ++t) {
        int32_t swap = m->triangle[t][1];
        m->triangle[t][1] = m->triangle[t][2];
        m->triangle[t][2] = swap;
    }
    for (int64_t v = 0; v < m->vertex_count; ++v) {
        for (int k = 0; k < AXIS_COUNT; ++k) {
            m->normal[v][k] = -m->normal[v][k];
        }
    }
}

// From the shape's frame to the world; velocities by differences.
static treacle_status place_solid(const mover* how, solid_mesh* s) {
    const double apart = 1e-4; // s
    surface_mesh* m = &s->mesh;
    void* block = NULL;
    TREACLE_TRY(alloc_array(m->ctx, (size_t)m->vertex_count, sizeof(*s->velocity),
                            "velocities of a solid", &block));
    s->velocity = block;
    pose now = pose_at(how, 0.0), before = pose_at(how, -apart), after = pose_at(how, apart);
    for (int64_t v = 0; v < m->vertex_count; ++v) {
        const float *x = m->place[v], *y = m->normal[v];
        vec3 b = vec3_make((double)x[0], (double)x[1], (double)x[2]),
             at = trace_solid_place_of(&now, b);
        vec3 normal = mat3_apply(&now.rotate, vec3_make((double)y[0], (double)y[1], (double)y[2]));
        vec3 way = vec3_sub(trace_solid_place_of(&after, b), trace_solid_place_of(&before, b));
        for (int k = 0; k < AXIS_COUNT; ++k) {
            m->place[v][k] = (float)at.at[k];
            m->normal[v][k] = (float)normal.at[k];
            s->velocity[v][k] = (float)(way.at[k] / (2.0 * apart));
        }
    }
    return TREACLE_OK;
}

static treacle_status find_states(treacle_context* ctx, const solid_cast* def,
                                  const treacle_frame* frame, const double* out[2]) {
    static const char* const names[2] = {"body_start", "body_state"};
    for (int i = 0; i < 2; ++i) {
        const treacle_array* found = treacle_frame_find(frame, names[i]);
        out[i] = found == NULL ? NULL : found->data;
        bool is_alike = found != NULL && found->type == TREACLE_TYPE_F64 &&
                        found->components == STATE_DOUBLES && found->count == def->body_count;
        if (def->body_count > 0 && !is_alike) {
            return check_fail(ctx, TREACLE_ERR_FORMAT,
                              "frame %lld has not the array %s of the scene's %d bodies; was it "
                              "made from another scene, or by an older program?",
                              (long long)frame->number, names[i], def->body_count);
        }
    }
    return TREACLE_OK;
}

// Solids of flat domains reach a little out of the liquid.
trace_shape_room solid_room(const treacle_frame* frame, int samples) {
    trace_flat flat = trace_flat_of(frame);
    trace_shape_room out = {.flat_axis = flat.axis, .samples = samples};
    for (int k = 0; k < AXIS_COUNT; ++k) {
        double range[2] = {frame->origin[k], frame->origin[k] + frame->cell * frame->cells[k]};
        out.middle.at[k] = 0.5 * (range[0] + range[1]);
        if (k == flat.axis) {
            trace_flat_range(flat, frame, 0.3, range);
        }
        out.box.low.at[k] = range[0];
        out.box.high.at[k] = range[1];
    }
    return out;
}

static treacle_status make_all(solid_meshes* out, const solid_cast* def,
                               const treacle_frame* frame) {
    const double* states[2];
    TREACLE_TRY(find_states(out->ctx, def, frame, states));
    trace_shape_room room = solid_room(frame, def->samples);
    for (int i = 0; i < out->count; ++i) {
        int body = i - def->solid_count;
        mover m = {.time = frame->time};
        if (def->is_hidden != NULL && def->is_hidden[i] != 0) {
            continue;
        }
        if (body < 0) {
            m.solid = &def->solids[i];
        } else {
            m.start = states[0] + (ptrdiff_t)STATE_DOUBLES * body;
            m.state = states[1] + (ptrdiff_t)STATE_DOUBLES * body;
        }
        const treacle_shape* shape = body < 0 ? def->solids[i].shape : def->bodies[body].shape;
        solid_mesh* s = &out->solids[i];
        TREACLE_TRY(trace_shape_mesh(out->ctx, shape, &room, frame->time, &s->mesh));
        s->is_container = body < 0 && def->solids[i].inside_out;
        if (s->is_container) {
            turn_inside_out(&s->mesh);
        }
        TREACLE_TRY(place_solid(&m, s));
    }
    return TREACLE_OK;
}

treacle_status solid_meshes_create(treacle_context* ctx, const solid_cast* cast,
                                   const treacle_frame* frame, solid_meshes* out) {
    void* block = NULL;
    int count = cast->solid_count + cast->body_count;
    *out = (solid_meshes){0};
    TREACLE_TRY(alloc_zero(ctx, (size_t)count, sizeof(solid_mesh), "solids", &block));
    *out = (solid_meshes){ctx, count, block};
    return make_all(out, cast, frame);
}

void solid_meshes_destroy(solid_meshes* s) {
    for (int i = 0; i < s->count; ++i) {
        solid_mesh* m = &s->solids[i];
        if (m->velocity != NULL) {
            alloc_free(s->ctx, m->velocity, (size_t)m->mesh.vertex_count * sizeof(*m->velocity));
        }
        surface_mesh_destroy(&m->mesh);
    }
    if (s->ctx != NULL) {
        alloc_free(s->ctx, s->solids, (size_t)s->count * sizeof(solid_mesh));
    }
    *s = (solid_meshes){0};
}
