#include "mesh/surface_mesh.h"

#include <math.h>

#include "base/alloc.h"
#include "base/parallel.h"
#include "base/parallel_sum.h"

enum { AXIS_COUNT = 3, VERTEX_GRAIN = 2048, SUM_RUN = 4096 };

treacle_status surface_mesh_create(treacle_context* ctx, int64_t vertices, int64_t triangles,
                                   surface_mesh* out) {
    TREACLE_ASSERT(vertices >= 0 && triangles >= 0);
    *out = (surface_mesh){
        .ctx = ctx, .vertex_capacity = (size_t)vertices, .triangle_capacity = (size_t)triangles};
    size_t v = (size_t)vertices, t = (size_t)triangles;
    void* block = NULL;
    treacle_status status = alloc_array(ctx, v, sizeof(*out->place), "vertices", &block);
    out->place = block;
    if (status == TREACLE_OK) {
        status = alloc_zero(ctx, v, sizeof(*out->normal), "normals", &block);
        out->normal = status == TREACLE_OK ? block : NULL;
    }
    if (status == TREACLE_OK) {
        status = alloc_array(ctx, t, sizeof(*out->triangle), "triangles", &block);
        out->triangle = status == TREACLE_OK ? block : NULL;
    }
    if (status != TREACLE_OK) {
        surface_mesh_destroy(out);
        return status;
    }
    out->vertex_count = vertices;
    out->triangle_count = triangles;
    return TREACLE_OK;
}

void surface_mesh_destroy(surface_mesh* m) {
    if (m->ctx != NULL) {
        alloc_free(m->ctx, m->place, m->vertex_capacity * sizeof(*m->place));
        alloc_free(m->ctx, m->normal, m->vertex_capacity * sizeof(*m->normal));
        alloc_free(m->ctx, m->triangle, m->triangle_capacity * sizeof(*m->triangle));
    }
    *m = (surface_mesh){0};
}

// Twice the area as a vector, from corner 0.
static void area_vector(const surface_mesh* m, int64_t t, double out[3]) {
    const int32_t* v = m->triangle[t];
    double a[3], b[3];
    for (int k = 0; k < AXIS_COUNT; ++k) {
        a[k] = (double)m->place[v[1]][k] - (double)m->place[v[0]][k];
        b[k] = (double)m->place[v[2]][k] - (double)m->place[v[0]][k];
    }
    for (int k = 0; k < AXIS_COUNT; ++k) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        out[k] = a[i] * b[j] - a[j] * b[i];
    }
}

// Sums over runs of triangles: volume from the first vertex, or area.
static double run_volume(void* data, int64_t run) {
    const surface_mesh* m = data;
    int64_t end = (run + 1) * SUM_RUN;
    end = end < m->triangle_count ? end : m->triangle_count;
    double sum = 0.0;
    for (int64_t t = run * SUM_RUN; t < end; ++t) {
        double n[3];
        area_vector(m, t, n);
        for (int k = 0; k < AXIS_COUNT; ++k) {
            sum += n[k] * ((double)m->place[m->triangle[t][0]][k] - (double)m->place[0][k]);
        }
    }
    return sum / 6.0;
}

static double run_area(void* data, int64_t run) {
    const surface_mesh* m = data;
    int64_t end = (run + 1) * SUM_RUN;
    end = end < m->triangle_count ? end : m->triangle_count;
    double sum = 0.0;
    for (int64_t t = run * SUM_RUN; t < end; ++t) {
        double n[3];
        area_vector(m, t, n);
        sum += 0.5 * sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    }
    return sum;
}

static int64_t run_count(const surface_mesh* m) {
    return (m->triangle_count + SUM_RUN - 1) / SUM_RUN;
}

// The callbacks of parallel_sum read only; their pointer is older than const.
double surface_mesh_volume(const surface_mesh* m) {
    TREACLE_ASSERT(m->ctx != NULL);
    return parallel_sum(m->ctx, run_count(m), run_volume, (void*)m);
}

double surface_mesh_area(const surface_mesh* m) {
    TREACLE_ASSERT(m->ctx != NULL);
    return parallel_sum(m->ctx, run_count(m), run_area, (void*)m);
}

treacle_status surface_fans_create(const surface_mesh* m, surface_fans* out) {
    TREACLE_ASSERT(m->ctx != NULL && m->vertex_count >= 0);
    treacle_context* ctx = m->ctx;
    *out = (surface_fans){
        .ctx = ctx, .vertices = (size_t)m->vertex_count, .entries = 3 * (size_t)m->triangle_count};
    void* block = NULL;
    TREACLE_TRY(alloc_zero(ctx, out->vertices + 2, sizeof(int64_t), "fans", &block));
    out->first = block;
    treacle_status status = alloc_array(ctx, out->entries, sizeof(int32_t), "fans", &block);
    if (status != TREACLE_OK) {
        surface_fans_destroy(out);
        return status;
    }
    out->list = block;
    int64_t* cursor = out->first + 1; // first[v + 2] counts, then first[v + 1] fills up
    for (int64_t t = 0; t < m->triangle_count; ++t) {
        for (int c = 0; c < 3; ++c) {
            cursor[m->triangle[t][c] + 1] += 1;
        }
    }
    for (size_t v = 0; v < out->vertices; ++v) {
        cursor[v + 1] += cursor[v];
    }
    for (int64_t t = 0; t < m->triangle_count; ++t) {
        for (int c = 0; c < 3; ++c) {
            out->list[cursor[m->triangle[t][c]]++] = (int32_t)t;
        }
    }
    return TREACLE_OK;
}

void surface_fans_destroy(surface_fans* f) {
    if (f->ctx != NULL) {
        alloc_free(f->ctx, f->first, (f->vertices + 2) * sizeof(int64_t));
        alloc_free(f->ctx, f->list, f->list == NULL ? 0 : f->entries * sizeof(int32_t));
    }
    *f = (surface_fans){0};
}

typedef struct vertex_job {
    surface_mesh* m;
    const surface_fans* fans;
} vertex_job;

static void set_normals(void* data, int64_t begin, int64_t end) {
    const vertex_job* job = data;
    for (int64_t v = begin; v < end; ++v) {
        double sum[3] = {0.0, 0.0, 0.0};
        for (int64_t f = job->fans->first[v]; f < job->fans->first[v + 1]; ++f) {
            double n[3];
            area_vector(job->m, job->fans->list[f], n);
            for (int k = 0; k < AXIS_COUNT; ++k) {
                sum[k] += n[k];
            }
        }
        double length = sqrt(sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2]);
        for (int k = 0; k < AXIS_COUNT; ++k) {
            job->m->normal[v][k] = length > 0.0 ? (float)(sum[k] / length) : k == 1 ? 1.0f : 0.0f;
        }
    }
}

treacle_status surface_mesh_normals(surface_mesh* m) {
    surface_fans fans;
    TREACLE_TRY(surface_fans_create(m, &fans));
    vertex_job job = {.m = m, .fans = &fans};
    parallel_for(m->ctx, m->vertex_count, VERTEX_GRAIN, set_normals, &job);
    surface_fans_destroy(&fans);
    return TREACLE_OK;
}

int surface_fans_ring(const surface_fans* f, const surface_mesh* m, int32_t v,
                      int32_t out[SURFACE_RING_MAX]) {
    TREACLE_ASSERT(v >= 0 && v < m->vertex_count);
    int count = 0;
    for (int64_t i = f->first[v]; i < f->first[v + 1]; ++i) {
        const int32_t* t = m->triangle[f->list[i]];
        int c = t[0] == v ? 0 : t[1] == v ? 1 : 2;
        if (count == SURFACE_RING_MAX) {
            return -1;
        }
        out[count++] = t[(c + 1) % 3];
    }
    return count;
}

void surface_mesh_compact(surface_mesh* m, int32_t* becomes) {
    int64_t kept = 0;
    for (int64_t t = 0; t < m->triangle_count; ++t) {
        int32_t v[3];
        for (int c = 0; c < 3; ++c) {
            v[c] = becomes[m->triangle[t][c]];
        }
        if (v[0] != v[1] && v[1] != v[2] && v[2] != v[0]) {
            for (int c = 0; c < 3; ++c) {
                m->triangle[kept][c] = v[c];
            }
            kept += 1;
        }
    }
    m->triangle_count = kept;
    int32_t count = 0;
    for (int32_t v = 0; v < m->vertex_count; ++v) {
        bool stays = becomes[v] == v;
        for (int k = 0; k < AXIS_COUNT && stays; ++k) {
            m->place[count][k] = m->place[v][k];
            m->normal[count][k] = m->normal[v][k];
        }
        becomes[v] = stays ? count++ : -1;
    }
    for (int64_t t = 0; t < kept; ++t) {
        for (int c = 0; c < 3; ++c) {
            m->triangle[t][c] = becomes[m->triangle[t][c]];
        }
    }
    m->vertex_count = count;
}
