#include "mesh/mesh_field.h"

#include <math.h>

#include "base/alloc.h"
#include "base/parallel.h"
#include "mesh/mesh_kernels.h"

enum { AXIS_COUNT = 3, BLOCK_GRAIN = 4 };

treacle_status mesh_field_blocks(const mesh_points* p, double step, double offset, double reach,
                                 mesh_blocks* out) {
    TREACLE_ASSERT(step > 0.0 && reach >= 0.0);
    TREACLE_ASSERT(p->bin > 0.0);
    block_list list = {.ctx = p->ctx};
    treacle_status status = TREACLE_OK;
    for (int64_t b = 0; b < p->bin_count && status == TREACLE_OK; ++b) {
        double low[3], high[3];
        for (int k = 0; k < AXIS_COUNT; ++k) {
            low[k] = INFINITY;
            high[k] = -INFINITY;
        }
        for (int64_t i = p->bin_first[b]; i < p->bin_first[b + 1]; ++i) {
            for (int k = 0; k < AXIS_COUNT; ++k) {
                double x = (double)p->place[AXIS_COUNT * i + k];
                low[k] = fmin(low[k], x - reach);
                high[k] = fmax(high[k], x + reach);
            }
        }
        status = block_list_add(&list, step, low, high);
    }
    if (status == TREACLE_OK) {
        status = mesh_blocks_create(&list, step, 0.0f, out);
    }
    out->offset = offset;
    block_list_destroy(&list);
    return status;
}

field_window mesh_field_window(const mesh_points* p, const mesh_blocks* b, int64_t block,
                               double reach) {
    TREACLE_ASSERT(block >= 0 && block < b->count);
    TREACLE_ASSERT(p->bin > 0.0 && reach >= 0.0);
    field_window w;
    for (int k = 0; k < AXIS_COUNT; ++k) {
        w.corner[k] = b->step * ((double)BLOCK_SIDE * b->at[block][k] + b->offset);
        w.low[k] = (int32_t)floor((w.corner[k] - reach) / p->bin);
        w.high[k] = (int32_t)floor((w.corner[k] + b->step * (BLOCK_SIDE - 1) + reach) / p->bin);
    }
    return w;
}

typedef struct smooth_job {
    const mesh_points* p;
    const mesh_kernel* kernels;
    mesh_blocks* blocks;
    double reach; // cells
} smooth_job;

// The samples of a block that a kernel reaches along an axis.
typedef struct sample_range {
    int first, last;
} sample_range;

static sample_range range_of(double place, double reach, double corner, double step) {
    double first = ceil((place - reach - corner) / step);
    double last = floor((place + reach - corner) / step);
    return (sample_range){first < 0.0          ? 0
                          : first > BLOCK_SIDE ? BLOCK_SIDE
                                               : (int)first,
                          last > BLOCK_SIDE - 1 ? BLOCK_SIDE - 1
                          : last < -1.0         ? -1
                                                : (int)last};
}

static void add_kernel(const mesh_kernel* kernel, const field_window* w, double step, float* out) {
    sample_range r[3];
    float at[3];
    for (int k = 0; k < AXIS_COUNT; ++k) {
        r[k] = range_of((double)kernel->place[k], (double)kernel->reach[k], w->corner[k], step);
        if (r[k].first > r[k].last) {
            return;
        }
        at[k] = (float)(w->corner[k] - (double)kernel->place[k]);
    }
    const float* g = kernel->shape;
    for (int z = r[2].first; z <= r[2].last; ++z) {
        float dz = at[2] + (float)step * (float)z;
        for (int y = r[1].first; y <= r[1].last; ++y) {
            float dy = at[1] + (float)step * (float)y;
            float* row = out + (z * BLOCK_SIDE + y) * BLOCK_SIDE;
            for (int x = r[0].first; x <= r[0].last; ++x) {
                float dx = at[0] + (float)step * (float)x;
                float a = g[0] * dx + g[3] * dy + g[4] * dz;
                float b = g[3] * dx + g[1] * dy + g[5] * dz;
                float c = g[4] * dx + g[5] * dy + g[2] * dz;
                row[x] += kernel->weight * mesh_kernel_value(a * a + b * b + c * c);
            }
        }
    }
}

static void fill_smooth(void* data, int64_t begin, int64_t end) {
    const smooth_job* job = data;
    mesh_blocks* b = job->blocks;
    for (int64_t i = begin; i < end; ++i) {
        field_window w = mesh_field_window(job->p, b, i, job->reach);
        for (int32_t z = w.low[2]; z <= w.high[2]; ++z) {
            for (int32_t y = w.low[1]; y <= w.high[1]; ++y) {
                mesh_run run = mesh_points_row(job->p, w.low[0], w.high[0], y, z);
                for (int64_t j = run.first; j < run.last; ++j) {
                    add_kernel(&job->kernels[j], &w, b->step, b->value + BLOCK_SAMPLES * i);
                }
            }
        }
    }
}

treacle_status mesh_field_smooth(const mesh_points* p, double resolution, mesh_field* out) {
    TREACLE_ASSERT(resolution > 0.0);
    // Kernels are drawn away from their points' bins by the averaging, less than half a spacing.
    double reach = mesh_kernels_reach(p) + p->spacing;
    *out = (mesh_field){.iso = 0.5f, .low = 0.2f, .high = 0.8f};
    void* kernels = NULL;
    size_t bytes = (size_t)p->count * sizeof(mesh_kernel);
    TREACLE_TRY(alloc_array(p->ctx, (size_t)p->count, sizeof(mesh_kernel), "kernels", &kernels));
    treacle_status status = mesh_kernels_find(p, kernels);
    if (status == TREACLE_OK) {
        status = mesh_field_blocks(p, 1.0 / resolution, 0.0, reach, &out->blocks);
    }
    if (status == TREACLE_OK) {
        smooth_job job = {p, kernels, &out->blocks, reach};
        parallel_for(p->ctx, out->blocks.count, BLOCK_GRAIN, fill_smooth, &job);
    }
    alloc_free(p->ctx, kernels, bytes);
    return status;
}
