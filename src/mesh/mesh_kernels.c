#include "mesh/mesh_kernels.h"

#include <math.h>

#include "base/alloc.h"
#include "base/parallel.h"

enum { AXIS_COUNT = 3, FEW = 6, BIN_GRAIN = 8, SWEEPS = 5 };

static const float averaging = 0.9f;   // lambda
static const double support = 2.5;     // H, spacings
static const float longest = 1.25f;    // axis, in H
static const float shortest = 0.4f;    // axis, in H
static const float of_few = 0.5f;      // of a particle with few neighbours
static const float variance = 0.15f;   // of a full neighbourhood along an axis, over R^2
static const float full_count = 85.0f; // neighbours; less is near the surface
static const float full_shift = 0.12f; // |u| / R; more is near the surface

typedef struct kernel_job {
    const mesh_points* p;
    mesh_kernel* out;
    float* shift;           // [count][3], u
    const uint8_t* is_deep; // [bin_count]
} kernel_job;

typedef struct moments {
    float weight, count;
    float first[3];
    float second[6]; // xx, yy, zz, xy, xz, yz
} moments;

double mesh_kernels_reach(const mesh_points* p) {
    TREACLE_ASSERT(p->spacing > 0.0);
    return support * p->spacing * (double)longest;
}

float mesh_kernel_value(float square) {
    TREACLE_ASSERT(square >= 0.0f);
    if (square >= 1.0f) {
        return 0.0f;
    }
    float q = sqrtf(square), r = 1.0f - q;
    return q < 0.5f ? 2.5464791f * (1.0f - 6.0f * square * r) : 5.0929582f * r * r * r;
}

static moments moments_of(const mesh_points* p, const mesh_run runs[MESH_RUNS], const float x[3],
                          float radius) {
    moments m = {0};
    float inverse = 1.0f / radius, square_max = radius * radius;
    for (int row = 0; row < MESH_RUNS; ++row) {
        for (int64_t j = runs[row].first; j < runs[row].last; ++j) {
            const float* y = p->place + AXIS_COUNT * j;
            float d[3] = {y[0] - x[0], y[1] - x[1], y[2] - x[2]};
            float square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
            if (square >= square_max) {
                continue;
            }
            float q = sqrtf(square) * inverse;
            float w = 1.0f - q * q * q;
            m.weight += w;
            m.count += 1.0f;
            for (int k = 0; k < AXIS_COUNT; ++k) {
                m.first[k] += w * d[k];
                m.second[k] += w * d[k] * d[k];
            }
            m.second[3] += w * d[0] * d[1];
            m.second[4] += w * d[0] * d[2];
            m.second[5] += w * d[1] * d[2];
        }
    }
    return m;
}

// One rotation of Jacobi's method that makes a[i][j] zero; v collects the axes as columns.
static void rotate(float a[3][3], float v[3][3], int i, int j) {
    if (fabsf(a[i][j]) < 1e-12f) {
        return;
    }
    float theta = 0.5f * (a[j][j] - a[i][i]) / a[i][j];
    float t = (theta < 0.0f ? -1.0f : 1.0f) / (fabsf(theta) + sqrtf(theta * theta + 1.0f));
    float c = 1.0f / sqrtf(t * t + 1.0f), s = t * c;
    for (int k = 0; k < AXIS_COUNT; ++k) {
        float x = a[k][i], y = a[k][j];
        a[k][i] = c * x - s * y;
        a[k][j] = s * x + c * y;
    }
    for (int k = 0; k < AXIS_COUNT; ++k) {
        float x = a[i][k], y = a[j][k];
        a[i][k] = c * x - s * y;
        a[j][k] = s * x + c * y;
        x = v[k][i];
        y = v[k][j];
        v[k][i] = c * x - s * y;
        v[k][j] = s * x + c * y;
    }
}

static void diagonalise(float a[3][3], float v[3][3]) {
    for (int sweep = 0; sweep < SWEEPS; ++sweep) {
        rotate(a, v, 0, 1);
        rotate(a, v, 0, 2);
        rotate(a, v, 1, 2);
    }
}

// The kernel with the axes v (columns) of these lengths.
static void set_shape(mesh_kernel* kernel, float v[3][3], const float length[3]) {
    float g[3][3];
    for (int i = 0; i < AXIS_COUNT; ++i) {
        float reach = 0.0f;
        for (int j = 0; j < AXIS_COUNT; ++j) {
            g[i][j] = 0.0f;
            for (int k = 0; k < AXIS_COUNT; ++k) {
                g[i][j] += v[i][k] * v[j][k] / length[k];
            }
            reach += v[i][j] * v[i][j] * length[j] * length[j];
        }
        kernel->reach[i] = sqrtf(reach);
        kernel->shape[i] = g[i][i];
    }
    kernel->shape[3] = g[0][1];
    kernel->shape[4] = g[0][2];
    kernel->shape[5] = g[1][2];
    kernel->weight /= length[0] * length[1] * length[2];
}

static void set_round(mesh_kernel* kernel, float length) {
    for (int k = 0; k < AXIS_COUNT; ++k) {
        kernel->shape[k] = 1.0f / length;
        kernel->shape[AXIS_COUNT + k] = 0.0f;
        kernel->reach[k] = length;
    }
    kernel->weight /= length * length * length;
}

static void set_kernel(mesh_kernel* kernel, const moments* m, const float u[3], double spacing,
                       float radius) {
    float h = (float)(support * spacing);
    float square = u[0] * u[0] + u[1] * u[1] + u[2] * u[2];
    if (m->count <= FEW) {
        set_round(kernel, of_few * h);
        return;
    }
    if (m->count > full_count && square < full_shift * full_shift * radius * radius) {
        set_round(kernel, h);
        return;
    }
    float scale = 1.0f / (variance * radius * radius);
    float a[3][3], v[3][3] = {{1.0f, 0.0f, 0.0f}, {0.0f, 1.0f, 0.0f}, {0.0f, 0.0f, 1.0f}};
    for (int i = 0; i < AXIS_COUNT; ++i) {
        for (int j = 0; j < AXIS_COUNT; ++j) {
            float second = m->second[i == j ? i : i + j + 2];
            a[i][j] = scale * (second / m->weight - u[i] * u[j]);
        }
    }
    diagonalise(a, v);
    float length[3];
    for (int k = 0; k < AXIS_COUNT; ++k) {
        float ratio = sqrtf(fmaxf(a[k][k], 0.0f));
        length[k] = h * fminf(fmaxf(ratio, shortest), longest);
    }
    set_shape(kernel, v, length);
}

static void set_deep(const kernel_job* job, int64_t bin) {
    const mesh_points* p = job->p;
    for (int64_t i = p->bin_first[bin]; i < p->bin_first[bin + 1]; ++i) {
        job->out[i].weight = 0.0f;
        for (int k = 0; k < AXIS_COUNT; ++k) {
            job->shift[AXIS_COUNT * i + k] = 0.0f;
            job->out[i].place[k] = p->place[AXIS_COUNT * i + k];
        }
    }
}

static void find_moments(void* data, int64_t begin, int64_t end) {
    const kernel_job* job = data;
    const mesh_points* p = job->p;
    float radius = (float)p->bin;
    for (int64_t b = begin; b < end; ++b) {
        mesh_run runs[MESH_RUNS];
        if (job->is_deep[b] != 0) {
            set_deep(job, b);
            continue;
        }
        mesh_points_around(p, p->bin_at[b], runs);
        for (int64_t i = p->bin_first[b]; i < p->bin_first[b + 1]; ++i) {
            const float* x = p->place + AXIS_COUNT * i;
            moments m = moments_of(p, runs, x, radius);
            float* u = job->shift + AXIS_COUNT * i;
            for (int k = 0; k < AXIS_COUNT; ++k) {
                u[k] = m.first[k] / m.weight;
            }
            job->out[i].weight = p->volume[i];
            set_kernel(&job->out[i], &m, u, p->spacing, radius);
        }
    }
}

// The weighted mean of the neighbours' u.
static void mean_shift(const kernel_job* job, const mesh_run runs[MESH_RUNS], const float x[3],
                       float out[3]) {
    const mesh_points* p = job->p;
    float radius = (float)p->bin, weight = 0.0f, sum[3] = {0.0f, 0.0f, 0.0f};
    for (int row = 0; row < MESH_RUNS; ++row) {
        for (int64_t j = runs[row].first; j < runs[row].last; ++j) {
            const float* y = p->place + AXIS_COUNT * j;
            float d[3] = {y[0] - x[0], y[1] - x[1], y[2] - x[2]};
            float q = (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]) / (radius * radius);
            float w = q < 1.0f ? 1.0f - q : 0.0f;
            weight += w;
            for (int k = 0; k < AXIS_COUNT; ++k) {
                sum[k] += w * job->shift[AXIS_COUNT * j + k];
            }
        }
    }
    for (int k = 0; k < AXIS_COUNT; ++k) {
        out[k] = sum[k] / weight;
    }
}

static void place_kernels(void* data, int64_t begin, int64_t end) {
    const kernel_job* job = data;
    const mesh_points* p = job->p;
    for (int64_t b = begin; b < end; ++b) {
        mesh_run runs[MESH_RUNS];
        if (job->is_deep[b] != 0) {
            continue;
        }
        mesh_points_around(p, p->bin_at[b], runs);
        for (int64_t i = p->bin_first[b]; i < p->bin_first[b + 1]; ++i) {
            const float *x = p->place + AXIS_COUNT * i, *u = job->shift + AXIS_COUNT * i;
            float mean[3];
            mean_shift(job, runs, x, mean);
            for (int k = 0; k < AXIS_COUNT; ++k) {
                job->out[i].place[k] = x[k] + averaging * (u[k] - mean[k]);
            }
        }
    }
}

static treacle_status mesh_kernels_allocate(kernel_job* job) {
    treacle_context* ctx = job->p->ctx;
    size_t values = (size_t)job->p->count * AXIS_COUNT;
    void* block = NULL;
    TREACLE_TRY(alloc_array(ctx, values, sizeof(float), "averaged particles", &block));
    job->shift = block;
    return TREACLE_OK;
}

treacle_status mesh_kernels_find(const mesh_points* p, const uint8_t* is_deep, mesh_kernel* out) {
    TREACLE_ASSERT(out != NULL || p->count == 0);
    kernel_job job = {.p = p, .out = out, .is_deep = is_deep};
    treacle_status status = mesh_kernels_allocate(&job);
    if (status == TREACLE_OK) {
        parallel_for(p->ctx, p->bin_count, BIN_GRAIN, find_moments, &job);
        parallel_for(p->ctx, p->bin_count, BIN_GRAIN, place_kernels, &job);
    }
    alloc_free(p->ctx, job.shift, (size_t)p->count * AXIS_COUNT * sizeof(float));
    return status;
}
