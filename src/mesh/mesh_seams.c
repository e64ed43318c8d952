#include "mesh/mesh_seams.h"

#include <math.h>

#include "base/alloc.h"
#include "base/parallel.h"

enum {
    AXIS_COUNT = 3,
    VERTEX_GRAIN = 512,
    ROUNDS = 4,
    FREE = -1,
    NONE = -2,
    IDS = SEAM_BOUNDS + 1
};

static const double flattest = 0.2;   // sine of the angle below which two surfaces do not cross
static const double clearance = 0.03; // cells, of what is on no line
static const double preferred = 1.5;  // how much farther the preferred of two may be
static const double farthest = 1.5;   // steps that a vertex may be moved onto a line

// Fields at places
// ---------------------------------------------------------------------------------

static float corner_value(const mesh_blocks* b, int64_t block, const int at[3]) {
    int near = 0, local = 0;
    static const int near_stride[3] = {1, 3, 9}, sample_stride[3] = {1, 8, 64};
    for (int k = 0; k < AXIS_COUNT; ++k) {
        near += (at[k] >= BLOCK_SIDE ? 2 : 1) * near_stride[k];
        local += (at[k] & (BLOCK_SIDE - 1)) * sample_stride[k];
    }
    int32_t owner = b->near[block][near];
    return owner < 0 ? b->outside : b->value[(size_t)owner * BLOCK_SAMPLES + (size_t)local];
}

// The value at a place, linear between samples, and its slope. False where there are none.
static bool sample_field(const mesh_blocks* b, vec3 x, double* value, vec3* slope) {
    int32_t at[3];
    int corner[3];
    double t[3];
    for (int k = 0; k < AXIS_COUNT; ++k) {
        double u = x.at[k] / b->step - b->offset, low = floor(u);
        at[k] = (int32_t)low >> 3;
        corner[k] = (int32_t)low & (BLOCK_SIDE - 1);
        t[k] = u - low;
    }
    int32_t block = mesh_blocks_find(b, at);
    if (block < 0) {
        return false;
    }
    *value = 0.0;
    *slope = vec3_make(0.0, 0.0, 0.0);
    for (int c = 0; c < 8; ++c) {
        const int place[3] = {corner[0] + (c & 1), corner[1] + (c >> 1 & 1), corner[2] + (c >> 2)};
        double v = (double)corner_value(b, block, place), w[3];
        for (int k = 0; k < AXIS_COUNT; ++k) {
            w[k] = c >> k & 1 ? t[k] : 1.0 - t[k];
        }
        *value += v * w[0] * w[1] * w[2];
        slope->at[0] += (c & 1 ? v : -v) * w[1] * w[2] / b->step;
        slope->at[1] += (c >> 1 & 1 ? v : -v) * w[0] * w[2] / b->step;
        slope->at[2] += (c >> 2 ? v : -v) * w[0] * w[1] / b->step;
    }
    return true;
}

// What a place is off a surface, in cells, and the direction in which that grows.
static bool measure(const mesh_seams* s, const seam_field* f, int id, vec3 x, double* off,
                    vec3* normal) {
    if (id != FREE) {
        *off = mesh_room_distance(s->room, id, x);
        *normal = mesh_room_normal(s->room, id, x);
        return true;
    }
    double value = 0.0;
    vec3 slope;
    if (!sample_field(f->blocks, x, &value, &slope)) {
        return false;
    }
    double steep = fmax(vec3_length(slope), 0.1);
    *off = (value - (double)f->iso) / steep;
    *normal = vec3_normalise(slope);
    return true;
}

// Vertices onto surfaces --------------------------------------------------------------------------

static vec3 place_of(const surface_mesh* m, int64_t v) {
    const float* x = m->place[v];
    return vec3_make((double)x[0], (double)x[1], (double)x[2]);
}

static void set_place(surface_mesh* m, int64_t v, vec3 x) {
    for (int k = 0; k < AXIS_COUNT; ++k) {
        m->place[v][k] = (float)x.at[k];
    }
}

// What of a direction is across all of the others, which are of length 1 and across each other.
static vec3 across(vec3 n, int count, const vec3* others) {
    for (int i = 0; i < count; ++i) {
        n = vec3_add_scaled(n, -vec3_dot(n, others[i]), others[i]);
    }
    return n;
}

// Newton's method; each surface moves the place across the normals of those before it.
static bool onto_all(const mesh_seams* s, const seam_field* f, const int ids[IDS], vec3* x) {
    vec3 start = *x;
    for (int round = 0; round < ROUNDS; ++round) {
        vec3 axes[IDS];
        int count = 0;
        for (int i = 0; i < IDS && ids[i] != NONE; ++i) {
            double off = 0.0;
            vec3 normal;
            if (!measure(s, f, ids[i], *x, &off, &normal)) {
                return false;
            }
            vec3 way = across(normal, count, axes);
            double length = vec3_length(way);
            if (length < flattest) {
                return false;
            }
            *x = vec3_add_scaled(*x, -off / (length * length), way);
            axes[count++] = vec3_scale(1.0 / length, way);
            if (count == AXIS_COUNT) {
                break;
            }
        }
    }
    return vec3_length(vec3_sub(*x, start)) < farthest * f->blocks->step;
}

// The walls first, then the liquid's own surface.
static void ids_of(const mesh_seams* s, int64_t v, int ids[IDS]) {
    int count = 0;
    for (int i = 0; i < IDS; ++i) {
        ids[i] = NONE;
    }
    for (int i = 0; i < SEAM_BOUNDS; ++i) {
        if (s->bound[v][i] >= 0) {
            ids[count++] = s->bound[v][i];
        }
    }
    if (s->is_free[v] != 0) {
        ids[count] = FREE;
    }
}

static bool lies_on(const mesh_seams* s, int64_t v, int id) {
    bool is_on = id == FREE && s->is_free[v] != 0;
    for (int i = 0; i < SEAM_BOUNDS && id >= 0; ++i) {
        is_on = is_on || s->bound[v][i] == id;
    }
    return is_on;
}

static void lay_on(const mesh_seams* s, int64_t v, int id) {
    if (id == FREE) {
        s->is_free[v] = 1;
    }
    for (int i = 0; i < SEAM_BOUNDS && id >= 0 && !lies_on(s, v, id); ++i) {
        if (s->bound[v][i] < 0) {
            s->bound[v][i] = (int16_t)id;
        }
    }
}

typedef struct seam_job {
    const mesh_seams* s;
    const seam_field* f;
    surface_mesh* m;
    int16_t* own; // the surface that each vertex comes from
    const float (*normal)[3];
    double length;
} seam_job;

static void find_own(void* data, int64_t begin, int64_t end) {
    const seam_job* job = data;
    for (int64_t v = begin; v < end; ++v) {
        int surface = FREE;
        if (job->f->is_bound[v] != 0) {
            mesh_room_nearest(job->s->room, place_of(job->m, v), &surface);
        }
        job->own[v] = (int16_t)surface;
        job->s->is_free[v] = surface == FREE ? 1 : 0;
        for (int i = 0; i < SEAM_BOUNDS; ++i) {
            job->s->bound[v][i] = (int16_t)(i == 0 && surface != FREE ? surface : NONE);
        }
    }
}

static double distance_to(const seam_job* job, int64_t v, int id) {
    double off = INFINITY;
    vec3 normal;
    return measure(job->s, job->f, id, place_of(job->m, v), &off, &normal) ? fabs(off) : INFINITY;
}

// Of two that are about as near the one of the surface with the lower number moves: along a line
// it is then the same side, and not now one and now the other.
static void join_edge(const seam_job* job, int64_t a, int64_t b) {
    if (job->own[a] == job->own[b]) {
        return;
    }
    if (job->own[a] > job->own[b]) {
        int64_t swap = a;
        a = b;
        b = swap;
    }
    if (distance_to(job, a, job->own[b]) <= preferred * distance_to(job, b, job->own[a])) {
        lay_on(job->s, a, job->own[b]);
    } else {
        lay_on(job->s, b, job->own[a]);
    }
}

static void join_corner(const seam_job* job, const int32_t t[3]) {
    int best = -1;
    double least = INFINITY;
    for (int c = 0; c < 3; ++c) {
        double sum = 0.0;
        bool has_all = true;
        for (int i = 0; i < 3; ++i) {
            sum += i == c ? 0.0 : distance_to(job, t[c], job->own[t[i]]);
            has_all = has_all && lies_on(job->s, t[c], job->own[t[i]]);
        }
        sum = has_all ? -1.0 : sum;
        best = sum < least ? c : best;
        least = fmin(sum, least);
    }
    for (int i = 0; i < 3 && best >= 0; ++i) {
        lay_on(job->s, t[best], job->own[t[i]]);
    }
}

static void take_back(const seam_job* job, int64_t v) {
    int own = job->own[v];
    job->s->is_free[v] = own == FREE ? 1 : 0;
    for (int i = 0; i < SEAM_BOUNDS; ++i) {
        job->s->bound[v][i] = (int16_t)(i == 0 && own != FREE ? own : NONE);
    }
}

static int count_bounds(const mesh_seams* s, int64_t v) {
    return mesh_seams_bounds(s, v) + (s->is_free[v] != 0);
}

// Whether every neighbour of another surface lies on that of the vertex, too: then no line needs
// it.
static bool is_spare(const seam_job* job, const surface_fans* fans, int64_t v) {
    bool is = true;
    for (int64_t f = fans->first[v]; f < fans->first[v + 1] && is; ++f) {
        const int32_t* t = job->m->triangle[fans->list[f]];
        for (int c = 0; c < 3; ++c) {
            is = is && (job->own[t[c]] == job->own[v] || lies_on(job->s, t[c], job->own[v]));
        }
    }
    return is;
}

// A triangle with all its corners on one line would have no area.
static treacle_status spare_lines(const seam_job* job) {
    surface_fans fans;
    const surface_mesh* m = job->m;
    TREACLE_TRY(surface_fans_create(m, &fans));
    for (int64_t i = 0; i < m->triangle_count; ++i) {
        const int32_t* t = m->triangle[i];
        if (count_bounds(job->s, t[0]) < 2 || count_bounds(job->s, t[1]) < 2 ||
            count_bounds(job->s, t[2]) < 2) {
            continue;
        }
        for (int c = 0; c < 3; ++c) {
            if (count_bounds(job->s, t[c]) == 2 && is_spare(job, &fans, t[c])) {
                take_back(job, t[c]);
                break;
            }
        }
    }
    surface_fans_destroy(&fans);
    return TREACLE_OK;
}

static treacle_status join_all(const seam_job* job) {
    const surface_mesh* m = job->m;
    for (int64_t i = 0; i < m->triangle_count; ++i) {
        const int32_t* t = m->triangle[i];
        for (int c = 0; c < 3; ++c) {
            join_edge(job, t[c], t[(c + 1) % 3]);
        }
    }
    TREACLE_TRY(spare_lines(job));
    for (int64_t i = 0; i < m->triangle_count; ++i) {
        const int32_t* t = m->triangle[i];
        if (job->own[t[0]] != job->own[t[1]] && job->own[t[1]] != job->own[t[2]] &&
            job->own[t[2]] != job->own[t[0]]) {
            join_corner(job, t);
        }
    }
    return TREACLE_OK;
}

// A vertex that does not come onto all its surfaces stays on its own.
static void place_all(void* data, int64_t begin, int64_t end) {
    const seam_job* job = data;
    for (int64_t v = begin; v < end; ++v) {
        int ids[IDS];
        ids_of(job->s, v, ids);
        vec3 x = place_of(job->m, v);
        if (ids[0] == FREE) {
            continue;
        }
        if (!onto_all(job->s, job->f, ids, &x)) {
            int own = job->own[v];
            const int one[IDS] = {own, NONE, NONE, NONE};
            x = place_of(job->m, v);
            take_back(job, v);
            if (own != FREE) {
                onto_all(job->s, job->f, one, &x);
            }
        }
        set_place(job->m, v, x);
    }
}

static treacle_status allocate(mesh_seams* s) {
    void* block = NULL;
    size_t count = (size_t)s->count;
    TREACLE_TRY(alloc_array(s->ctx, count, 1, "seams", &block));
    s->is_free = block;
    TREACLE_TRY(alloc_array(s->ctx, count, sizeof(*s->bound), "seams", &block));
    s->bound = block;
    return TREACLE_OK;
}

treacle_status mesh_seams_create(const mesh_room* room, const seam_field* field, surface_mesh* m,
                                 mesh_seams* out) {
    TREACLE_ASSERT(field->is_bound != NULL || m->vertex_count == 0);
    TREACLE_ASSERT(mesh_room_count(room) <= INT16_MAX);
    treacle_context* ctx = m->ctx;
    *out = (mesh_seams){.ctx = ctx, .room = room, .count = m->vertex_count};
    void* own = NULL;
    size_t count = (size_t)m->vertex_count;
    treacle_status status = allocate(out);
    if (status == TREACLE_OK) {
        status = alloc_array(ctx, count, sizeof(int16_t), "seams", &own);
    }
    if (status == TREACLE_OK) {
        seam_job job = {.s = out, .f = field, .m = m, .own = own};
        parallel_for(ctx, m->vertex_count, VERTEX_GRAIN, find_own, &job);
        status = join_all(&job);
    }
    if (status == TREACLE_OK) {
        seam_job job = {.s = out, .f = field, .m = m, .own = own};
        parallel_for(ctx, m->vertex_count, VERTEX_GRAIN, place_all, &job);
    } else {
        mesh_seams_destroy(out);
    }
    alloc_free(ctx, own, own == NULL ? 0 : count * sizeof(int16_t));
    return status;
}

void mesh_seams_destroy(mesh_seams* s) {
    if (s->ctx != NULL) {
        alloc_free(s->ctx, s->is_free, (size_t)s->count);
        alloc_free(s->ctx, s->bound, (size_t)s->count * sizeof(*s->bound));
    }
    *s = (mesh_seams){0};
}

int mesh_seams_bounds(const mesh_seams* s, int64_t v) {
    TREACLE_ASSERT(v >= 0 && v < s->count);
    int count = 0;
    for (int i = 0; i < SEAM_BOUNDS; ++i) {
        count += s->bound[v][i] >= 0;
    }
    return count;
}

static void project_vertices(void* data, int64_t begin, int64_t end) {
    const seam_job* job = data;
    for (int64_t v = begin; v < end; ++v) {
        if (mesh_seams_bounds(job->s, v) == 0) {
            continue;
        }
        vec3 x = place_of(job->m, v);
        for (int round = 0; round < ROUNDS; ++round) {
            vec3 axes[IDS];
            int count = 0;
            if (job->s->is_free[v] != 0) {
                const float* n = job->normal[v];
                axes[count++] = vec3_make((double)n[0], (double)n[1], (double)n[2]);
            }
            for (int i = 0; i < SEAM_BOUNDS && job->s->bound[v][i] >= 0; ++i) {
                int id = job->s->bound[v][i];
                vec3 normal = mesh_room_normal(job->s->room, id, x);
                vec3 way = across(normal, count, axes);
                if (vec3_length(way) < flattest) {
                    way = normal;
                }
                double off = mesh_room_distance(job->s->room, id, x);
                x = vec3_add_scaled(x, -off / vec3_dot(way, normal), way);
                axes[count] = vec3_normalise(way);
                count += count < AXIS_COUNT - 1;
            }
        }
        set_place(job->m, v, x);
    }
}

void mesh_seams_project(const mesh_seams* s, const float (*normal)[3], surface_mesh* m) {
    TREACLE_ASSERT(s->count == m->vertex_count);
    seam_job job = {.s = s, .m = m, .normal = normal};
    parallel_for(s->ctx, m->vertex_count, VERTEX_GRAIN, project_vertices, &job);
}

static void keep_out(void* data, int64_t begin, int64_t end) {
    const seam_job* job = data;
    for (int64_t v = begin; v < end; ++v) {
        int surface = FREE;
        vec3 x = place_of(job->m, v);
        for (int round = 0; round < 2 && mesh_seams_bounds(job->s, v) == 0; ++round) {
            double off = mesh_room_nearest(job->s->room, x, &surface);
            if (surface >= 0 && off < clearance) {
                x = vec3_add_scaled(x, clearance - off, mesh_room_normal(job->s->room, surface, x));
                set_place(job->m, v, x);
            }
        }
    }
}

void mesh_seams_keep_out(const mesh_seams* s, surface_mesh* m) {
    TREACLE_ASSERT(s->count == m->vertex_count);
    seam_job job = {.s = s, .m = m};
    parallel_for(s->ctx, m->vertex_count, VERTEX_GRAIN, keep_out, &job);
}

static void push_vertices(void* data, int64_t begin, int64_t end) {
    const seam_job* job = data;
    for (int64_t v = begin; v < end; ++v) {
        vec3 x = place_of(job->m, v), axes[SEAM_BOUNDS];
        int count = 0;
        for (int i = 0; i < SEAM_BOUNDS && job->s->bound[v][i] >= 0; ++i) {
            if (mesh_room_is_end(job->s->room, job->s->bound[v][i])) {
                continue;
            }
            vec3 normal = mesh_room_normal(job->s->room, job->s->bound[v][i], x);
            vec3 way = across(normal, count, axes);
            double reach = vec3_dot(way, normal);
            if (reach > flattest * flattest) {
                x = vec3_add_scaled(x, -job->length / reach, way);
                axes[count++] = vec3_normalise(way);
            }
        }
        set_place(job->m, v, x);
    }
}

void mesh_seams_push(const mesh_seams* s, double length, surface_mesh* m) {
    TREACLE_ASSERT(s->count == m->vertex_count && length >= 0.0);
    seam_job job = {.s = s, .m = m, .length = length};
    parallel_for(s->ctx, m->vertex_count, VERTEX_GRAIN, push_vertices, &job);
}
