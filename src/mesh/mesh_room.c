#include "mesh/mesh_room.h"

#include <math.h>

#include "base/alloc.h"
#include "math/curve.h"

enum { AXIS_COUNT = 3, STATE_DOUBLES = 13 };

treacle_mesh_room treacle_mesh_room_of(const treacle_sim_def* sim) {
    treacle_mesh_room out = {.solid_count = sim->solid_count,
                             .solids = sim->solids,
                             .body_count = sim->body_count,
                             .bodies = sim->bodies};
    for (int k = 0; k < AXIS_COUNT; ++k) {
        for (int side = 0; side < 2; ++side) {
            treacle_side is = sim->domain.sides[k][side];
            out.is_closed[k][side] = is == TREACLE_SIDE_SLIP || is == TREACLE_SIDE_NO_SLIP;
        }
    }
    return out;
}

static void add_planes(mesh_room* r, const treacle_frame* frame, const treacle_mesh_def* def) {
    for (int k = 0; k < AXIS_COUNT; ++k) {
        double low = 0.0, high = (double)frame->cells[k];
        bool is_flat = frame->cells[k] == 1;
        if (is_flat) {
            r->flat_axis = k;
            low = 0.5 - 0.5 * def->flat_cells;
            high = 0.5 + 0.5 * def->flat_cells;
        }
        if (is_flat || def->room.is_closed[k][0]) {
            r->planes[r->plane_count++] = (room_plane){k, low, 1.0};
        }
        if (is_flat || def->room.is_closed[k][1]) {
            r->planes[r->plane_count++] = (room_plane){k, high, -1.0};
        }
    }
}

static vec3 curve_or_zero(const treacle_curve* curve, double time) {
    vec3 out = vec3_make(0.0, 0.0, 0.0);
    if (curve->count > 0) {
        curve_eval(curve, time, out.at);
    }
    return out;
}

// As treacle_solid_def says.
static void pose_solid(const treacle_solid_def* def, double time, room_solid* out) {
    vec3 turn = curve_or_zero(&def->rotation, time);
    vec3 move =
        vec3_add_scaled(curve_or_zero(&def->position, time), time, vec3_from(def->velocity));
    mat3 rotation = mat3_rotation(turn.at);
    mat3 spun = mat3_rotation_about(vec3_scale(time, vec3_from(def->spin)));
    out->pivot = vec3_from(def->pivot);
    out->place = vec3_add(out->pivot, move);
    out->rotate = mat3_multiply(&spun, &rotation);
    out->is_inside_out = def->inside_out;
}

static mat3 rotation_of(const double q[4]) {
    double w = q[0], x = q[1], y = q[2], z = q[3];
    return (mat3){{{1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)},
                   {2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)},
                   {2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)}}};
}

static const double* body_array(const treacle_frame* frame, const char* name, int count) {
    const treacle_array* found = treacle_frame_find(frame, name);
    bool is_alike = found != NULL && found->type == TREACLE_TYPE_F64 &&
                    found->components == STATE_DOUBLES && found->count == count;
    return is_alike ? found->data : NULL;
}

// States are place, quaternion, velocity and spin, as docs/formats/frame.md has them.
static treacle_status pose_body(treacle_context* ctx, const treacle_frame* frame, int count,
                                int body, room_solid* out) {
    const double* start = body_array(frame, "body_start", count);
    const double* state = body_array(frame, "body_state", count);
    if (start == NULL || state == NULL) {
        return check_fail(ctx, TREACLE_ERR_FORMAT,
                          "frame %lld has not the states of the scene's %d bodies; was it made "
                          "from another scene, or by an older program?",
                          (long long)frame->number, count);
    }
    out->pivot = vec3_from(start + (ptrdiff_t)STATE_DOUBLES * body);
    out->place = vec3_from(state + (ptrdiff_t)STATE_DOUBLES * body);
    out->rotate = rotation_of(state + (ptrdiff_t)STATE_DOUBLES * body + 3);
    return TREACLE_OK;
}

static bool is_deforming(const treacle_shape* s) {
    return s->kind == TREACLE_SHAPE_MESH && s->frames.fps > 0.0;
}

static treacle_status add_solid(mesh_room* r, const treacle_frame* frame,
                                const treacle_mesh_room* room, int index) {
    int body = index - room->solid_count;
    const treacle_shape* def = body < 0 ? room->solids[index].shape : room->bodies[body].shape;
    room_solid* s = &r->solids[r->solid_count];
    *s = (room_solid){0};
    if (is_deforming(def)) {
        return TREACLE_OK;
    }
    if (body < 0) {
        pose_solid(&room->solids[index], frame->time, s);
    } else {
        TREACLE_TRY(pose_body(r->ctx, frame, room->body_count, body, s));
    }
    TREACLE_TRY(r->flat_axis >= 0 ? shape_create_flat(r->ctx, def, r->flat_axis, &s->shape)
                                  : shape_create_silent(r->ctx, def, &s->shape));
    r->solid_count += 1;
    return TREACLE_OK;
}

treacle_status mesh_room_create(treacle_context* ctx, const treacle_frame* frame,
                                const treacle_mesh_def* def, mesh_room* out) {
    TREACLE_ASSERT(frame->cell > 0.0);
    const treacle_mesh_room* room = &def->room;
    *out = (mesh_room){
        .ctx = ctx, .origin = vec3_from(frame->origin), .cell = frame->cell, .flat_axis = -1};
    add_planes(out, frame, def);
    int solids = room->solid_count + room->body_count;
    void* block = NULL;
    TREACLE_TRY(alloc_zero(ctx, (size_t)solids, sizeof(room_solid), "solids of a mesh", &block));
    out->solids = block;
    out->solid_capacity = solids;
    treacle_status status = TREACLE_OK;
    for (int i = 0; i < solids && status == TREACLE_OK; ++i) {
        status = add_solid(out, frame, room, i);
    }
    if (status != TREACLE_OK) {
        mesh_room_destroy(out);
    }
    return status;
}

void mesh_room_destroy(mesh_room* r) {
    if (r->ctx != NULL) {
        for (int i = 0; i < r->solid_count; ++i) {
            shape_destroy(r->solids[i].shape);
        }
        alloc_free(r->ctx, r->solids, (size_t)r->solid_capacity * sizeof(room_solid));
    }
    *r = (mesh_room){0};
}

int mesh_room_count(const mesh_room* r) {
    return r->plane_count + r->solid_count;
}

static double solid_distance(const mesh_room* r, const room_solid* s, vec3 x) {
    if (r->flat_axis >= 0) {
        x.at[r->flat_axis] = 0.5;
    }
    vec3 world = vec3_add_scaled(r->origin, r->cell, x);
    vec3 own = vec3_add(s->pivot, mat3_apply_transposed(&s->rotate, vec3_sub(world, s->place)));
    double distance = shape_distance(s->shape, own) / r->cell;
    return s->is_inside_out ? -distance : distance;
}

double mesh_room_distance(const mesh_room* r, int surface, vec3 x) {
    TREACLE_ASSERT(surface >= 0 && surface < mesh_room_count(r));
    if (surface < r->plane_count) {
        const room_plane* p = &r->planes[surface];
        return p->sign * (x.at[p->axis] - p->at);
    }
    return solid_distance(r, &r->solids[surface - r->plane_count], x);
}

vec3 mesh_room_normal(const mesh_room* r, int surface, vec3 x) {
    TREACLE_ASSERT(surface >= 0 && surface < mesh_room_count(r));
    const double apart = 1e-3; // cells
    vec3 n = vec3_make(0.0, 0.0, 0.0);
    if (surface < r->plane_count) {
        n.at[r->planes[surface].axis] = r->planes[surface].sign;
        return n;
    }
    for (int k = 0; k < AXIS_COUNT; ++k) {
        vec3 low = x, high = x;
        low.at[k] -= apart;
        high.at[k] += apart;
        n.at[k] = mesh_room_distance(r, surface, high) - mesh_room_distance(r, surface, low);
    }
    return vec3_normalise(n);
}

double mesh_room_nearest(const mesh_room* r, vec3 x, int* surface) {
    double least = INFINITY;
    *surface = -1;
    for (int i = 0; i < mesh_room_count(r); ++i) {
        double distance = mesh_room_distance(r, i, x);
        *surface = distance < least ? i : *surface;
        least = fmin(least, distance);
    }
    return least;
}

bool mesh_room_is_end(const mesh_room* r, int surface) {
    return surface < r->plane_count && r->planes[surface].axis == r->flat_axis;
}
