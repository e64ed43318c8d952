#include "mesh/mesh_blocks.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/parallel.h"

enum { AXIS_COUNT = 3, BLOCK_GRAIN = 32 };

static int compare_blocks(const void* a, const void* b) {
    const int32_t *x = a, *y = b;
    for (int k = AXIS_COUNT - 1; k >= 0; --k) {
        if (x[k] != y[k]) {
            return x[k] < y[k] ? -1 : 1;
        }
    }
    return 0;
}

static treacle_status append(block_list* list, int32_t x, int32_t y, int32_t z) {
    if (list->count == list->capacity) {
        size_t more = list->capacity == 0 ? 256 : 2 * list->capacity;
        void* block = list->at;
        TREACLE_TRY(alloc_resize(list->ctx, &block, list->capacity, more, sizeof(*list->at),
                                 "blocks of the surface"));
        list->at = block;
        list->capacity = more;
    }
    int32_t* to = list->at[list->count++];
    to[0] = x;
    to[1] = y;
    to[2] = z;
    return TREACLE_OK;
}

treacle_status block_list_add(block_list* list, double step, const double low[3],
                              const double high[3]) {
    TREACLE_ASSERT(list->ctx != NULL && step > 0.0);
    TREACLE_ASSERT(low[0] <= high[0] && low[1] <= high[1] && low[2] <= high[2]);
    int32_t from[3], to[3];
    for (int k = 0; k < AXIS_COUNT; ++k) {
        from[k] = (int32_t)floor((low[k] / step - 1.0) / BLOCK_SIDE);
        to[k] = (int32_t)floor((high[k] / step + 1.0) / BLOCK_SIDE);
    }
    for (int32_t z = from[2]; z <= to[2]; ++z) {
        for (int32_t y = from[1]; y <= to[1]; ++y) {
            for (int32_t x = from[0]; x <= to[0]; ++x) {
                TREACLE_TRY(append(list, x, y, z));
            }
        }
    }
    return TREACLE_OK;
}

void block_list_destroy(block_list* list) {
    if (list->ctx != NULL) {
        alloc_free(list->ctx, list->at, list->capacity * sizeof(*list->at));
    }
    *list = (block_list){0};
}

static size_t sort_unique(block_list* list) {
    size_t kept = 0;
    if (list->count > 1) {
        qsort(list->at, list->count, sizeof(*list->at), compare_blocks);
    }
    for (size_t i = 0; i < list->count; ++i) {
        if (i == 0 || compare_blocks(list->at[i], list->at[kept - 1]) != 0) {
            for (int k = 0; k < AXIS_COUNT; ++k) {
                list->at[kept][k] = list->at[i][k];
            }
            kept += 1;
        }
    }
    return kept;
}

// Axis by axis: fewer are listed twice.
treacle_status block_list_widen(block_list* list, int reach) {
    TREACLE_ASSERT(list->ctx != NULL && reach >= 0);
    for (int k = 0; k < AXIS_COUNT; ++k) {
        size_t count = sort_unique(list);
        list->count = count;
        for (size_t i = 0; i < count; ++i) {
            for (int32_t d = -reach; d <= reach; ++d) {
                int32_t at[3] = {list->at[i][0], list->at[i][1], list->at[i][2]};
                at[k] += d;
                if (d != 0) {
                    TREACLE_TRY(append(list, at[0], at[1], at[2]));
                }
            }
        }
    }
    return TREACLE_OK;
}

int32_t mesh_blocks_find(const mesh_blocks* b, const int32_t at[3]) {
    int64_t low = 0, high = b->count;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        int order = compare_blocks(b->at[middle], at);
        if (order == 0) {
            return (int32_t)middle;
        }
        low = order < 0 ? middle + 1 : low;
        high = order < 0 ? high : middle;
    }
    return -1;
}

static void link_blocks(void* data, int64_t begin, int64_t end) {
    mesh_blocks* b = data;
    for (int64_t i = begin; i < end; ++i) {
        for (int n = 0; n < BLOCK_NEAR; ++n) {
            const int32_t at[3] = {b->at[i][0] + n % 3 - 1, b->at[i][1] + n / 3 % 3 - 1,
                                   b->at[i][2] + n / 9 - 1};
            b->near[i][n] = mesh_blocks_find(b, at);
        }
        for (int s = 0; s < BLOCK_SAMPLES; ++s) {
            b->value[BLOCK_SAMPLES * i + s] = b->outside;
        }
    }
}

static treacle_status mesh_blocks_allocate(mesh_blocks* b, size_t count) {
    void* block = NULL;
    b->capacity = count;
    TREACLE_TRY(alloc_array(b->ctx, count, sizeof(*b->at), "blocks of the surface", &block));
    b->at = block;
    TREACLE_TRY(alloc_array(b->ctx, count, sizeof(*b->near), "blocks of the surface", &block));
    b->near = block;
    TREACLE_TRY(alloc_array(b->ctx, count, BLOCK_SAMPLES * sizeof(float), "samples of the surface",
                            &block));
    b->value = block;
    b->count = (int64_t)count;
    return TREACLE_OK;
}

treacle_status mesh_blocks_create(block_list* list, double step, float outside, mesh_blocks* out) {
    TREACLE_ASSERT(list->ctx != NULL && step > 0.0);
    *out = (mesh_blocks){.ctx = list->ctx, .step = step, .outside = outside};
    size_t count = sort_unique(list);
    if (count > INT32_MAX) {
        return check_fail(list->ctx, TREACLE_ERR_LIMIT,
                          "the surface needs %zu blocks of samples: choose a lower resolution",
                          count);
    }
    treacle_status status = mesh_blocks_allocate(out, count);
    if (status != TREACLE_OK) {
        mesh_blocks_destroy(out);
        return status;
    }
    for (size_t i = 0; i < count; ++i) {
        for (int k = 0; k < AXIS_COUNT; ++k) {
            out->at[i][k] = list->at[i][k];
        }
    }
    parallel_for(out->ctx, out->count, BLOCK_GRAIN, link_blocks, out);
    return TREACLE_OK;
}

void mesh_blocks_destroy(mesh_blocks* b) {
    if (b->ctx != NULL) {
        alloc_free(b->ctx, b->at, b->capacity * sizeof(*b->at));
        alloc_free(b->ctx, b->near, b->capacity * sizeof(*b->near));
        alloc_free(b->ctx, b->value, b->capacity * BLOCK_SAMPLES * sizeof(float));
        alloc_free(b->ctx, b->clip, b->capacity * BLOCK_SAMPLES * sizeof(float));
    }
    *b = (mesh_blocks){0};
}

static void copy_run(const mesh_blocks* b, const float* values, int32_t block, int from, int count,
                     float* out) {
    const float* row = values + (size_t)(block < 0 ? 0 : block) * BLOCK_SAMPLES + from;
    for (int i = 0; i < count; ++i) {
        out[i] = block < 0 ? b->outside : row[i];
    }
}

void mesh_blocks_gather(const mesh_blocks* b, const float* values, int64_t block, int low, int high,
                        float* out) {
    TREACLE_ASSERT(block >= 0 && block < b->count);
    TREACLE_ASSERT(low >= 0 && low <= BLOCK_PAD_MAX && high >= 0 && high <= BLOCK_PAD_MAX);
    int side = BLOCK_SIDE + low + high;
    for (int z = 0; z < side; ++z) {
        int dz = (z - low + BLOCK_SIDE) / BLOCK_SIDE, lz = (z - low) & (BLOCK_SIDE - 1);
        for (int y = 0; y < side; ++y, out += side) {
            int dy = (y - low + BLOCK_SIDE) / BLOCK_SIDE, ly = (y - low) & (BLOCK_SIDE - 1);
            const int32_t* near = &b->near[block][9 * dz + 3 * dy];
            int row = (lz * BLOCK_SIDE + ly) * BLOCK_SIDE;
            copy_run(b, values, near[0], row + BLOCK_SIDE - low, low, out);
            copy_run(b, values, near[1], row, BLOCK_SIDE, out + low);
            copy_run(b, values, near[2], row, high, out + low + BLOCK_SIDE);
        }
    }
}
