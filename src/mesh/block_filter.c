#include "mesh/block_filter.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/parallel.h"

enum {
    AXIS_COUNT = 3,
    BLOCK_GRAIN = 16,
    COLOURS = 8,
    SPREAD = BLOCK_SIDE + 2, // a block with all samples that its points reach
    SPREAD_SAMPLES = SPREAD * SPREAD * SPREAD,
};

// Shares of liquid between which a surface may be.
static const float nearly_none = 0.02f, nearly_all = 0.98f;

typedef struct filter_job {
    const mesh_blocks* b;
    const float* from;
    float* to;
    float amount;
    int pad;
    void (*sweep)(const float* in, float* out, int stride, int count, float amount);
} filter_job;

// Along one axis of a padded block as if it were one long row: what is wrong at the ends of its
// rows stays in the margin, which shrinks by one sample a sweep.
static void sweep_smooth(const float* restrict in, float* restrict out, int stride, int count,
                         float w) {
    for (int i = stride; i < count - stride; ++i) {
        out[i] = w * (in[i - stride] + in[i + stride]) + (1.0f - 2.0f * w) * in[i];
    }
}

static void sweep_max(const float* restrict in, float* restrict out, int stride, int count,
                      float unused) {
    (void)unused;
    for (int i = stride; i < count - stride; ++i) {
        out[i] = fmaxf(fmaxf(in[i - stride], in[i + stride]), in[i]);
    }
}

static void store_block(const filter_job* job, int64_t block, const float* padded) {
    int side = BLOCK_SIDE + 2 * job->pad;
    float* to = job->to + (size_t)block * BLOCK_SAMPLES;
    for (int row = 0; row < BLOCK_SIDE * BLOCK_SIDE; ++row) {
        int y = row % BLOCK_SIDE + job->pad, z = row / BLOCK_SIDE + job->pad;
        memcpy(to + (size_t)row * BLOCK_SIDE, padded + (z * side + y) * side + job->pad,
               BLOCK_SIDE * sizeof(float));
    }
}

static void sweep_blocks(void* data, int64_t begin, int64_t end) {
    const filter_job* job = data;
    int side = BLOCK_SIDE + 2 * job->pad, count = side * side * side;
    const int stride[3] = {1, side, side * side};
    float a[BLOCK_PADDED_MAX], b[BLOCK_PADDED_MAX] = {0.0f};
    for (int64_t i = begin; i < end; ++i) {
        mesh_blocks_gather(job->b, job->from, i, job->pad, job->pad, a);
        float *in = a, *out = b;
        for (int sweep = 0; sweep < AXIS_COUNT * job->pad; ++sweep) {
            job->sweep(in, out, stride[sweep % AXIS_COUNT], count, job->amount);
            float* swap = in;
            in = out;
            out = swap;
        }
        store_block(job, i, in);
    }
}

enum { BENT = BLOCK_SIDE + 2 };
static const int bent_stride[3] = {1, BENT, BENT* BENT};

// What the second derivatives sum to across the steepest way.
static float bend_of(const float* at) {
    float slope[3], steep = 1e-12f, sum = 0.0f, along = 0.0f;
    for (int k = 0; k < AXIS_COUNT; ++k) {
        slope[k] = 0.5f * (at[bent_stride[k]] - at[-bent_stride[k]]);
        steep += slope[k] * slope[k];
    }
    for (int k = 0; k < AXIS_COUNT; ++k) {
        int i = (k + 1) % 3, p = bent_stride[i], q = bent_stride[(k + 2) % 3];
        float own = at[bent_stride[k]] + at[-bent_stride[k]] - 2.0f * at[0];
        float mixed = 0.25f * (at[p + q] - at[p - q] - at[q - p] + at[-p - q]);
        sum += own;
        along += own * slope[k] * slope[k] + 2.0f * mixed * slope[i] * slope[(k + 2) % 3];
    }
    return sum - along / steep;
}

static void unbend_blocks(void* data, int64_t begin, int64_t end) {
    const filter_job* job = data;
    float in[BENT * BENT * BENT];
    for (int64_t i = begin; i < end; ++i) {
        mesh_blocks_gather(job->b, job->from, i, 1, 1, in);
        for (int s = 0; s < BLOCK_SAMPLES; ++s) {
            const float* at =
                in + ((s / 64 + 1) * BENT + s / BLOCK_SIDE % BLOCK_SIDE + 1) * BENT + s % 8 + 1;
            bool is_near = *at > nearly_none && *at < nearly_all;
            job->to[BLOCK_SAMPLES * i + s] = *at - (is_near ? job->amount * bend_of(at) : 0.0f);
        }
    }
}

static treacle_status run_filter(filter_job* job, float* values, parallel_fcn* fcn) {
    treacle_context* ctx = job->b->ctx;
    void* copy = NULL;
    size_t count = (size_t)job->b->count * BLOCK_SAMPLES;
    TREACLE_TRY(alloc_array(ctx, count, sizeof(float), "a filtered field", &copy));
    if (count > 0) {
        memcpy(copy, values, count * sizeof(float));
    }
    job->from = copy;
    job->to = values;
    parallel_for(ctx, job->b->count, BLOCK_GRAIN, fcn, job);
    alloc_free(ctx, copy, count * sizeof(float));
    return TREACLE_OK;
}

treacle_status block_filter_smooth(const mesh_blocks* b, float* values, float w, int passes) {
    TREACLE_ASSERT(passes >= 0 && w >= 0.0f && w <= 0.5f);
    for (int done = 0; done < passes; done += BLOCK_PAD_MAX) {
        int pad = passes - done < BLOCK_PAD_MAX ? passes - done : BLOCK_PAD_MAX;
        filter_job job = {.b = b, .amount = w, .pad = pad, .sweep = sweep_smooth};
        TREACLE_TRY(run_filter(&job, values, sweep_blocks));
    }
    return TREACLE_OK;
}

treacle_status block_filter_max(const mesh_blocks* b, float* values, int reach) {
    TREACLE_ASSERT(reach >= 1 && reach <= BLOCK_PAD_MAX);
    filter_job job = {.b = b, .pad = reach, .sweep = sweep_max};
    return run_filter(&job, values, sweep_blocks);
}

treacle_status block_filter_unbend(const mesh_blocks* b, float* values, float variance) {
    TREACLE_ASSERT(variance >= 0.0f);
    filter_job job = {.b = b, .amount = 0.5f * variance};
    return run_filter(&job, values, unbend_blocks);
}

// Points by the block of their nearest sample, in the order of the points.
typedef struct splat_job {
    const mesh_points* p;
    mesh_blocks* b;
    int64_t* first; // [count + 2]
    int64_t* list;  // points
    int32_t* owner; // block of a point
    int colour;
} splat_job;

// In samples from the first of all.
static float sample_coord(const splat_job* job, int64_t point, int k) {
    return job->p->place[AXIS_COUNT * point + k] / (float)job->b->step - (float)job->b->offset;
}

static void find_owners(void* data, int64_t begin, int64_t end) {
    const splat_job* job = data;
    int32_t last[3] = {0, 0, 0}, found = -1;
    for (int64_t i = begin; i < end; ++i) {
        int32_t at[3];
        for (int k = 0; k < AXIS_COUNT; ++k) {
            at[k] = (int32_t)floorf(sample_coord(job, i, k) + 0.5f) >> 3;
        }
        if (found < 0 || memcmp(at, last, sizeof(at)) != 0) {
            found = mesh_blocks_find(job->b, at);
            memcpy(last, at, sizeof(at));
        }
        job->owner[i] = found;
    }
}

static void list_points(splat_job* job) {
    int64_t* cursor = job->first + 1; // first[i + 2] counts, then first[i + 1] fills up
    for (int64_t i = 0; i < job->p->count; ++i) {
        cursor[job->owner[i] + 1] += 1;
    }
    for (int64_t i = 0; i < job->b->count; ++i) {
        cursor[i + 1] += cursor[i];
    }
    for (int64_t i = 0; i < job->p->count; ++i) {
        job->list[cursor[job->owner[i]]++] = i;
    }
}

static void spread_point(const splat_job* job, int64_t block, int64_t point, float* out) {
    float w[3][3];
    int at[3];
    for (int k = 0; k < AXIS_COUNT; ++k) {
        float u = sample_coord(job, point, k), near = floorf(u + 0.5f), d = u - near;
        at[k] = (int32_t)near - BLOCK_SIDE * job->b->at[block][k];
        w[k][0] = 0.5f * (0.5f - d) * (0.5f - d);
        w[k][1] = 0.75f - d * d;
        w[k][2] = 0.5f * (0.5f + d) * (0.5f + d);
    }
    float* to = out + (at[2] * SPREAD + at[1]) * SPREAD + at[0];
    float volume = job->p->volume[point];
    for (int z = 0; z < 3; ++z) {
        for (int y = 0; y < 3; ++y) {
            float fraction = volume * w[2][z] * w[1][y];
            float* row = to + (z * SPREAD + y) * SPREAD;
            row[0] += fraction * w[0][0];
            row[1] += fraction * w[0][1];
            row[2] += fraction * w[0][2];
        }
    }
}

// Into the block and those around it.
static void add_spread(const splat_job* job, int64_t block, const float* spread, float scale) {
    for (int z = 0; z < SPREAD; ++z) {
        int dz = (z - 1 + BLOCK_SIDE) / BLOCK_SIDE, lz = (z - 1) & (BLOCK_SIDE - 1);
        for (int y = 0; y < SPREAD; ++y) {
            int dy = (y - 1 + BLOCK_SIDE) / BLOCK_SIDE, ly = (y - 1) & (BLOCK_SIDE - 1);
            const int32_t* near = &job->b->near[block][9 * dz + 3 * dy];
            const float* row = spread + (z * SPREAD + y) * SPREAD;
            for (int x = 0; x < SPREAD; ++x) {
                int32_t n = near[(x - 1 + BLOCK_SIDE) / BLOCK_SIDE];
                int at = (lz * BLOCK_SIDE + ly) * BLOCK_SIDE + ((x - 1) & (BLOCK_SIDE - 1));
                if (n >= 0) {
                    job->b->value[(size_t)n * BLOCK_SAMPLES + (size_t)at] += scale * row[x];
                }
            }
        }
    }
}

// Blocks of one colour, of eight, do not reach the same samples: nothing races, and every sample
// is added to in the order of the colours.
static void spread_blocks(void* data, int64_t begin, int64_t end) {
    const splat_job* job = data;
    double step = job->b->step;
    float scale = (float)(1.0 / (step * step * step));
    for (int64_t i = begin; i < end; ++i) {
        const int32_t* at = job->b->at[i];
        int colour = (at[0] & 1) | (at[1] & 1) << 1 | (at[2] & 1) << 2;
        if (colour != job->colour || job->first[i] == job->first[i + 1]) {
            continue;
        }
        float spread[SPREAD_SAMPLES] = {0.0f};
        for (int64_t j = job->first[i]; j < job->first[i + 1]; ++j) {
            spread_point(job, i, job->list[j], spread);
        }
        add_spread(job, i, spread, scale);
    }
}

static treacle_status allocate(splat_job* job) {
    treacle_context* ctx = job->p->ctx;
    size_t points = (size_t)job->p->count, blocks = (size_t)job->b->count;
    void* block = NULL;
    TREACLE_TRY(alloc_zero(ctx, blocks + 2, sizeof(int64_t), "points of blocks", &block));
    job->first = block;
    TREACLE_TRY(alloc_array(ctx, points, sizeof(int64_t), "points of blocks", &block));
    job->list = block;
    TREACLE_TRY(alloc_array(ctx, points, sizeof(int32_t), "points of blocks", &block));
    job->owner = block;
    return TREACLE_OK;
}

treacle_status block_splat_points(const mesh_points* p, mesh_blocks* b) {
    TREACLE_ASSERT(p->ctx != NULL && b->step > 0.0);
    enum { POINT_GRAIN = 16384 };
    splat_job job = {.p = p, .b = b};
    treacle_status status = allocate(&job);
    if (status == TREACLE_OK) {
        parallel_for(p->ctx, p->count, POINT_GRAIN, find_owners, &job);
        list_points(&job);
        for (job.colour = 0; job.colour < COLOURS; ++job.colour) {
            parallel_for(p->ctx, b->count, BLOCK_GRAIN, spread_blocks, &job);
        }
    }
    alloc_free(p->ctx, job.first, ((size_t)b->count + 2) * sizeof(int64_t));
    alloc_free(p->ctx, job.list, (size_t)p->count * sizeof(int64_t));
    alloc_free(p->ctx, job.owner, (size_t)p->count * sizeof(int32_t));
    return status;
}
