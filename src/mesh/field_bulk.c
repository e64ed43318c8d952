#include "mesh/field_bulk.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/parallel.h"
#include "mesh/block_filter.h"
#include "mesh/mesh_field.h"

enum {
    AXIS_COUNT = 3,
    BLOCK_GRAIN = 8,
    REGION_SIDE = BLOCK_SIDE * 2 + 3, // cells that a block of the coarsest field reaches
    ROOM_SURFACES = 64,               // near one block; more are all asked for
};

static const float bulk_from = 0.78f, bulk_to = 0.88f; // share of liquid near by
static const float some = 0.03f;                       // share that counts as liquid
static const float least_open = 0.02f;
static const double far_away = 4.0; // cells

static size_t field_values(const mesh_blocks* b) {
    return (size_t)b->count * BLOCK_SAMPLES;
}

// Distances to the room, sample by sample ---------------------------------------------------------

typedef struct clip_job {
    const mesh_room* room;
    mesh_blocks* b;
} clip_job;

static vec3 sample_place(const mesh_blocks* b, int64_t block, double x, double y, double z) {
    const double local[3] = {x, y, z};
    vec3 out;
    for (int k = 0; k < AXIS_COUNT; ++k) {
        out.at[k] = b->step * ((double)BLOCK_SIDE * b->at[block][k] + local[k] + b->offset);
    }
    return out;
}

// Surfaces whose distance is of one sign in the block count with their middle: distances are never
// too large.
static void clip_block(const mesh_room* room, mesh_blocks* b, int64_t block) {
    double half = 0.5 * BLOCK_SIDE * b->step * 1.7320508, least = far_away;
    vec3 middle = sample_place(b, block, 3.5, 3.5, 3.5);
    int near[ROOM_SURFACES], count = 0;
    for (int i = 0; i < mesh_room_count(room); ++i) {
        double distance = mesh_room_distance(room, i, middle);
        if (fabs(distance) < half + far_away && count < ROOM_SURFACES) {
            near[count++] = i;
        } else {
            least = fmin(least, distance);
        }
    }
    for (int s = 0; s < BLOCK_SAMPLES; ++s) {
        double value = least;
        for (int i = 0; i < count; ++i) {
            vec3 x = sample_place(b, block, s % 8, s / 8 % 8, s / 64);
            value = fmin(value, mesh_room_distance(room, near[i], x));
        }
        b->clip[BLOCK_SAMPLES * block + s] = (float)fmax(value, -far_away);
    }
}

static void clip_blocks(void* data, int64_t begin, int64_t end) {
    const clip_job* job = data;
    for (int64_t i = begin; i < end; ++i) {
        clip_block(job->room, job->b, i);
    }
}

treacle_status field_room_clip(const mesh_room* room, mesh_blocks* b) {
    TREACLE_ASSERT(b->clip == NULL);
    if (mesh_room_count(room) == 0) {
        return TREACLE_OK;
    }
    void* block = NULL;
    TREACLE_TRY(alloc_array(b->ctx, field_values(b), sizeof(float), "distances of walls", &block));
    b->clip = block;
    clip_job job = {room, b};
    parallel_for(b->ctx, b->count, BLOCK_GRAIN, clip_blocks, &job);
    return TREACLE_OK;
}

treacle_status field_room_open(const mesh_blocks* b, int passes, float** out) {
    *out = NULL;
    if (b->clip == NULL) {
        return TREACLE_OK;
    }
    void* block = NULL;
    size_t count = field_values(b);
    TREACLE_TRY(alloc_array(b->ctx, count, sizeof(float), "what solids leave open", &block));
    float* open = block;
    for (size_t i = 0; i < count; ++i) {
        open[i] = fminf(fmaxf(0.5f + b->clip[i] / (float)b->step, 0.0f), 1.0f);
    }
    treacle_status status = block_filter_smooth(b, open, 0.125f, 1);
    if (status == TREACLE_OK) {
        status = block_filter_smooth(b, open, 0.25f, passes);
    }
    for (size_t i = 0; i < count; ++i) {
        open[i] = fmaxf(open[i], least_open);
    }
    if (status != TREACLE_OK) {
        alloc_free(b->ctx, open, count * sizeof(float));
        return status;
    }
    *out = open;
    return TREACLE_OK;
}

// Bulk
// ---------------------------------------------------------------------------------------------

static treacle_status find_fractions(const mesh_points* p, const mesh_room* room, mesh_blocks* b) {
    float* open = NULL;
    TREACLE_TRY(block_splat_points(p, b));
    TREACLE_TRY(block_filter_smooth(b, b->value, 0.25f, 1));
    TREACLE_TRY(field_room_clip(room, b));
    TREACLE_TRY(field_room_open(b, 1, &open));
    for (size_t i = 0; i < field_values(b) && open != NULL; ++i) {
        b->value[i] /= open[i];
    }
    alloc_free(b->ctx, open, open == NULL ? 0 : field_values(b) * sizeof(float));
    return TREACLE_OK;
}

// Liquid is thin where there is some and not enough within two cells.
static treacle_status find_thin(field_bulk* f) {
    mesh_blocks* b = &f->blocks;
    void* block = NULL;
    size_t count = field_values(b);
    TREACLE_TRY(alloc_array(b->ctx, count, sizeof(float), "thin liquid", &block));
    f->thin = block;
    if (count > 0) {
        memcpy(f->thin, b->value, count * sizeof(float));
    }
    TREACLE_TRY(block_filter_max(b, b->value, 2));
    for (size_t i = 0; i < count; ++i) {
        float t = (b->value[i] - bulk_from) / (bulk_to - bulk_from);
        t = fminf(fmaxf(t, 0.0f), 1.0f);
        f->thin[i] = t < 1.0f && f->thin[i] > some ? 1.0f : 0.0f;
        b->value[i] = t * t * (3.0f - 2.0f * t);
    }
    TREACLE_TRY(block_filter_max(b, f->thin, 2));
    return block_filter_max(b, f->thin, 2);
}

treacle_status field_bulk_create(const mesh_points* p, const mesh_room* room, field_bulk* out) {
    *out = (field_bulk){0};
    TREACLE_TRY(mesh_field_blocks(p, 1.0, 0.5, 1.0, &out->blocks));
    treacle_status status = find_fractions(p, room, &out->blocks);
    if (status == TREACLE_OK) {
        status = find_thin(out);
    }
    if (status != TREACLE_OK) {
        field_bulk_destroy(out);
    }
    return status;
}

void field_bulk_destroy(field_bulk* f) {
    if (f->blocks.ctx != NULL && f->thin != NULL) {
        alloc_free(f->blocks.ctx, f->thin, f->blocks.capacity * BLOCK_SAMPLES * sizeof(float));
    }
    mesh_blocks_destroy(&f->blocks);
    f->thin = NULL;
}

// The values of the cells from `low` on, x fastest; `outside` where there is no block.
static void copy_region(const mesh_blocks* b, const float* values, const int32_t low[3],
                        const int side[3], float* out) {
    int32_t last[3] = {0, 0, 0}, found = -1;
    bool is_known = false;
    for (int i = 0; i < side[0] * side[1] * side[2]; ++i) {
        const int32_t cell[3] = {low[0] + i % side[0], low[1] + i / side[0] % side[1],
                                 low[2] + i / (side[0] * side[1])};
        const int32_t at[3] = {cell[0] >> 3, cell[1] >> 3, cell[2] >> 3};
        if (!is_known || memcmp(at, last, sizeof(at)) != 0) {
            found = mesh_blocks_find(b, at);
            memcpy(last, at, sizeof(at));
            is_known = true;
        }
        int local = ((cell[2] & 7) * BLOCK_SIDE + (cell[1] & 7)) * BLOCK_SIDE + (cell[0] & 7);
        out[i] = found < 0 ? 0.0f : values[(size_t)found * BLOCK_SAMPLES + (size_t)local];
    }
}

static float between(const float* cells, const int side[3], const double at[3]) {
    int corner[3];
    float fraction[3];
    for (int k = 0; k < AXIS_COUNT; ++k) {
        corner[k] = (int)at[k];
        fraction[k] = (float)(at[k] - corner[k]);
    }
    float sum = 0.0f;
    for (int c = 0; c < 8; ++c) {
        int x = corner[0] + (c & 1), y = corner[1] + (c >> 1 & 1), z = corner[2] + (c >> 2);
        float w = (c & 1 ? fraction[0] : 1.0f - fraction[0]) *
                  (c >> 1 & 1 ? fraction[1] : 1.0f - fraction[1]) *
                  (c >> 2 ? fraction[2] : 1.0f - fraction[2]);
        sum += w * cells[(z * side[1] + y) * side[0] + x];
    }
    return sum;
}

bulk_range field_bulk_at(const field_bulk* f, const mesh_blocks* b, int64_t block,
                         float out[BLOCK_SAMPLES]) {
    TREACLE_ASSERT(b->step <= 2.0);
    float cells[REGION_SIDE * REGION_SIDE * REGION_SIDE];
    vec3 first = sample_place(b, block, 0.0, 0.0, 0.0);
    int32_t low[3];
    int side[3], count = 1;
    for (int k = 0; k < AXIS_COUNT; ++k) {
        double from = first.at[k] - 0.5, to = from + b->step * (BLOCK_SIDE - 1);
        low[k] = (int32_t)floor(from);
        side[k] = (int)floor(to) + 2 - low[k];
        count *= side[k];
    }
    copy_region(&f->blocks, f->blocks.value, low, side, cells);
    bulk_range range = {1.0f, 0.0f};
    for (int i = 0; i < count; ++i) {
        range.low = fminf(range.low, cells[i]);
        range.high = fmaxf(range.high, cells[i]);
    }
    for (int s = 0; s < BLOCK_SAMPLES; ++s) {
        vec3 x = sample_place(b, block, s % 8, s / 8 % 8, s / 64);
        const double at[3] = {x.at[0] - 0.5 - low[0], x.at[1] - 0.5 - low[1],
                              x.at[2] - 0.5 - low[2]};
        out[s] = range.low < range.high ? between(cells, side, at) : range.low;
    }
    return range;
}

bool field_bulk_is_thin(const field_bulk* f, const mesh_points* p, int64_t bin) {
    bool is_thin = false;
    for (int64_t i = p->bin_first[bin]; i < p->bin_first[bin + 1] && !is_thin; ++i) {
        const float* x = p->place + AXIS_COUNT * i;
        const int32_t cell[3] = {(int32_t)floorf(x[0]), (int32_t)floorf(x[1]),
                                 (int32_t)floorf(x[2])};
        const int side[3] = {1, 1, 1};
        float value;
        copy_region(&f->blocks, f->thin, cell, side, &value);
        is_thin = value > 0.0f;
    }
    return is_thin;
}
