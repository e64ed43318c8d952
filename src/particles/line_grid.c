#include "particles/line_grid.h"

#include <math.h>
#include <stdatomic.h>

#include "base/alloc.h"
#include "base/parallel.h"
#include "math/hash_random.h"

static int active_axes(const grid_domain* domain) {
    return (int)domain->is_active[0] + (int)domain->is_active[1] + (int)domain->is_active[2];
}

// Two directions across the lines. With an inactive axis, v is that axis and u is in the plane.
static void choose_frame(const grid_domain* domain, line_grid* g) {
    int along = 0;
    for (int a = 1; a < AXES; ++a) {
        bool is_less = fabs(g->direction.at[a]) < fabs(g->direction.at[along]);
        along = is_less ? a : along;
    }
    for (int a = 0; a < AXES; ++a) {
        along = domain->is_active[a] ? along : a;
    }
    vec3 axis = {{0.0, 0.0, 0.0}};
    axis.at[along] = 1.0;
    g->u = vec3_normalise(vec3_cross(g->direction, axis));
    g->v = vec3_cross(g->direction, g->u);
}

// The shape's bounds, of no thickness along inactive axes.
static box3 bounds_in(const grid_domain* domain, const shape* s) {
    box3 bounds = shape_bounds(s);
    for (int a = 0; a < AXES; ++a) {
        if (!domain->is_active[a]) {
            bounds.low.at[a] = bounds.high.at[a] = domain->origin[a] + 0.5 * domain->h;
        }
    }
    return bounds;
}

// What the bounds cover along a direction.
typedef struct interval {
    double low, high;
} interval;

static interval extent(box3 bounds, vec3 direction) {
    interval out = {0.0, 0.0};
    for (int a = 0; a < AXES; ++a) {
        double p = bounds.low.at[a] * direction.at[a], q = bounds.high.at[a] * direction.at[a];
        out.low += fmin(p, q);
        out.high += fmax(p, q);
    }
    return out;
}

static int64_t steps_over(interval x, double step) {
    const double most = 1e15; // far too many for anybody, yet a number that int64_t holds
    return x.high - x.low > step ? (int64_t)fmin(ceil((x.high - x.low) / step), most) : 1;
}

line_grid line_grid_lay(const grid_domain* domain, const shape* s, vec3 direction, double step) {
    TREACLE_ASSERT(step > 0.0);
    TREACLE_ASSERT(s != NULL);
    TREACLE_ASSERT(fabs(vec3_length(direction) - 1.0) < 1e-6);
    line_grid g = {.shape = s, .direction = direction, .step = step, .axes = active_axes(domain)};
    choose_frame(domain, &g);
    box3 bounds = bounds_in(domain, s);
    interval along = extent(bounds, direction);
    interval u = extent(bounds, g.u), v = extent(bounds, g.v);
    double margin = 1e-6 * (along.high - along.low) + 1e-3 * domain->h;
    g.count_u = steps_over(u, step);
    g.count_v = steps_over(v, step);
    g.length = along.high - along.low + 2.0 * margin;
    double half_u = 0.5 * step * (double)g.count_u, half_v = 0.5 * step * (double)g.count_v;
    g.corner = vec3_scale(along.low - margin, direction);
    g.corner = vec3_add_scaled(g.corner, 0.5 * (u.low + u.high) - half_u, g.u);
    g.corner = vec3_add_scaled(g.corner, 0.5 * (v.low + v.high) - half_v, g.v);
    return g;
}

static shape_ray line_at(const line_grid* lines, double i, double j) {
    i = lines->axes > 1 ? i : 0.5;
    j = lines->axes > 2 ? j : 0.5;
    vec3 at = vec3_add_scaled(lines->corner, i * lines->step, lines->u);
    at = vec3_add_scaled(at, j * lines->step, lines->v);
    return (shape_ray){.origin = at, .direction = lines->direction, .end = lines->length};
}

bool line_grid_enters(const line_grid* lines, double i, double j, vec3* entry) {
    TREACLE_ASSERT(lines->step > 0.0 && lines->length > 0.0);
    shape_ray line = line_at(lines, i, j);
    double s = 0.0;
    if (!shape_enter(lines->shape, &line, &s)) {
        return false;
    }
    *entry = vec3_add_scaled(line.origin, s, lines->direction);
    return true;
}

// ---- area ----

enum {
    SQUARES = 64, // a side
    PARTS = 8,    // a side of a square that the outline passes through
    SQUARES_2D = 256,
    PARTS_2D = 256,
};

// Squares whose four corner lines agree are in or out as a whole; the others are cut into parts.
typedef struct area_job {
    line_grid lines;
    int64_t parts_u, parts_v;
    uint8_t* is_hit;      // [(count_u + 1) * (count_v + 1)], of corner lines
    _Atomic int64_t hits; // parts that the shape covers
} area_job;

static void probe_corners(void* data, int64_t begin, int64_t end) {
    const area_job* job = data;
    int64_t across = job->lines.count_u + 1;
    for (int64_t c = begin; c < end; ++c) {
        shape_ray line = line_at(&job->lines, (double)(c % across), (double)(c / across));
        job->is_hit[c] = shape_is_met(job->lines.shape, &line);
    }
}

// One line at random in each part: on a regular grid, straight outlines along it would err by up
// to half a part all together.
static int64_t count_parts(const area_job* job, int64_t i, int64_t j) {
    int64_t hits = 0, parts = job->parts_u * job->parts_v;
    uint64_t first = (uint64_t)((j * job->lines.count_u + i) * parts);
    for (int64_t part = 0; part < parts; ++part) {
        double p = (double)(part % job->parts_u), q = (double)(part / job->parts_u);
        p += hash_random_f64(0, first + (uint64_t)part, RANDOM_EMIT_X);
        q += hash_random_f64(0, first + (uint64_t)part, RANDOM_EMIT_Y);
        shape_ray line = line_at(&job->lines, (double)i + p / (double)job->parts_u,
                                 (double)j + q / (double)job->parts_v);
        hits += shape_is_met(job->lines.shape, &line);
    }
    return hits;
}

static void measure_squares(void* data, int64_t begin, int64_t end) {
    area_job* job = data;
    int64_t across = job->lines.count_u + 1, hits = 0;
    for (int64_t s = begin; s < end; ++s) {
        int64_t i = s % job->lines.count_u, j = s / job->lines.count_u;
        const uint8_t* corner = job->is_hit + j * across + i;
        int corners = corner[0] + corner[1] + corner[across] + corner[across + 1];
        if (corners == 4) {
            hits += job->parts_u * job->parts_v;
        } else if (corners > 0) {
            hits += count_parts(job, i, j);
        }
    }
    job->hits += hits;
}

static treacle_status line_grid_measure(treacle_context* ctx, area_job* job) {
    int64_t squares = job->lines.count_u * job->lines.count_v;
    int64_t corners = (job->lines.count_u + 1) * (job->lines.count_v + 1);
    TREACLE_TRY(alloc_array(ctx, (size_t)corners, 1, "an emitter's area", (void**)&job->is_hit));
    parallel_for(ctx, corners, 64, probe_corners, job);
    parallel_for(ctx, squares, 16, measure_squares, job);
    alloc_free(ctx, job->is_hit, (size_t)corners);
    return TREACLE_OK;
}

treacle_status line_grid_area(treacle_context* ctx, const grid_domain* domain, const shape* s,
                              vec3 direction, double* out) {
    TREACLE_ASSERT(out != NULL);
    TREACLE_ASSERT(fabs(vec3_length(direction) - 1.0) < 1e-6);
    int axes = active_axes(domain);
    line_grid lines = line_grid_lay(domain, s, direction, domain->h);
    interval u = extent(bounds_in(domain, s), lines.u), v = extent(bounds_in(domain, s), lines.v);
    double width = fmax(u.high - u.low, v.high - v.low);
    double step = axes == 3 ? width / SQUARES : axes == 2 ? width / SQUARES_2D : domain->h;
    *out = 0.0;
    if (!(step > 0.0)) {
        return TREACLE_OK;
    }
    area_job job = {.lines = line_grid_lay(domain, s, direction, step)};
    job.parts_u = axes == 3 ? PARTS : axes == 2 ? PARTS_2D : 1;
    job.parts_v = axes == 3 ? PARTS : 1;
    TREACLE_TRY(line_grid_measure(ctx, &job));
    double part_u = axes > 1 ? step / (double)job.parts_u : domain->h;
    double part_v = axes > 2 ? step / (double)job.parts_v : domain->h;
    *out = (double)job.hits * part_u * part_v;
    return TREACLE_OK;
}
