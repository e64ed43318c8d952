#include "mesh/surface_smooth.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/parallel.h"
#include "base/parallel_sum.h"
#include "mesh/surface_level.h"

enum {
    AXIS_COUNT = 3,
    VERTEX_GRAIN = 2048,
    SUM_RUN = 4096,
    VOLUME_ROUNDS = 4,
    BOUND_ROUNDS = 12,
    LEVEL_PASSES = 2
};

static const float steepest = 0.4f; // sine of the angle between surface and wall, at least

// How a vertex on a wall may move: matrix times the way that it would go.
typedef struct vertex_rail {
    float at[3][3];
} vertex_rail;

typedef struct smooth_job {
    surface_mesh* m;
    const mesh_seams* seams;
    surface_fans fans;
    int32_t* near;      // as the fans' list: neighbours
    int32_t* rail_of;   // [vertices], -1: it moves freely
    vertex_rail* rails; // of those on walls
    float (*start)[3];  // where vertices were
    float (*now)[3], (*before)[3], (*next)[3];
    float (*way)[3];              // L x
    float w_now, w_before, w_way; // of a stage
    float amount;                 // cells: of noise, or to move by
    float* height;                // cells, to move each vertex by
    size_t rail_count;
} smooth_job;

static bool is_free(const smooth_job* job, int64_t v) {
    return job->seams == NULL || job->seams->is_free[v] != 0;
}

// Twice the area as a vector.
static void area_of(const surface_mesh* m, const int32_t t[3], double out[3]) {
    double a[3], b[3];
    for (int k = 0; k < AXIS_COUNT; ++k) {
        a[k] = (double)m->place[t[1]][k] - (double)m->place[t[0]][k];
        b[k] = (double)m->place[t[2]][k] - (double)m->place[t[0]][k];
    }
    for (int k = 0; k < AXIS_COUNT; ++k) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        out[k] = a[i] * b[j] - a[j] * b[i];
    }
}

// Whether one wall holds all its corners.
static bool is_in_bound(const smooth_job* job, const int32_t t[3]) {
    bool is_in = false;
    for (int i = 0; job->seams != NULL && i < SEAM_BOUNDS; ++i) {
        int bound = job->seams->bound[t[0]][i];
        bool has[2] = {false, false};
        for (int j = 0; j < SEAM_BOUNDS && bound >= 0; ++j) {
            has[0] = has[0] || job->seams->bound[t[1]][j] == bound;
            has[1] = has[1] || job->seams->bound[t[2]][j] == bound;
        }
        is_in = is_in || (has[0] && has[1]);
    }
    return is_in;
}

// On the liquid's own surface; three vertices on the line along a wall may lie in that.
static bool is_own(const smooth_job* job, const int32_t t[3]) {
    return is_free(job, t[0]) && is_free(job, t[1]) && is_free(job, t[2]) && !is_in_bound(job, t);
}

// Of which triangles a normal is the mean.
typedef enum fan_part { FAN_OWN, FAN_NOT_IN_BOUNDS, FAN_ALL, FAN_PARTS } fan_part;

static vec3 fan_normal(const smooth_job* job, int64_t v, fan_part part) {
    double sum[3] = {0.0, 0.0, 0.0};
    for (int64_t f = job->fans.first[v]; f < job->fans.first[v + 1]; ++f) {
        const int32_t* t = job->m->triangle[job->fans.list[f]];
        double n[3];
        if ((part == FAN_OWN && !is_own(job, t)) ||
            (part == FAN_NOT_IN_BOUNDS && is_in_bound(job, t))) {
            continue;
        }
        area_of(job->m, t, n);
        for (int k = 0; k < AXIS_COUNT; ++k) {
            sum[k] += n[k];
        }
    }
    return vec3_normalise(vec3_from(sum));
}

static void set_normals(void* data, int64_t begin, int64_t end) {
    const smooth_job* job = data;
    for (int64_t v = begin; v < end; ++v) {
        vec3 n = vec3_make(0.0, 0.0, 0.0);
        for (int part = is_free(job, v) ? FAN_OWN : FAN_ALL;
             part < FAN_PARTS && !(vec3_dot(n, n) > 0.0); ++part) {
            n = fan_normal(job, v, (fan_part)part);
        }
        n = vec3_dot(n, n) > 0.0 ? n : vec3_make(0.0, 1.0, 0.0);
        for (int k = 0; k < AXIS_COUNT; ++k) {
            job->m->normal[v][k] = (float)n.at[k];
        }
    }
}

// Rails -------------------------------------------------------------------------------------------

static void add_product(vertex_rail* rail, vec3 to, vec3 from, double scale) {
    for (int i = 0; i < AXIS_COUNT; ++i) {
        for (int j = 0; j < AXIS_COUNT; ++j) {
            rail->at[i][j] += (float)(scale * to.at[i] * from.at[j]);
        }
    }
}

// Along `rail`, as far as takes the surface as far along its normal.
static void add_lift(vertex_rail* out, vec3 rail, vec3 normal) {
    double steep = vec3_dot(rail, normal);
    if (fabs(steep) >= (double)steepest) {
        add_product(out, rail, normal, 1.0 / steep);
    }
}

static vertex_rail make_rail(const smooth_job* job, int64_t v) {
    vertex_rail out = {{{0.0f}}};
    const float *x = job->m->place[v], *n = job->m->normal[v];
    vec3 at = vec3_make((double)x[0], (double)x[1], (double)x[2]);
    vec3 normal = vec3_make((double)n[0], (double)n[1], (double)n[2]), bounds[2];
    int count = mesh_seams_bounds(job->seams, v);
    for (int i = 0; i < count && i < 2; ++i) {
        bounds[i] = mesh_room_normal(job->seams->room, job->seams->bound[v][i], at);
    }
    if (!is_free(job, v) || count > 2) {
        return out;
    }
    vec3 along = count == 2 ? vec3_normalise(vec3_cross(bounds[0], bounds[1]))
                            : vec3_normalise(vec3_cross(normal, bounds[0]));
    if (count == 2) {
        add_lift(&out, along, normal);
    } else if (vec3_dot(along, along) > 0.0) {
        add_product(&out, along, along, 1.0);
        add_lift(&out, vec3_cross(bounds[0], along), normal);
    }
    return out;
}

static treacle_status lay_rails(smooth_job* job) {
    int64_t count = job->m->vertex_count;
    void* block = NULL;
    TREACLE_TRY(alloc_array(job->m->ctx, (size_t)count, sizeof(int32_t), "rails", &block));
    job->rail_of = block;
    for (int64_t v = 0; v < count; ++v) {
        bool is_railed = job->seams != NULL && mesh_seams_bounds(job->seams, v) > 0;
        job->rail_of[v] = is_railed ? (int32_t)job->rail_count++ : -1;
    }
    TREACLE_TRY(alloc_array(job->m->ctx, job->rail_count, sizeof(vertex_rail), "rails", &block));
    job->rails = block;
    return TREACLE_OK;
}

static void set_rails(void* data, int64_t begin, int64_t end) {
    const smooth_job* job = data;
    for (int64_t v = begin; v < end; ++v) {
        if (job->rail_of[v] >= 0) {
            job->rails[job->rail_of[v]] = make_rail(job, v);
        }
    }
}

static void keep_to_rail(const smooth_job* job, int64_t v, float way[3]) {
    if (job->rail_of[v] < 0) {
        return;
    }
    const vertex_rail* r = &job->rails[job->rail_of[v]];
    const float x[3] = {way[0], way[1], way[2]};
    for (int k = 0; k < AXIS_COUNT; ++k) {
        way[k] = r->at[k][0] * x[0] + r->at[k][1] * x[1] + r->at[k][2] * x[2];
    }
}

// Smoothing ---------------------------------------------------------------------------------------

// The mean of the neighbours on the liquid's own surface less the vertex.
static void differ(const smooth_job* job, float (*from)[3], int64_t v, float out[3]) {
    float sum[3] = {0.0f, 0.0f, 0.0f}, count = 0.0f;
    for (int64_t f = job->fans.first[v]; f < job->fans.first[v + 1]; ++f) {
        int32_t other = job->near[f];
        if (job->rail_of[v] < 0 || is_free(job, other)) {
            count += 1.0f;
            for (int k = 0; k < AXIS_COUNT; ++k) {
                sum[k] += from[other][k];
            }
        }
    }
    for (int k = 0; k < AXIS_COUNT; ++k) {
        out[k] = count > 0.0f ? sum[k] / count - from[v][k] : 0.0f;
    }
}

// Behind the ends of a flat slab it goes on as in a mirror; at walls it ends.
static bool is_mirrored(const smooth_job* job, int64_t v) {
    bool is = true;
    for (int i = 0; i < SEAM_BOUNDS && job->seams->bound[v][i] >= 0; ++i) {
        is = is && mesh_room_is_end(job->seams->room, job->seams->bound[v][i]);
    }
    return is;
}

static void keep_to_mirror(const smooth_job* job, int64_t v, float way[3]) {
    if (job->rail_of[v] >= 0 && job->seams->room->flat_axis >= 0) {
        bool is_end = false;
        for (int i = 0; i < SEAM_BOUNDS && job->seams->bound[v][i] >= 0; ++i) {
            is_end = is_end || mesh_room_is_end(job->seams->room, job->seams->bound[v][i]);
        }
        int axis = job->seams->room->flat_axis;
        way[axis] = is_end ? 0.0f : way[axis];
    }
    keep_to_rail(job, v, way);
}

// At walls the surface ends as a free plate does: it is not bent there, whatever its angle.
static void find_way(void* data, int64_t begin, int64_t end) {
    const smooth_job* job = data;
    for (int64_t v = begin; v < end; ++v) {
        if (job->rail_of[v] < 0 || is_mirrored(job, v)) {
            differ(job, job->now, v, job->way[v]);
            keep_to_mirror(job, v, job->way[v]);
        } else {
            job->way[v][0] = job->way[v][1] = job->way[v][2] = 0.0f;
        }
    }
}

static void do_stage(void* data, int64_t begin, int64_t end) {
    const smooth_job* job = data;
    for (int64_t v = begin; v < end; ++v) {
        float way[3];
        differ(job, job->way, v, way);
        keep_to_mirror(job, v, way);
        for (int k = 0; k < AXIS_COUNT; ++k) {
            job->next[v][k] = job->w_now * job->now[v][k] + job->w_before * job->before[v][k] -
                              job->w_way * way[k];
        }
    }
}

static void run_stages(smooth_job* job, int rounds) {
    // The largest eigenvalue of L L is 4; 0.9 is to spare.
    const float whole = 0.9f * 0.5f; // s of the method over (N^2 + N)/2, times that
    int64_t count = job->m->vertex_count;
    for (int j = 1; j <= rounds; ++j) {
        job->w_now = (float)(2 * j - 1) / (float)j;
        job->w_before = (float)(1 - j) / (float)j;
        job->w_way = job->w_now * whole;
        parallel_for(job->m->ctx, count, VERTEX_GRAIN, find_way, job);
        parallel_for(job->m->ctx, count, VERTEX_GRAIN, do_stage, job);
        float(*swap)[3] = job->before;
        job->before = job->now;
        job->now = job->next;
        job->next = swap;
    }
}

// What went too far to be noise goes back.
static void gate(void* data, int64_t begin, int64_t end) {
    const smooth_job* job = data;
    for (int64_t v = begin; v < end; ++v) {
        float off = 0.0f;
        for (int k = 0; k < AXIS_COUNT; ++k) {
            off += (job->now[v][k] - job->start[v][k]) * job->m->normal[v][k];
        }
        float t = fminf(fmaxf(fabsf(off) / job->amount - 1.0f, 0.0f), 1.0f);
        float back = t * t * (3.0f - 2.0f * t);
        for (int k = 0; k < AXIS_COUNT; ++k) {
            float d = job->now[v][k] - job->start[v][k];
            job->m->place[v][k] = job->now[v][k] - back * d;
        }
    }
}

// What of a way lies in the plane across n.
static void drop_along(const float n[3], float way[3]) {
    float along = way[0] * n[0] + way[1] * n[1] + way[2] * n[2];
    for (int k = 0; k < AXIS_COUNT; ++k) {
        way[k] -= along * n[k];
    }
}

static bool is_beside_bound(const smooth_job* job, int64_t v) {
    bool is_beside = false;
    for (int64_t f = job->fans.first[v]; f < job->fans.first[v + 1]; ++f) {
        is_beside = is_beside || job->rail_of[job->near[f]] >= 0;
    }
    return is_beside;
}

// Whether two vertices on walls share a line: all that bounds the one bounds the other.
static bool is_along(const smooth_job* job, int64_t v, int64_t other) {
    bool is_on = is_free(job, v) == is_free(job, other) || !is_free(job, v);
    for (int i = 0; i < SEAM_BOUNDS && job->seams->bound[v][i] >= 0; ++i) {
        bool has = false;
        for (int j = 0; j < SEAM_BOUNDS; ++j) {
            has = has || job->seams->bound[other][j] == job->seams->bound[v][i];
        }
        is_on = is_on && has;
    }
    return is_on;
}

// On the line where it ends the surface goes on as its neighbours lie.
static void add_lift_to(const smooth_job* job, int64_t v, float way[3]) {
    float mean[3] = {0.0f, 0.0f, 0.0f}, normal[3] = {0.0f, 0.0f, 0.0f}, count = 0.0f;
    for (int64_t f = job->fans.first[v]; f < job->fans.first[v + 1]; ++f) {
        int32_t other = job->near[f];
        if (job->rail_of[other] < 0) {
            count += 1.0f;
            for (int k = 0; k < AXIS_COUNT; ++k) {
                mean[k] += job->now[other][k] - job->now[v][k];
                normal[k] += job->m->normal[other][k];
            }
        }
    }
    float square = normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2];
    float lift = mean[0] * normal[0] + mean[1] * normal[1] + mean[2] * normal[2];
    float up[3] = {0.0f, 0.0f, 0.0f};
    for (int k = 0; k < AXIS_COUNT && count > 0.0f && square > 0.0f; ++k) {
        up[k] = 0.5f * lift / (count * square) * normal[k];
    }
    keep_to_rail(job, v, up);
    for (int k = 0; k < AXIS_COUNT; ++k) {
        way[k] += up[k];
    }
}

// Vertices on walls, on lines along them, and beside walls spread evenly over what they lie on.
static void relax_bound(void* data, int64_t begin, int64_t end) {
    const smooth_job* job = data;
    for (int64_t v = begin; v < end; ++v) {
        float way[3] = {0.0f, 0.0f, 0.0f}, count = 0.0f;
        bool is_railed = job->rail_of[v] >= 0;
        int lies_on_count = is_railed ? mesh_seams_bounds(job->seams, v) + is_free(job, v) : 1;
        bool is_moved = lies_on_count < 3 && (is_railed || is_beside_bound(job, v));
        for (int64_t f = job->fans.first[v]; f < job->fans.first[v + 1] && is_moved; ++f) {
            int32_t other = job->near[f];
            if (!is_railed || is_along(job, v, other)) {
                count += 1.0f;
                for (int k = 0; k < AXIS_COUNT; ++k) {
                    way[k] += job->now[other][k] - job->now[v][k];
                }
            }
        }
        if (is_free(job, v)) {
            drop_along(job->m->normal[v], way);
        }
        for (int k = 0; k < AXIS_COUNT; ++k) {
            way[k] = count > 0.0f ? 0.5f * way[k] / count : 0.0f;
        }
        if (is_railed && is_free(job, v)) {
            add_lift_to(job, v, way);
        }
        for (int k = 0; k < AXIS_COUNT; ++k) {
            job->m->place[v][k] = job->now[v][k] + way[k];
        }
    }
}

static void relax_bounds(smooth_job* job) {
    surface_mesh* m = job->m;
    size_t bytes = (size_t)m->vertex_count * sizeof(*m->place);
    for (int round = 0; round < BOUND_ROUNDS; ++round) {
        memcpy(job->now, m->place, bytes);
        parallel_for(m->ctx, m->vertex_count, VERTEX_GRAIN, set_normals, job);
        parallel_for(m->ctx, m->vertex_count, VERTEX_GRAIN, set_rails, job);
        parallel_for(m->ctx, m->vertex_count, VERTEX_GRAIN, relax_bound, job);
        mesh_seams_project(job->seams, (const float(*)[3])m->normal, m);
    }
}

// Level -------------------------------------------------------------------------------------------

static void move_along(void* data, int64_t begin, int64_t end) {
    const smooth_job* job = data;
    for (int64_t v = begin; v < end; ++v) {
        float way[3];
        for (int k = 0; k < AXIS_COUNT; ++k) {
            way[k] = job->height[v] * job->way[v][k];
        }
        keep_to_rail(job, v, way);
        for (int k = 0; k < AXIS_COUNT; ++k) {
            job->m->place[v][k] += way[k];
        }
    }
}

static treacle_status make_level(smooth_job* job, const smooth_def* def) {
    surface_mesh* m = job->m;
    size_t count = (size_t)m->vertex_count;
    void* block = NULL;
    TREACLE_TRY(alloc_array(m->ctx, count, sizeof(float), "heights of a surface", &block));
    job->height = block;
    parallel_for(m->ctx, m->vertex_count, VERTEX_GRAIN, set_normals, job);
    parallel_for(m->ctx, m->vertex_count, VERTEX_GRAIN, set_rails, job);
    const level_def level = {.m = m,
                             .fans = &job->fans,
                             .near = job->near,
                             .seams = job->seams,
                             .rounds = def->level_rounds,
                             .noise = def->calm,
                             .up = job->way,
                             .spare = {job->before, job->next}};
    treacle_status status = surface_level_find(&level, job->height);
    if (status == TREACLE_OK) {
        parallel_for(m->ctx, m->vertex_count, VERTEX_GRAIN, move_along, job);
    }
    alloc_free(m->ctx, block, count * sizeof(float));
    return status;
}

// Volume ------------------------------------------------------------------------------------------

static double run_area(void* data, int64_t run) {
    const smooth_job* job = data;
    int64_t end = (run + 1) * SUM_RUN;
    end = end < job->m->triangle_count ? end : job->m->triangle_count;
    double sum = 0.0;
    for (int64_t t = run * SUM_RUN; t < end; ++t) {
        double n[3];
        if (is_own(job, job->m->triangle[t])) {
            area_of(job->m, job->m->triangle[t], n);
            sum += 0.5 * sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
        }
    }
    return sum;
}

static void move_out(void* data, int64_t begin, int64_t end) {
    const smooth_job* job = data;
    for (int64_t v = begin; v < end; ++v) {
        float way[3];
        for (int k = 0; k < AXIS_COUNT; ++k) {
            way[k] = is_free(job, v) ? job->amount * job->m->normal[v][k] : 0.0f;
        }
        keep_to_rail(job, v, way);
        for (int k = 0; k < AXIS_COUNT; ++k) {
            job->m->place[v][k] += way[k];
        }
    }
}

static void match_volume(smooth_job* job, double volume) {
    surface_mesh* m = job->m;
    int64_t runs = (m->triangle_count + SUM_RUN - 1) / SUM_RUN;
    for (int round = 0; round < VOLUME_ROUNDS; ++round) {
        double area = parallel_sum(m->ctx, runs, run_area, job);
        job->amount = area > 0.0 ? (float)((volume - surface_mesh_volume(m)) / area) : 0.0f;
        job->amount = fminf(fmaxf(job->amount, -0.5f), 0.5f);
        parallel_for(m->ctx, m->vertex_count, VERTEX_GRAIN, set_normals, job);
        parallel_for(m->ctx, m->vertex_count, VERTEX_GRAIN, set_rails, job);
        parallel_for(m->ctx, m->vertex_count, VERTEX_GRAIN, move_out, job);
        if (job->seams != NULL) {
            mesh_seams_project(job->seams, (const float(*)[3])m->normal, m);
        }
    }
}

// -------------------------------------------------------------------------------------------------

// From the triangles of a fan to the neighbours: the vertex that follows in each of them.
static void list_neighbours(void* data, int64_t begin, int64_t end) {
    const smooth_job* job = data;
    for (int64_t v = begin; v < end; ++v) {
        for (int64_t f = job->fans.first[v]; f < job->fans.first[v + 1]; ++f) {
            const int32_t* t = job->m->triangle[job->fans.list[f]];
            int c = t[0] == v ? 0 : t[1] == v ? 1 : 2;
            job->near[f] = t[(c + 1) % 3];
        }
    }
}

static treacle_status allocate_places(smooth_job* job, float (**out)[3]) {
    void* block = NULL;
    treacle_status status = alloc_array(job->m->ctx, (size_t)job->m->vertex_count, sizeof(**out),
                                        "smoothed vertices", &block);
    *out = status == TREACLE_OK ? block : NULL;
    return status;
}

static treacle_status begin(smooth_job* job) {
    void* block = NULL;
    surface_mesh* m = job->m;
    TREACLE_TRY(surface_fans_create(m, &job->fans));
    TREACLE_TRY(alloc_array(m->ctx, job->fans.entries, sizeof(int32_t), "neighbours", &block));
    job->near = block;
    TREACLE_TRY(allocate_places(job, &job->start));
    TREACLE_TRY(allocate_places(job, &job->now));
    TREACLE_TRY(allocate_places(job, &job->before));
    TREACLE_TRY(allocate_places(job, &job->next));
    TREACLE_TRY(allocate_places(job, &job->way));
    TREACLE_TRY(lay_rails(job));
    parallel_for(m->ctx, m->vertex_count, VERTEX_GRAIN, list_neighbours, job);
    parallel_for(m->ctx, m->vertex_count, VERTEX_GRAIN, set_normals, job);
    parallel_for(m->ctx, m->vertex_count, VERTEX_GRAIN, set_rails, job);
    return TREACLE_OK;
}

static void finish(smooth_job* job) {
    treacle_context* ctx = job->m->ctx;
    size_t count = (size_t)job->m->vertex_count;
    float(*const places[])[3] = {job->start, job->now, job->before, job->next, job->way};
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); ++i) {
        alloc_free(ctx, places[i], places[i] == NULL ? 0 : count * sizeof(**places));
    }
    alloc_free(ctx, job->near, job->near == NULL ? 0 : job->fans.entries * sizeof(int32_t));
    alloc_free(ctx, job->rail_of, job->rail_of == NULL ? 0 : count * sizeof(int32_t));
    alloc_free(ctx, job->rails, job->rails == NULL ? 0 : job->rail_count * sizeof(vertex_rail));
    surface_fans_destroy(&job->fans);
}

treacle_status surface_mesh_smooth(surface_mesh* m, const smooth_def* def) {
    TREACLE_ASSERT(def->rounds >= 0 && !isnan(def->volume) && def->noise > 0.0);
    smooth_job job = {.m = m, .seams = def->seams};
    size_t bytes = (size_t)m->vertex_count * sizeof(*m->place);
    double volume = 0.0;
    treacle_status status = begin(&job);
    if (status == TREACLE_OK && m->vertex_count > 0) {
        volume = def->volume > 0.0 ? def->volume : surface_mesh_volume(m);
        memcpy(job.start, m->place, bytes);
        memcpy(job.now, m->place, bytes);
        memcpy(job.before, m->place, bytes);
        run_stages(&job, def->rounds);
        job.amount = (float)def->noise;
        parallel_for(m->ctx, m->vertex_count, VERTEX_GRAIN, gate, &job);
        for (int i = 0; i < LEVEL_PASSES && def->level_rounds > 0 && status == TREACLE_OK; ++i) {
            status = make_level(&job, def);
        }
    }
    if (status == TREACLE_OK && m->vertex_count > 0) {
        if (job.seams != NULL && def->rounds > 0) {
            relax_bounds(&job);
        }
        match_volume(&job, volume);
        if (job.seams != NULL) {
            mesh_seams_keep_out(job.seams, m);
        }
    }
    finish(&job);
    return status;
}

treacle_status surface_mesh_seam_normals(surface_mesh* m, const mesh_seams* seams) {
    smooth_job job = {.m = m, .seams = seams};
    TREACLE_TRY(surface_fans_create(m, &job.fans));
    parallel_for(m->ctx, m->vertex_count, VERTEX_GRAIN, set_normals, &job);
    surface_fans_destroy(&job.fans);
    return TREACLE_OK;
}
