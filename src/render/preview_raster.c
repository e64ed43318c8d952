#include "render/preview_raster.h"

#include <math.h>

#include "base/alloc.h"
#include "base/parallel.h"

enum { AXIS_COUNT = 3, BAND_ROWS = 32, VERTEX_GRAIN = 4096 };

// Nearer vertices are behind the eye as far as drawing goes, a fraction of the eye's distance.
static const float near_fraction = 1e-3f;

typedef struct raster_job {
    preview_surface* surface;
    const treacle_prop* prop;
    double centre[3];
    preview_point* at; // of the vertices
    preview_side side;
    uint8_t what;
    float near; // m
} raster_job;

treacle_status preview_surface_create(treacle_context* ctx, const preview_view* view, bool is_full,
                                      preview_surface* out) {
    size_t n = (size_t)view->width * (size_t)view->height;
    void* block = NULL;
    *out = (preview_surface){.ctx = ctx, .view = *view};
    TREACLE_TRY(alloc_array(ctx, n, sizeof(float), "solids of a preview", &block));
    out->depth = block;
    for (size_t i = 0; i < n; ++i) {
        out->depth[i] = INFINITY;
    }
    if (is_full) {
        TREACLE_TRY(alloc_zero(ctx, n, sizeof(uint32_t), "solids of a preview", &block));
        out->normal = block;
        TREACLE_TRY(alloc_zero(ctx, n, 1, "solids of a preview", &block));
        out->what = block;
    }
    return TREACLE_OK;
}

void preview_surface_destroy(preview_surface* w) {
    size_t n = (size_t)w->view.width * (size_t)w->view.height;
    if (w->depth != NULL) {
        alloc_free(w->ctx, w->depth, n * sizeof(float));
    }
    if (w->normal != NULL) {
        alloc_free(w->ctx, w->normal, n * sizeof(uint32_t));
    }
    if (w->what != NULL) {
        alloc_free(w->ctx, w->what, n);
    }
    *w = (preview_surface){0};
}

static void project_vertices(void* data, int64_t begin, int64_t end) {
    const raster_job* job = data;
    for (int64_t v = begin; v < end; ++v) {
        double place[AXIS_COUNT];
        for (int k = 0; k < AXIS_COUNT; ++k) {
            place[k] = (double)job->prop->position[3 * v + k] - job->centre[k];
        }
        job->at[v] = preview_view_project(&job->surface->view, place);
    }
}

// A triangle in the picture, and what it has at the place of a pixel.
typedef struct flat_triangle {
    const preview_point* p[3];
    const float* normal[3];
    float area; // twice, in pixels; negative if it turns the other way
} flat_triangle;

static float edge(const preview_point* a, const preview_point* b, float x, float y) {
    return (b->x - a->x) * (y - a->y) - (b->y - a->y) * (x - a->x);
}

static void draw_pixel(const raster_job* job, const flat_triangle* t, int x, int y) {
    preview_surface* w = job->surface;
    float px = (float)x + 0.5f, py = (float)y + 0.5f, fraction[3];
    for (int k = 0; k < 3; ++k) {
        fraction[k] = edge(t->p[(k + 1) % 3], t->p[(k + 2) % 3], px, py) / t->area;
        if (fraction[k] < 0.0f) {
            return;
        }
    }
    float depth = 0.0f;
    for (int k = 0; k < 3; ++k) { // with perspective one over the depth is linear in the picture
        depth += fraction[k] * (w->view.has_perspective ? 1.0f / t->p[k]->depth : t->p[k]->depth);
    }
    depth = w->view.has_perspective ? 1.0f / depth : depth;
    size_t at = (size_t)y * (size_t)w->view.width + (size_t)x;
    if (!(depth < w->depth[at])) {
        return;
    }
    w->depth[at] = depth;
    if (w->normal != NULL) {
        float n[AXIS_COUNT], square = 1e-30f;
        for (int k = 0; k < AXIS_COUNT; ++k) {
            n[k] = fraction[0] * t->normal[0][k] + fraction[1] * t->normal[1][k] +
                   fraction[2] * t->normal[2][k];
            square += n[k] * n[k];
        }
        for (int k = 0; k < AXIS_COUNT; ++k) {
            n[k] /= sqrtf(square);
        }
        w->normal[at] = preview_pack_normal(n);
        w->what[at] = job->what;
    }
}

static bool is_wanted(const raster_job* job, const flat_triangle* t) {
    bool is_near = t->area < 0.0f; // counter-clockwise where y points down
    bool is_seen = fabsf(t->area) > 1e-6f;
    for (int k = 0; k < 3; ++k) {
        is_seen = is_seen && t->p[k]->depth > job->near;
    }
    return is_seen &&
           (job->side == PREVIEW_SIDE_ANY || (job->side == PREVIEW_SIDE_NEAR) == is_near);
}

static int clamp_to(float x, int low, int high) {
    return x > (float)low ? (x < (float)high ? (int)x : high) : low;
}

static void draw_triangle(const raster_job* job, const flat_triangle* t, int from, int to) {
    float low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    for (int k = 0; k < 3; ++k) {
        low[0] = fminf(low[0], t->p[k]->x);
        low[1] = fminf(low[1], t->p[k]->y);
        high[0] = fmaxf(high[0], t->p[k]->x);
        high[1] = fmaxf(high[1], t->p[k]->y);
    }
    int width = job->surface->view.width;
    bool is_here =
        high[1] >= (float)from && low[1] < (float)to && high[0] >= 0.0f && low[0] < (float)width;
    if (!is_here) {
        return;
    }
    int y1 = clamp_to(high[1], from, to - 1), x0 = clamp_to(low[0], 0, width - 1);
    int x1 = clamp_to(high[0], 0, width - 1);
    for (int y = clamp_to(low[1], from, to - 1); y <= y1; ++y) {
        for (int x = x0; x <= x1; ++x) {
            draw_pixel(job, t, x, y);
        }
    }
}

static void draw_bands(void* data, int64_t begin, int64_t end) {
    const raster_job* job = data;
    const treacle_prop* m = job->prop;
    for (int64_t band = begin; band < end; ++band) {
        int from = (int)band * BAND_ROWS, to = from + BAND_ROWS;
        to = to < job->surface->view.height ? to : job->surface->view.height;
        for (int64_t i = 0; i < m->triangle_count; ++i) {
            const int32_t* v = m->triangles + 3 * i;
            flat_triangle t = {.p = {&job->at[v[0]], &job->at[v[1]], &job->at[v[2]]},
                               .normal = {m->normal + (ptrdiff_t)3 * v[0],
                                          m->normal + (ptrdiff_t)3 * v[1],
                                          m->normal + (ptrdiff_t)3 * v[2]}};
            t.area = edge(t.p[0], t.p[1], t.p[2]->x, t.p[2]->y);
            if (is_wanted(job, &t)) {
                draw_triangle(job, &t, from, to);
            }
        }
    }
}

treacle_status preview_raster(preview_surface* w, const treacle_prop* prop, const double centre[3],
                              preview_side side, uint8_t what) {
    raster_job job = {.surface = w, .prop = prop, .side = side, .what = what};
    double away = 0.0;
    for (int k = 0; k < AXIS_COUNT; ++k) {
        job.centre[k] = centre[k];
        away += w->view.eye[k] * w->view.eye[k];
    }
    job.near = near_fraction * (float)sqrt(away);
    if (prop->triangle_count == 0) {
        return TREACLE_OK;
    }
    void* block = NULL;
    size_t vertices = (size_t)prop->vertex_count;
    TREACLE_TRY(
        alloc_array(w->ctx, vertices, sizeof(preview_point), "solids of a preview", &block));
    job.at = block;
    parallel_for(w->ctx, prop->vertex_count, VERTEX_GRAIN, project_vertices, &job);
    parallel_for(w->ctx, (w->view.height + BAND_ROWS - 1) / BAND_ROWS, 1, draw_bands, &job);
    alloc_free(w->ctx, block, vertices * sizeof(preview_point));
    return TREACLE_OK;
}
