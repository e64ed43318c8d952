#include "mesh/mesh_room.h"

#include <math.h>

#include "base/alloc.h"

enum { AXIS_COUNT = 3 };

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

treacle_status mesh_room_states(treacle_context* ctx, const treacle_frame* frame, int body_count,
                                const double* out[2]) {
    static const char* const names[2] = {"body_start", "body_state"};
    for (int i = 0; i < 2; ++i) {
        const treacle_array* found = treacle_frame_find(frame, names[i]);
        bool is_alike = found != NULL && found->type == TREACLE_TYPE_F64 &&
                        found->components == SOLID_STATE_DOUBLES && found->count == body_count;
        out[i] = is_alike ? found->data : NULL;
        if (body_count > 0 && !is_alike) {
            return check_fail(ctx, TREACLE_ERR_FORMAT,
                              "frame %lld has not the array %s of the scene's %d bodies; was it "
                              "made from another scene, or by an older program?",
                              (long long)frame->number, names[i], body_count);
        }
    }
    return TREACLE_OK;
}

// What the solids of a room are made from.
typedef struct room_cast {
    const treacle_mesh_room* room;
    const double* states[2];
    double time;
} room_cast;

static treacle_status add_solid(mesh_room* r, const room_cast* cast, int index) {
    const treacle_mesh_room* room = cast->room;
    int body = index - room->solid_count;
    const treacle_shape* def = body < 0 ? room->solids[index].shape : room->bodies[body].shape;
    room_solid* s = &r->solids[r->solid_count];
    *s = (room_solid){0};
    if (body < 0) {
        s->at = solid_place_scripted(&room->solids[index], cast->time);
        s->is_inside_out = room->solids[index].inside_out;
    } else {
        ptrdiff_t first = (ptrdiff_t)SOLID_STATE_DOUBLES * body;
        s->at = solid_place_of_body(cast->states[0] + first, cast->states[1] + first, 0.0);
    }
    TREACLE_TRY(shape_create_at(r->ctx, def, r->flat_axis, cast->time, &s->shape));
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
    room_cast cast = {.room = room, .time = frame->time};
    treacle_status status = mesh_room_states(ctx, frame, room->body_count, cast.states);
    for (int i = 0; i < solids && status == TREACLE_OK; ++i) {
        status = add_solid(out, &cast, i);
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
    double distance = shape_distance(s->shape, solid_place_invert(&s->at, world)) / r->cell;
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
