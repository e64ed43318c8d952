#include "mesh/mesh_field.h"

#include <math.h>

#include "base/alloc.h"
#include "base/parallel.h"
#include "mesh/block_filter.h"
#include "mesh/field_bulk.h"
#include "mesh/mesh_kernels.h"

enum { AXIS_COUNT = 3, BLOCK_GRAIN = 4 };

// Standard deviation of the filter, cells. In flat domains there are fewer particles.
static const double bulk_deviation = 0.56, flat_deviation = 0.56;
static const float kernel_width = 0.7f; // cells, of what a kernel of thin liquid is cut by

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
                low[k] = fmin(low[k], x);
                high[k] = fmax(high[k], x);
            }
        }
        status = block_list_add(&list, step, low, high);
    }
    if (status == TREACLE_OK) {
        status = block_list_widen(&list, (int)ceil(reach / (step * BLOCK_SIDE)));
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
    const mesh_kernel* kernels; // NULL: nothing is thin
    mesh_blocks* blocks;
    const float* open;      // what solids leave open; NULL: all
    const field_bulk* bulk; // where what counts
    double reach;           // cells
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

// The density of kernels at the samples of a block, of thin liquid.
static void sum_kernels(const smooth_job* job, int64_t block, float out[BLOCK_SAMPLES]) {
    const mesh_blocks* b = job->blocks;
    field_window w = mesh_field_window(job->p, b, block, job->reach);
    for (int32_t z = w.low[2]; z <= w.high[2]; ++z) {
        for (int32_t y = w.low[1]; y <= w.high[1]; ++y) {
            mesh_run run = mesh_points_row(job->p, w.low[0], w.high[0], y, z);
            for (int64_t j = run.first; j < run.last; ++j) {
                if (job->kernels[j].weight > 0.0f) {
                    add_kernel(&job->kernels[j], &w, b->step, out);
                }
            }
        }
    }
}

// Kernels of thin liquid are narrow: behind a wall there is half of one.
static float open_to_kernel(const smooth_job* job, int64_t at) {
    return job->blocks->clip == NULL
               ? 1.0f
               : fminf(fmaxf(0.5f + job->blocks->clip[at] / kernel_width, 0.3f), 1.0f);
}

static void blend_thin(void* data, int64_t begin, int64_t end) {
    const smooth_job* job = data;
    for (int64_t i = begin; i < end; ++i) {
        float fraction[BLOCK_SAMPLES], thin[BLOCK_SAMPLES] = {0.0f};
        bulk_range range = field_bulk_at(job->bulk, job->blocks, i, fraction);
        if (range.low >= 1.0f) {
            continue;
        }
        sum_kernels(job, i, thin);
        for (int s = 0; s < BLOCK_SAMPLES; ++s) {
            float* value = &job->blocks->value[BLOCK_SAMPLES * i + s];
            float of_thin = thin[s] / open_to_kernel(job, BLOCK_SAMPLES * i + s);
            *value = fraction[s] * *value + (1.0f - fraction[s]) * of_thin;
        }
    }
}

// Of all bins, those that are far from thin liquid.
static treacle_status find_deep(const smooth_job* job, uint8_t** out, int64_t* thin) {
    void* block = NULL;
    TREACLE_TRY(alloc_array(job->p->ctx, (size_t)job->p->bin_count, 1, "deep bins", &block));
    *out = block;
    *thin = 0;
    for (int64_t b = 0; b < job->p->bin_count; ++b) {
        bool is_thin = field_bulk_is_thin(job->bulk, job->p, b);
        (*out)[b] = is_thin ? 0 : 1;
        *thin += is_thin;
    }
    return TREACLE_OK;
}

static treacle_status add_thin(smooth_job* job) {
    const mesh_points* p = job->p;
    uint8_t* is_deep = NULL;
    int64_t thin = 0;
    void* kernels = NULL;
    size_t bytes = (size_t)p->count * sizeof(mesh_kernel);
    TREACLE_TRY(find_deep(job, &is_deep, &thin));
    treacle_status status = TREACLE_OK;
    if (thin > 0) {
        status = alloc_array(p->ctx, (size_t)p->count, sizeof(mesh_kernel), "kernels", &kernels);
    }
    if (status == TREACLE_OK && thin > 0) {
        status = mesh_kernels_find(p, is_deep, kernels);
        job->kernels = kernels;
    }
    if (status == TREACLE_OK && thin > 0) {
        parallel_for(p->ctx, job->blocks->count, BLOCK_GRAIN, blend_thin, job);
    }
    alloc_free(p->ctx, kernels, kernels == NULL ? 0 : bytes);
    alloc_free(p->ctx, is_deep, (size_t)p->bin_count);
    return status;
}

// The share of liquid, smoothed. Level sets of curved bodies are put back where they were.
static treacle_status fill_bulk(smooth_job* job, const mesh_room* room, double resolution,
                                float** open) {
    mesh_blocks* b = job->blocks;
    double deviation = (room->flat_axis >= 0 ? flat_deviation : bulk_deviation) * resolution;
    int passes = (int)fmax(floor(2.0 * (deviation * deviation - 0.25) + 0.5), 0.0);
    TREACLE_TRY(block_splat_points(job->p, b));
    TREACLE_TRY(block_filter_smooth(b, b->value, 0.25f, passes));
    TREACLE_TRY(field_room_open(b, passes, open));
    for (int64_t i = 0; i < b->count * BLOCK_SAMPLES && *open != NULL; ++i) {
        b->value[i] /= (*open)[i];
    }
    return block_filter_unbend(b, b->value, 0.25f + 0.5f * (float)passes);
}

static treacle_status fill_smooth(smooth_job* job, const mesh_room* room, double resolution) {
    field_bulk bulk = {0};
    float* open = NULL;
    mesh_blocks* b = job->blocks;
    job->bulk = &bulk;
    treacle_status status = field_room_clip(room, b);
    if (status == TREACLE_OK) {
        status = fill_bulk(job, room, resolution, &open);
    }
    if (status == TREACLE_OK) {
        status = field_bulk_create(job->p, room, &bulk);
    }
    if (status == TREACLE_OK) {
        status = add_thin(job);
    }
    alloc_free(b->ctx, open, open == NULL ? 0 : (size_t)b->count * BLOCK_SAMPLES * sizeof(float));
    field_bulk_destroy(&bulk);
    return status;
}

treacle_status mesh_field_smooth(const mesh_points* p, const mesh_room* room, double resolution,
                                 mesh_field* out) {
    TREACLE_ASSERT(resolution > 0.0);
    // Kernels are drawn away from their points' bins by the averaging, less than half a spacing.
    double reach = mesh_kernels_reach(p) + p->spacing;
    *out = (mesh_field){.iso = 0.5f, .low = 0.2f, .high = 0.8f};
    TREACLE_TRY(mesh_field_blocks(p, 1.0 / resolution, 0.5, reach, &out->blocks));
    smooth_job job = {.p = p, .blocks = &out->blocks, .reach = reach};
    treacle_status status = fill_smooth(&job, room, resolution);
    if (status != TREACLE_OK) {
        mesh_blocks_destroy(&out->blocks);
    }
    return status;
}
