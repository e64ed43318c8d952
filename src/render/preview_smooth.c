// Smoothing in the picture: the five-tap B-spline with growing gaps ("a trous"), rows then columns.
// Level k has taps 2^k pixels apart and adds 4^k to the variance, so a few levels reach far.
#include <math.h>

#include "base/parallel.h"
#include "render/preview_splat.h"

enum { PAIRS = 2, LEVELS_MAX = 6, ROW_GRAIN = 8 };

// 1 4 6 4 1, over 16: the middle, then the pairs beside it.
static const float middle_weight = 6.0f / 16.0f;
static const float pair_weight[PAIRS] = {4.0f / 16.0f, 1.0f / 16.0f};

typedef struct smooth_job {
    preview_layer* layer;
    const float* from;
    float* to;
    int gap; // pixels between the taps
    bool is_vertical;
    float sharpness; // 1/m: depths that differ by more than 1/sharpness do not mix
} smooth_job;

static int clamp(int i, int count) {
    return i < 0 ? 0 : i >= count ? count - 1 : i;
}

// The row that tap `side * (pair + 1)` of row y lies in.
static const float* tap_row(const smooth_job* job, int y, int steps) {
    const preview_view* view = &job->layer->view;
    int at = job->is_vertical ? clamp(y + steps * job->gap, view->height) : y;
    return job->from + (size_t)at * (size_t)view->width;
}

// 1 at 0, falling smoothly to 0 at 1. NaN, from two empty pixels, gives 0.
static float trust(float x) {
    float rest = 1.0f - x * x;
    return rest > 0.0f ? rest * rest : 0.0f;
}

// How far the pair of taps around a pixel draws its depth z. Where the two lie on a plane with it,
// whatever its slope, they count together; at a step each counts by its own distance.
static void add_pair(float z, float low, float high, float sharpness, float sum[2]) {
    float d_low = low - z;
    float d_high = high - z;
    float together = trust(0.5f * (d_low + d_high) * sharpness) * trust(0.25f * d_low * sharpness) *
                     trust(0.25f * d_high * sharpness);
    float w_low = together + (1.0f - together) * trust(d_low * sharpness);
    float w_high = together + (1.0f - together) * trust(d_high * sharpness);
    sum[0] += (w_low > 0.0f ? w_low * d_low : 0.0f) + (w_high > 0.0f ? w_high * d_high : 0.0f);
    sum[1] += w_low + w_high;
}

static void smooth_depth_row(const smooth_job* job, int y) {
    const preview_view* view = &job->layer->view;
    const float* low[PAIRS];
    const float* high[PAIRS];
    for (int k = 0; k < PAIRS; ++k) {
        low[k] = tap_row(job, y, -(k + 1));
        high[k] = tap_row(job, y, k + 1);
    }
    const float* centre = job->from + (size_t)y * (size_t)view->width;
    float* to = job->to + (size_t)y * (size_t)view->width;
    for (int x = 0; x < view->width; ++x) {
        to[x] = centre[x];
        if (!(centre[x] < INFINITY)) {
            continue;
        }
        float total[2] = {0.0f, middle_weight};
        for (int k = 0; k < PAIRS; ++k) {
            int shift = job->is_vertical ? 0 : (k + 1) * job->gap;
            float sum[2] = {0.0f, 0.0f};
            add_pair(centre[x], low[k][clamp(x - shift, view->width)],
                     high[k][clamp(x + shift, view->width)], job->sharpness, sum);
            total[0] += pair_weight[k] * sum[0];
            total[1] += pair_weight[k] * sum[1];
        }
        to[x] += total[0] / total[1];
    }
}

static void smooth_depth_rows(void* data, int64_t begin, int64_t end) {
    const smooth_job* job = data;
    for (int64_t y = begin; y < end; ++y) {
        smooth_depth_row(job, (int)y);
    }
}

// One row, pixels from x_begin to x_end, whose taps all lie inside the picture.
static void smooth_plain_span(const smooth_job* job, int y, int x_begin, int x_end) {
    size_t row = (size_t)y * (size_t)job->layer->view.width;
    int shift = job->is_vertical ? 0 : job->gap;
    const float* centre = job->from + row;
    const float* low_1 = tap_row(job, y, -1) - shift;
    const float* high_1 = tap_row(job, y, 1) + shift;
    const float* low_2 = tap_row(job, y, -2) - 2 * (ptrdiff_t)shift;
    const float* high_2 = tap_row(job, y, 2) + 2 * (ptrdiff_t)shift;
    float* restrict to = job->to + row;
    for (int x = x_begin; x < x_end; ++x) {
        to[x] = middle_weight * centre[x] + pair_weight[0] * (low_1[x] + high_1[x]) +
                pair_weight[1] * (low_2[x] + high_2[x]);
    }
}

// The same near the ends of a row, where taps along it stop at the edge.
static void smooth_plain_edge(const smooth_job* job, int y, int x_begin, int x_end) {
    int width = job->layer->view.width;
    const float* row = job->from + (size_t)y * (size_t)width;
    float* to = job->to + (size_t)y * (size_t)width;
    for (int x = x_begin; x < x_end; ++x) {
        float sum = middle_weight * row[x];
        for (int k = 0; k < PAIRS; ++k) {
            int shift = (k + 1) * job->gap;
            sum += pair_weight[k] * (row[clamp(x - shift, width)] + row[clamp(x + shift, width)]);
        }
        to[x] = sum;
    }
}

static void smooth_plain_rows(void* data, int64_t begin, int64_t end) {
    const smooth_job* job = data;
    int width = job->layer->view.width;
    int margin = job->is_vertical ? 0 : PAIRS * job->gap;
    bool has_middle = 2 * margin < width;
    int middle[2] = {has_middle ? margin : 0, has_middle ? width - margin : 0};
    for (int64_t y = begin; y < end; ++y) {
        smooth_plain_edge(job, (int)y, 0, middle[0]);
        smooth_plain_span(job, (int)y, middle[0], middle[1]);
        smooth_plain_edge(job, (int)y, middle[1], width);
    }
}

// Levels whose variance, (4^n - 1)/3, comes up to reach^2.
static int level_count(float reach) {
    int levels = 0;
    float variance = 0.0f;
    float next = 1.0f;
    while (levels < LEVELS_MAX && variance + 0.5f * next < reach * reach) {
        variance += next;
        next *= 4.0f;
        levels += 1;
    }
    return levels;
}

// One level: rows into the spare buffer, columns back.
static void smooth_level(preview_layer* layer, float* field, smooth_job job, parallel_fcn* fcn) {
    job.layer = layer;
    job.from = field;
    job.to = layer->spare;
    job.is_vertical = false;
    parallel_for(layer->ctx, layer->view.height, ROW_GRAIN, fcn, &job);
    job.from = layer->spare;
    job.to = field;
    job.is_vertical = true;
    parallel_for(layer->ctx, layer->view.height, ROW_GRAIN, fcn, &job);
}

void preview_smooth_depth(preview_layer* layer, float reach, float step) {
    TREACLE_ASSERT(reach >= 0.0f && layer->depth != NULL);
    int levels = level_count(reach);
    for (int level = 0; level < levels; ++level) {
        smooth_job job = {.gap = 1 << level, .sharpness = 1.0f / step};
        smooth_level(layer, layer->depth, job, smooth_depth_rows);
    }
}

void preview_smooth_thickness(preview_layer* layer, float reach) {
    TREACLE_ASSERT(reach >= 0.0f && layer->thickness != NULL);
    int levels = level_count(reach);
    for (int level = 0; level < levels; ++level) {
        smooth_job job = {.gap = 1 << level};
        smooth_level(layer, layer->thickness, job, smooth_plain_rows);
    }
}

static void cover_rows(void* data, int64_t begin, int64_t end) {
    preview_layer* layer = data;
    size_t width = (size_t)layer->view.width;
    for (size_t i = (size_t)begin * width; i < (size_t)end * width; ++i) {
        layer->thickness[i] = layer->depth[i] < INFINITY ? 1.0f : 0.0f;
    }
}

typedef struct inflate_job {
    preview_layer* layer;
    float height;
} inflate_job;

// Blurred cover is 1/2 at the edge and 1 far inside; between them the layer rises like a quarter
// circle.
static void inflate_rows(void* data, int64_t begin, int64_t end) {
    const inflate_job* job = data;
    preview_layer* layer = job->layer;
    size_t width = (size_t)layer->view.width;
    for (size_t i = (size_t)begin * width; i < (size_t)end * width; ++i) {
        float inside = 2.0f * layer->thickness[i] - 1.0f;
        float rest = inside > 0.0f ? 1.0f - inside : 1.0f;
        float rise = job->height * sqrtf(1.0f - rest * rest);
        layer->thickness[i] = layer->depth[i] < INFINITY ? 4.0f * rise : 0.0f;
        layer->depth[i] -= rise;
    }
}

void preview_inflate(preview_layer* layer, float reach, float height) {
    inflate_job job = {.layer = layer, .height = height};
    parallel_for(layer->ctx, layer->view.height, ROW_GRAIN, cover_rows, layer);
    preview_smooth_thickness(layer, reach);
    parallel_for(layer->ctx, layer->view.height, ROW_GRAIN, inflate_rows, &job);
}
