#include "render/trace_solid.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "geometry/solid_place.h"
#include "math/curve.h"
#include "mesh/mesh_room.h"
#include "render/trace_flat.h"

enum { AXIS_COUNT = 3 };

// What the places of one solid are found from.
typedef struct mover {
    const treacle_solid_def* solid; // NULL: a body
    const double *start, *state;
    double time;
} mover;

static solid_place place_at(const mover* m, double later) {
    return m->solid != NULL ? solid_place_scripted(m->solid, m->time + later)
                            : solid_place_of_body(m->start, m->state, later);
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
    solid_place now = place_at(how, 0.0), before = place_at(how, -apart),
                after = place_at(how, apart);
    for (int64_t v = 0; v < m->vertex_count; ++v) {
        const float *x = m->place[v], *y = m->normal[v];
        vec3 b = vec3_make((double)x[0], (double)x[1], (double)x[2]),
             at = solid_place_apply(&now, b);
        vec3 normal = mat3_apply(&now.rotate, vec3_make((double)y[0], (double)y[1], (double)y[2]));
        vec3 way = vec3_sub(solid_place_apply(&after, b), solid_place_apply(&before, b));
        for (int k = 0; k < AXIS_COUNT; ++k) {
            m->place[v][k] = (float)at.at[k];
            m->normal[v][k] = (float)normal.at[k];
            s->velocity[v][k] = (float)(way.at[k] / (2.0 * apart));
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
    TREACLE_TRY(mesh_room_states(out->ctx, frame, def->body_count, states));
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
            m.start = states[0] + (ptrdiff_t)SOLID_STATE_DOUBLES * body;
            m.state = states[1] + (ptrdiff_t)SOLID_STATE_DOUBLES * body;
        }
        const treacle_shape* form = body < 0 ? def->solids[i].shape : def->bodies[body].shape;
        solid_mesh* s = &out->solids[i];
        TREACLE_TRY(trace_shape_mesh(out->ctx, form, &room, frame->time, &s->mesh));
        s->is_container = body < 0 && def->solids[i].inside_out;
        if (s->is_container) {
            turn_inside_out(&s->mesh);
        }
        TREACLE_TRY(place_solid(&m, s));
    }
    return TREACLE_OK;
}

treacle_status emitter_mesh_create(treacle_context* ctx, const treacle_emitter_def* e,
                                   const treacle_frame* frame, int samples, surface_mesh* out) {
    double move[AXIS_COUNT] = {0.0, 0.0, 0.0};
    if (e->position.count > 0) {
        curve_eval(&e->position, frame->time, move);
    }
    trace_shape_room room = solid_room(frame, samples);
    TREACLE_TRY(trace_shape_mesh(ctx, e->shape, &room, frame->time, out));
    for (int64_t v = 0; v < out->vertex_count; ++v) {
        for (int k = 0; k < AXIS_COUNT; ++k) {
            out->place[v][k] += (float)move[k];
        }
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
