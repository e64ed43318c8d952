// Smoothing in the picture: the five-tap B-spline with growing gaps ("a trous"), rows then columns.
// Level k has taps 2^k pixels apart and adds 4^k to the variance, so a few levels reach far.
#include <math.h>

#include "base/parallel.h"
#include "render/preview_splat.h"

enum { TAPS = 5, LEVELS_MAX = 6, ROW_GRAIN = 8 };

static const float tap_weight[TAPS] = {1.0f / 16, 4.0f / 16, 6.0f / 16, 4.0f / 16, 1.0f / 16};

typedef struct smooth_job {
    preview_layer* layer;
    const float* from;
    float* to;
    int gap; // pixels between the taps
    bool is_vertical;
    float step; // depths further apart than this do not mix
} smooth_job;

static int clamp(int i, int count) {
    return i < 0 ? 0 : i >= count ? count - 1 : i;
}

// The row of tap t for row y: the row itself, shifted later, when taps lie along it.
static const float* tap_row(const smooth_job* job, int y, int t) {
    const preview_view* view = &job->layer->view;
    int at = job->is_vertical ? clamp(y + (t - TAPS / 2) * job->gap, view->height) : y;
    return job->from + (size_t)at * (size_t)view->width;
}

// Depth at x..x_end of a row whose taps need no clamping along the row.
static void smooth_depth_span(const smooth_job* job, int y, int x_begin, int x_end) {
    const preview_view* view = &job->layer->view;
    const float* row[TAPS];
    int shift[TAPS];
    for (int t = 0; t < TAPS; ++t) {
        row[t] = tap_row(job, y, t);
        shift[t] = job->is_vertical ? 0 : (t - TAPS / 2) * job->gap;
    }
    const float* centre = job->from + (size_t)y * (size_t)view->width;
    float* to = job->to + (size_t)y * (size_t)view->width;
    float step = job->step;
    for (int x = x_begin; x < x_end; ++x) {
        float z = centre[x];
        float sum = 0.0f;
        float weight = 0.0f;
        for (int t = 0; t < TAPS; ++t) {
            float other = row[t][clamp(x + shift[t], view->width)];
            float w = fabsf(other - z) < step ? tap_weight[t] : 0.0f;
            sum += w * (w > 0.0f ? other - z : 0.0f);
            weight += w;
        }
        to[x] = weight > 0.0f ? z + sum / weight : z;
    }
}

static void smooth_depth_rows(void* data, int64_t begin, int64_t end, int worker) {
    const smooth_job* job = data;
    (void)worker;
    for (int64_t y = begin; y < end; ++y) {
        smooth_depth_span(job, (int)y, 0, job->layer->view.width);
    }
}

static void smooth_plain_rows(void* data, int64_t begin, int64_t end, int worker) {
    const smooth_job* job = data;
    const preview_view* view = &job->layer->view;
    (void)worker;
    for (int64_t y = begin; y < end; ++y) {
        float* to = job->to + (size_t)y * (size_t)view->width;
        for (int x = 0; x < view->width; ++x) {
            float sum = 0.0f;
            for (int t = 0; t < TAPS; ++t) {
                int shift = job->is_vertical ? 0 : (t - TAPS / 2) * job->gap;
                sum += tap_weight[t] * tap_row(job, (int)y, t)[clamp(x + shift, view->width)];
            }
            to[x] = sum;
        }
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
    int levels = level_count(reach);
    for (int level = 0; level < levels; ++level) {
        smooth_job job = {.gap = 1 << level, .step = step};
        smooth_level(layer, layer->depth, job, smooth_depth_rows);
    }
}

void preview_smooth_thickness(preview_layer* layer, float reach) {
    int levels = level_count(reach);
    for (int level = 0; level < levels; ++level) {
        smooth_job job = {.gap = 1 << level};
        smooth_level(layer, layer->thickness, job, smooth_plain_rows);
    }
}
