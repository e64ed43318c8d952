#include "render/trace_shape.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/parallel.h"
#include "geometry/mesh_sequence.h"
#include "geometry/shape.h"
#include "geometry/triangle_mesh.h"
#include "math/mat3.h"
#include "mesh/contour.h"

enum { AXIS_COUNT = 3, BLOCK_GRAIN = 4, ROUND = 96, SMOOTH_FROM = 400 };

static const double pi = 3.14159265358979323846;
static const double long_ago = -1e9; // s: parts of a shape do not change, the first mesh counts

// A surface of revolution about y: points (radius, height) of its outline with their normals, from
// the top down. Where the outline has a corner, two points share a place.
typedef struct outline {
    int count;
    double at[2 * ROUND + 8][2];
    double normal[2 * ROUND + 8][2];
} outline;

static void add_point(outline* o, double r, double y, double nr, double ny) {
    o->at[o->count][0] = r;
    o->at[o->count][1] = y;
    o->normal[o->count][0] = nr;
    o->normal[o->count][1] = ny;
    o->count += 1;
}

// A part of a circle about (r, y), from angle `from` to `to`, measured from y towards r.
static void add_arc(outline* o, const double centre[2], double radius, double from, double to) {
    int steps = (int)ceil(ROUND * fabs(to - from) / (2.0 * pi));
    for (int i = 0; i <= steps; ++i) {
        double angle = from + (to - from) * i / steps, s = sin(angle), c = cos(angle);
        add_point(o, fmax(centre[0] + radius * s, 0.0), centre[1] + radius * c, s, c);
    }
}

static void draw_outline(const treacle_shape* def, outline* o) {
    double r = def->radius, h = 0.5 * def->height;
    const double middle[2] = {0.0, 0.0}, top[2] = {0.0, h}, bottom[2] = {0.0, -h};
    const double ring[2] = {r, 0.0};
    o->count = 0;
    switch (def->kind) {
    case TREACLE_SHAPE_CYLINDER:
        add_point(o, 0.0, h, 0.0, 1.0);
        add_point(o, r, h, 0.0, 1.0);
        add_point(o, r, h, 1.0, 0.0);
        add_point(o, r, -h, 1.0, 0.0);
        add_point(o, r, -h, 0.0, -1.0);
        add_point(o, 0.0, -h, 0.0, -1.0);
        return;
    case TREACLE_SHAPE_CAPSULE:
        add_arc(o, top, r, 0.0, 0.5 * pi);
        add_arc(o, bottom, r, 0.5 * pi, pi);
        return;
    case TREACLE_SHAPE_TORUS:
        add_arc(o, ring, def->thickness, 0.0, 2.0 * pi);
        return;
    default:
        add_arc(o, middle, r, 0.0, pi);
        return;
    }
}

static void set_vertex(surface_mesh* m, int64_t v, vec3 place, vec3 normal) {
    for (int k = 0; k < AXIS_COUNT; ++k) {
        m->place[v][k] = (float)place.at[k];
        m->normal[v][k] = (float)normal.at[k];
    }
}

static void set_triangle(surface_mesh* m, int64_t t, int64_t a, int64_t b, int64_t c) {
    m->triangle[t][0] = (int32_t)a;
    m->triangle[t][1] = (int32_t)b;
    m->triangle[t][2] = (int32_t)c;
}

static treacle_status revolve(treacle_context* ctx, const treacle_shape* def, surface_mesh* out) {
    outline o;
    draw_outline(def, &o);
    int64_t t = 0;
    TREACLE_TRY(surface_mesh_create(ctx, (int64_t)o.count * (ROUND + 1),
                                    2 * (int64_t)(o.count - 1) * ROUND, out));
    for (int i = 0; i < o.count; ++i) {
        for (int j = 0; j <= ROUND; ++j) {
            double angle = 2.0 * pi * (j % ROUND) / ROUND, c = cos(angle), s = sin(angle);
            set_vertex(out, (int64_t)i * (ROUND + 1) + j,
                       vec3_make(o.at[i][0] * c, o.at[i][1], o.at[i][0] * s),
                       vec3_make(o.normal[i][0] * c, o.normal[i][1], o.normal[i][0] * s));
        }
    }
    for (int i = 0; i + 1 < o.count; ++i) {
        for (int j = 0; j < ROUND; ++j) {
            int64_t a = (int64_t)i * (ROUND + 1) + j, b = a + ROUND + 1;
            set_triangle(out, t++, a, a + 1, b);
            set_triangle(out, t++, b, a + 1, b + 1);
        }
    }
    return TREACLE_OK;
}

static treacle_status draw_box(treacle_context* ctx, const treacle_shape* def, surface_mesh* out) {
    TREACLE_TRY(surface_mesh_create(ctx, 24, 12, out));
    for (int side = 0; side < 6; ++side) {
        int axis = side / 2, u = (axis + 1) % AXIS_COUNT, v = (axis + 2) % AXIS_COUNT;
        double sign = side % 2 == 0 ? -1.0 : 1.0;
        vec3 normal = vec3_make(0.0, 0.0, 0.0);
        normal.at[axis] = sign;
        for (int c = 0; c < 4; ++c) {
            vec3 p;
            p.at[axis] = 0.5 * sign * def->size[axis];
            p.at[u] = (c == 1 || c == 2 ? 0.5 : -0.5) * def->size[u];
            p.at[v] = (c >= 2 ? 0.5 : -0.5) * sign * def->size[v];
            set_vertex(out, 4 * side + c, p, normal);
        }
        set_triangle(out, 2 * side, 4 * side, 4 * side + 1, 4 * side + 2);
        set_triangle(out, 2 * side + 1, 4 * side, 4 * side + 2, 4 * side + 3);
    }
    return TREACLE_OK;
}

// With few triangles every corner is one: each triangle has vertices of its own.
static treacle_status copy_flat(treacle_context* ctx, const triangle_mesh* from,
                                surface_mesh* out) {
    TREACLE_TRY(
        surface_mesh_create(ctx, 3 * (int64_t)from->triangle_count, from->triangle_count, out));
    for (int32_t t = 0; t < from->triangle_count; ++t) {
        vec3 a = triangle_mesh_corner(from, t, 0), b = triangle_mesh_corner(from, t, 1);
        vec3 c = triangle_mesh_corner(from, t, 2);
        vec3 normal = vec3_normalise(vec3_cross(vec3_sub(b, a), vec3_sub(c, a)));
        set_vertex(out, 3 * (int64_t)t, a, normal);
        set_vertex(out, 3 * (int64_t)t + 1, b, normal);
        set_vertex(out, 3 * (int64_t)t + 2, c, normal);
        set_triangle(out, t, 3 * (int64_t)t, 3 * (int64_t)t + 1, 3 * (int64_t)t + 2);
    }
    return TREACLE_OK;
}

static treacle_status copy_smooth(treacle_context* ctx, const triangle_mesh* from,
                                  surface_mesh* out) {
    TREACLE_TRY(surface_mesh_create(ctx, from->vertex_count, from->triangle_count, out));
    for (int32_t v = 0; v < from->vertex_count; ++v) {
        set_vertex(out, v, from->vertices[v], vec3_make(0.0, 0.0, 0.0));
    }
    for (int32_t t = 0; t < from->triangle_count; ++t) {
        const int32_t* at = from->triangles[t].at;
        set_triangle(out, t, at[0], at[1], at[2]);
    }
    treacle_status status = surface_mesh_normals(out);
    if (status != TREACLE_OK) {
        surface_mesh_destroy(out);
    }
    return status;
}

static treacle_status copy_sequence(const mesh_sequence* seq, double time, surface_mesh* out) {
    triangle_mesh* first = seq->first;
    size_t vertices = (size_t)first->vertex_count;
    void* block = NULL;
    TREACLE_TRY(alloc_array(seq->ctx, vertices, sizeof(vec3), "a mesh that moves", &block));
    mesh_sequence_places(seq, mesh_sequence_frame(seq, time), block);
    triangle_mesh now = *first;
    now.vertices = block;
    treacle_status status = copy_smooth(seq->ctx, &now, out);
    alloc_free(seq->ctx, block, vertices * sizeof(vec3));
    return status;
}

static treacle_status load_sequence(treacle_context* ctx, const treacle_shape* def, double time,
                                    surface_mesh* out) {
    mesh_sequence* seq = NULL;
    TREACLE_TRY(mesh_sequence_load(ctx, def->file, &def->frames, &seq));
    treacle_status status = copy_sequence(seq, time, out);
    mesh_sequence_destroy(seq);
    return status;
}

static treacle_status trace_shape_load(treacle_context* ctx, const treacle_shape* def, double time,
                                       surface_mesh* out) {
    if (def->frames.fps > 0.0) {
        return load_sequence(ctx, def, time, out);
    }
    triangle_mesh* mesh = NULL;
    TREACLE_TRY(triangle_mesh_load(ctx, def->file, &mesh));
    treacle_status status = mesh->triangle_count < SMOOTH_FROM ? copy_flat(ctx, mesh, out)
                                                               : copy_smooth(ctx, mesh, out);
    triangle_mesh_destroy(mesh);
    return status;
}

// From the frame of a part to that of the whole.
static void place_part(const treacle_shape* def, surface_mesh* m) {
    mat3 rotate = mat3_rotation(def->rotate);
    for (int64_t v = 0; v < m->vertex_count; ++v) {
        vec3 p = vec3_make((double)m->place[v][0], (double)m->place[v][1], (double)m->place[v][2]);
        vec3 n =
            vec3_make((double)m->normal[v][0], (double)m->normal[v][1], (double)m->normal[v][2]);
        p = vec3_add(vec3_from(def->move), mat3_apply(&rotate, vec3_scale(def->scale, p)));
        set_vertex(m, v, p, mat3_apply(&rotate, n));
    }
}

// Set operations ----------------------------------------------------------------------------------

typedef struct shape_job {
    const shape* s;
    mesh_blocks* blocks;
    box3 box; // what of the shape is drawn
    const trace_shape_room* room;
    surface_mesh* mesh;
} shape_job;

static double box_distance(const box3* box, vec3 x) {
    double out = -INFINITY;
    for (int k = 0; k < AXIS_COUNT; ++k) {
        out = fmax(out, fmax(box->low.at[k] - x.at[k], x.at[k] - box->high.at[k]));
    }
    return out;
}

static double trace_shape_distance_at(const shape_job* job, vec3 x) {
    double of_box = box_distance(&job->box, x);
    if (job->room->flat_axis >= 0) {
        x.at[job->room->flat_axis] = job->room->middle.at[job->room->flat_axis];
    }
    return fmax(shape_distance(job->s, x), of_box);
}

static vec3 sample_place(const mesh_blocks* b, int64_t block, double x, double y, double z) {
    const double local[3] = {x, y, z};
    vec3 out;
    for (int k = 0; k < AXIS_COUNT; ++k) {
        out.at[k] = b->step * ((double)BLOCK_SIDE * b->at[block][k] + local[k]);
    }
    return out;
}

// A block that the surface cannot reach is of one sign: distances are never too large.
static void trace_shape_fill(void* data, int64_t begin, int64_t end) {
    const shape_job* job = data;
    mesh_blocks* b = job->blocks;
    for (int64_t i = begin; i < end; ++i) {
        double middle = trace_shape_distance_at(job, sample_place(b, i, 3.5, 3.5, 3.5));
        bool is_far = fabs(middle) > 8.0 * b->step; // half the diagonal is 6.1, and one to spare
        for (int s = 0; s < BLOCK_SAMPLES; ++s) {
            int x = s % BLOCK_SIDE, y = s / BLOCK_SIDE % BLOCK_SIDE, z = s / 64;
            double distance =
                is_far ? middle : trace_shape_distance_at(job, sample_place(b, i, x, y, z));
            b->value[BLOCK_SAMPLES * i + s] = (float)(-distance / b->step);
        }
    }
}

// Vertices onto the surface, with its own normals: flat faces stay flat up to their edges.
static void sharpen(void* data, int64_t begin, int64_t end) {
    const shape_job* job = data;
    double h = 0.02 * job->blocks->step;
    for (int64_t v = begin; v < end; ++v) {
        const float* from = job->mesh->place[v];
        vec3 x = vec3_make((double)from[0], (double)from[1], (double)from[2]), n;
        for (int k = 0; k < AXIS_COUNT; ++k) {
            vec3 low = x, high = x;
            low.at[k] -= h;
            high.at[k] += h;
            n.at[k] = trace_shape_distance_at(job, high) - trace_shape_distance_at(job, low);
        }
        n = vec3_normalise(n);
        set_vertex(job->mesh, v, vec3_add_scaled(x, -trace_shape_distance_at(job, x), n), n);
    }
}

static treacle_status contour_blocks(treacle_context* ctx, shape_job* job, surface_mesh* out) {
    contour_table table;
    if (!contour_table_make(&table)) {
        return check_fail(ctx, TREACLE_ERR_INTERNAL, "the table of cubes cannot be made");
    }
    parallel_for(ctx, job->blocks->count, BLOCK_GRAIN, trace_shape_fill, job);
    TREACLE_TRY(contour_mesh(job->blocks, &table, 0.0f, out));
    job->mesh = out;
    parallel_for(ctx, out->vertex_count, 512, sharpen, job);
    return TREACLE_OK;
}

static treacle_status contour_shape(treacle_context* ctx, const shape* s,
                                    const trace_shape_room* room, surface_mesh* out) {
    const box3* box = &room->box;
    double extent = 0.0;
    for (int k = 0; k < AXIS_COUNT; ++k) {
        extent = fmax(extent, box->high.at[k] - box->low.at[k]);
    }
    double step = extent / room->samples;
    block_list list = {.ctx = ctx};
    mesh_blocks blocks = {0};
    if (box3_is_empty(*box) || !(step > 0.0)) {
        return surface_mesh_create(ctx, 0, 0, out);
    }
    treacle_status status = block_list_add(&list, step, box->low.at, box->high.at);
    if (status == TREACLE_OK) {
        status = mesh_blocks_create(&list, step, -1.0f, &blocks);
    }
    if (status == TREACLE_OK) {
        shape_job job = {.s = s, .blocks = &blocks, .box = *box, .room = room};
        status = contour_blocks(ctx, &job, out);
    }
    mesh_blocks_destroy(&blocks);
    block_list_destroy(&list);
    return status;
}

static treacle_status contour(treacle_context* ctx, const treacle_shape* def,
                              const trace_shape_room* room, surface_mesh* out) {
    trace_shape_room part = *room;
    const box3* limit = &room->box;
    shape* s = NULL;
    TREACLE_TRY(shape_create_silent(ctx, def, &s));
    box3 bounds = shape_bounds(s);
    for (int k = 0; k < AXIS_COUNT; ++k) {
        double low = bounds.low.at[k], high = bounds.high.at[k];
        bool is_whole = isfinite(low) && isfinite(high) && k != room->flat_axis;
        part.box.low.at[k] = is_whole ? low : fmax(low, limit->low.at[k]);
        part.box.high.at[k] = is_whole ? high : fmin(high, limit->high.at[k]);
    }
    if (room->flat_axis >= 0) {
        part.box.low.at[room->flat_axis] = limit->low.at[room->flat_axis];
        part.box.high.at[room->flat_axis] = limit->high.at[room->flat_axis];
    }
    treacle_status status = contour_shape(ctx, s, &part, out);
    shape_destroy(s);
    return status;
}

static treacle_status append(surface_mesh* whole, const surface_mesh* part) {
    surface_mesh sum;
    TREACLE_TRY(surface_mesh_create(part->ctx, whole->vertex_count + part->vertex_count,
                                    whole->triangle_count + part->triangle_count, &sum));
    const surface_mesh* parts[2] = {whole, part};
    int64_t v = 0, t = 0;
    for (int i = 0; i < 2; ++i) {
        const surface_mesh* p = parts[i];
        for (int64_t k = 0; k < p->triangle_count; ++k) {
            set_triangle(&sum, t + k, v + p->triangle[k][0], v + p->triangle[k][1],
                         v + p->triangle[k][2]);
        }
        for (int64_t k = 0; k < p->vertex_count; ++k) {
            memcpy(sum.place[v + k], p->place[k], sizeof(sum.place[0]));
            memcpy(sum.normal[v + k], p->normal[k], sizeof(sum.normal[0]));
        }
        v += p->vertex_count;
        t += p->triangle_count;
    }
    surface_mesh_destroy(whole);
    *whole = sum;
    return TREACLE_OK;
}

static bool is_bounded(const treacle_shape* def) {
    bool is = def->kind != TREACLE_SHAPE_PLANE;
    for (int i = 0; def->kind == TREACLE_SHAPE_UNION && i < def->child_count; ++i) {
        is = is && is_bounded(&def->children[i]);
    }
    return is;
}

static treacle_status join(treacle_context* ctx, const treacle_shape* def,
                           const trace_shape_room* room, surface_mesh* out) {
    treacle_status status = surface_mesh_create(ctx, 0, 0, out);
    for (int i = 0; i < def->child_count && status == TREACLE_OK; ++i) {
        surface_mesh part = {0};
        status = trace_shape_mesh(ctx, &def->children[i], room, long_ago, &part);
        if (status == TREACLE_OK) {
            status = append(out, &part);
        }
        surface_mesh_destroy(&part);
    }
    if (status != TREACLE_OK) {
        surface_mesh_destroy(out);
    }
    return status;
}

treacle_status trace_shape_mesh(treacle_context* ctx, const treacle_shape* def,
                                const trace_shape_room* room, double time, surface_mesh* out) {
    TREACLE_ASSERT(room->flat_axis >= -1 && room->flat_axis < 3);
    TREACLE_ASSERT(!box3_is_empty(room->box));
    *out = (surface_mesh){0};
    if (room->flat_axis >= 0) {
        return contour(ctx, def, room, out);
    }
    switch (def->kind) {
    case TREACLE_SHAPE_BOX:
        TREACLE_TRY(draw_box(ctx, def, out));
        break;
    case TREACLE_SHAPE_MESH:
        TREACLE_TRY(trace_shape_load(ctx, def, time, out));
        break;
    case TREACLE_SHAPE_UNION:
        if (!is_bounded(def)) {
            return contour(ctx, def, room, out);
        }
        TREACLE_TRY(join(ctx, def, room, out));
        break;
    case TREACLE_SHAPE_PLANE:
    case TREACLE_SHAPE_INTERSECTION:
    case TREACLE_SHAPE_DIFFERENCE:
        return contour(ctx, def, room, out); // in the world already
    default:
        TREACLE_TRY(revolve(ctx, def, out));
        break;
    }
    place_part(def, out);
    return TREACLE_OK;
}
