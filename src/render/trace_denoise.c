#include "base/alloc.h"
#include "base/parallel.h"
#include "render/trace_image.h"

enum { ROUNDS = 4, ROW_GRAIN = 4 };

static const float kernel[3] = {0.375f, 0.25f, 0.0625f};

typedef struct denoise_job {
    trace_layers* l;
    const v3f* from; // light over albedo
    const float* variance_from;
    v3f* to;
    float* variance_to;
    int step;
} denoise_job;

// The parts of the likeness of two pixels that do not depend on light.
static float likeness(const trace_layers* l, size_t i, size_t j, int step) {
    v3f n = v3f_sub(l->normal[i], l->normal[j]), a = v3f_sub(l->albedo[i], l->albedo[j]);
    float depth =
        fabsf(l->depth[i] - l->depth[j]) / (0.02f * (float)step * trace_max(l->depth[i], 1e-6f));
    float e = v3f_dot(n, n) / 0.08f + v3f_dot(a, a) / 0.02f + depth;
    return (l->depth[i] > 0.0f) == (l->depth[j] > 0.0f) ? expf(-e) : 0.0f;
}

// The variance of the pixel and its neighbours: one that missed all light by chance does not know
// it.
static float variance_around(const denoise_job* job, int x, int y) {
    const trace_layers* l = job->l;
    float sum = 0.0f, count = 0.0f;
    for (int v = y - 2; v <= y + 2; ++v) {
        for (int u = x - 2; u <= x + 2; ++u) {
            if (u >= 0 && v >= 0 && u < l->width && v < l->height) {
                sum += job->variance_from[(size_t)v * (size_t)l->width + (size_t)u];
                count += 1.0f;
            }
        }
    }
    return sum / count;
}

static void filter_pixel(const denoise_job* job, int x, int y) {
    const trace_layers* l = job->l;
    size_t i = (size_t)y * (size_t)l->width + (size_t)x;
    v3f sum = v3f_grey(0.0f);
    float weight = 0.0f, variance = 0.0f, mine = v3f_luminance(job->from[i]);
    float tolerance = 4.0f * sqrtf(variance_around(job, x, y)) + 0.01f * mine + 1e-4f;
    for (int dy = -2; dy <= 2; ++dy) {
        for (int dx = -2; dx <= 2; ++dx) {
            int u = x + dx * job->step, v = y + dy * job->step;
            if (u < 0 || v < 0 || u >= l->width || v >= l->height) {
                continue;
            }
            size_t j = (size_t)v * (size_t)l->width + (size_t)u;
            float difference = fabsf(v3f_luminance(job->from[j]) - mine) / tolerance;
            float w = kernel[dx < 0 ? -dx : dx] * kernel[dy < 0 ? -dy : dy] *
                      likeness(l, i, j, job->step) * expf(-difference);
            sum = v3f_madd(sum, w, job->from[j]);
            weight += w;
            variance += w * w * job->variance_from[j];
        }
    }
    job->to[i] = v3f_scale(1.0f / weight, sum);
    job->variance_to[i] = variance / (weight * weight);
}

static void filter_rows(void* data, int64_t begin, int64_t end) {
    const denoise_job* job = data;
    for (int64_t y = begin; y < end; ++y) {
        for (int x = 0; x < job->l->width; ++x) {
            filter_pixel(job, x, (int)y);
        }
    }
}

static v3f divide(v3f a, v3f b) {
    return v3f_make(a.x / trace_max(b.x, 0.05f), a.y / trace_max(b.y, 0.05f),
                    a.z / trace_max(b.z, 0.05f));
}

static v3f multiply(v3f a, v3f b) {
    return v3f_make(a.x * trace_max(b.x, 0.05f), a.y * trace_max(b.y, 0.05f),
                    a.z * trace_max(b.z, 0.05f));
}

// One pixel that outshines all eight around it is a path of small chance, no thing: it becomes as
// bright as the brightest of them.
static v3f dim_speck(const trace_layers* l, const v3f* light, int x, int y) {
    v3f mine = light[(size_t)y * (size_t)l->width + (size_t)x];
    float most = 0.0f, bright = v3f_luminance(mine);
    for (int n = 0; n < 9; ++n) {
        int u = x + n % 3 - 1, v = y + n / 3 - 1;
        bool is_other = n != 4 && u >= 0 && v >= 0 && u < l->width && v < l->height;
        if (is_other) {
            most = trace_max(most, v3f_luminance(light[(size_t)v * (size_t)l->width + (size_t)u]));
        }
    }
    return bright > most && most > 0.0f ? v3f_scale(most / bright, mine) : mine;
}

static void dim_rows(void* data, int64_t begin, int64_t end) {
    const denoise_job* job = data;
    for (int64_t y = begin; y < end; ++y) {
        for (int x = 0; x < job->l->width; ++x) {
            job->to[(size_t)y * (size_t)job->l->width + (size_t)x] =
                dim_speck(job->l, job->from, x, (int)y);
        }
    }
}

static void run_rounds(trace_layers* l, v3f* light[2], float* variance[2]) {
    size_t n = (size_t)l->width * (size_t)l->height;
    denoise_job specks = {.l = l, .from = l->colour, .to = light[1]};
    parallel_for(l->ctx, l->height, ROW_GRAIN, dim_rows, &specks);
    for (size_t i = 0; i < n; ++i) {
        float albedo = trace_max(v3f_luminance(l->albedo[i]), 0.05f);
        light[0][i] = divide(light[1][i], l->albedo[i]);
        variance[0][i] = l->variance[i] / (albedo * albedo);
    }
    for (int round = 0; round < ROUNDS; ++round) {
        int from = round % 2, to = 1 - from;
        denoise_job job = {l, light[from], variance[from], light[to], variance[to], 1 << round};
        parallel_for(l->ctx, l->height, ROW_GRAIN, filter_rows, &job);
    }
    for (size_t i = 0; i < n; ++i) {
        l->colour[i] = multiply(light[ROUNDS % 2][i], l->albedo[i]);
    }
}

treacle_status trace_denoise(trace_layers* l) {
    TREACLE_ASSERT(l->block != NULL && l->width > 0 && l->height > 0);
    size_t n = (size_t)l->width * (size_t)l->height;
    void* light = NULL;
    void* variance = NULL;
    TREACLE_TRY(alloc_array(l->ctx, 2 * n, sizeof(v3f), "a denoised picture", &light));
    treacle_status status =
        alloc_array(l->ctx, 2 * n, sizeof(float), "a denoised picture", &variance);
    if (status == TREACLE_OK) {
        v3f* lights[2] = {light, (v3f*)light + n};
        float* variances[2] = {variance, (float*)variance + n};
        run_rounds(l, lights, variances);
        alloc_free(l->ctx, variance, 2 * n * sizeof(float));
    }
    alloc_free(l->ctx, light, 2 * n * sizeof(v3f));
    return status;
}
