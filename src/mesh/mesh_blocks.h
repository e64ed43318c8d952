// A sparse field of samples: blocks of 8 x 8 x 8, sorted by (z, y, x).
//
// Sample (i, j, k) is at step * (i + offset, j + offset, k + offset) cells from the domain's
// low corner and belongs to block floor(i / 8), ... Samples of blocks that do not exist are
// `outside`. A kernel gathers a block with its margin and writes only the block.
#pragma once

#include "base/context.h"

enum {
    BLOCK_SIDE = 8,
    BLOCK_SAMPLES = BLOCK_SIDE * BLOCK_SIDE * BLOCK_SIDE,
    BLOCK_NEAR = 27,
    BLOCK_PAD_MAX = 3,
    BLOCK_PADDED_SIDE = BLOCK_SIDE + 2 * BLOCK_PAD_MAX,
    BLOCK_PADDED_MAX = BLOCK_PADDED_SIDE * BLOCK_PADDED_SIDE * BLOCK_PADDED_SIDE,
};

typedef struct mesh_blocks {
    treacle_context* ctx;
    double step;   // cells
    double offset; // steps, 0 or 0.5
    float outside; // value of samples that are not stored
    int64_t count;
    int32_t (*at)[3];            // [count]
    int32_t (*near)[BLOCK_NEAR]; // [count], index of the neighbour at (dz dy dx), or -1
    float* value;                // [count][512]
    float* clip; // likewise, cells to what bounds the liquid, positive where it may be; or NULL
    size_t capacity;
} mesh_blocks;

/// A list of blocks in the making; duplicates are welcome.
typedef struct block_list {
    treacle_context* ctx;
    int32_t (*at)[3];
    size_t count, capacity;
} block_list;
/// Adds all blocks that hold a sample within the box, in cells, and one step around it.
treacle_status block_list_add(block_list* list, double step, const double low[3],
                              const double high[3]) TREACLE_NODISCARD;
/// Adds all blocks within `reach` blocks of those in the list, along each axis.
treacle_status block_list_widen(block_list* list, int reach) TREACLE_NODISCARD;
void block_list_destroy(block_list* list);

/// All values are `outside`.
treacle_status mesh_blocks_create(block_list* list, double step, float outside,
                                  mesh_blocks* out) TREACLE_NODISCARD;
/// Harmless on a zeroed one.
void mesh_blocks_destroy(mesh_blocks* b);

/// The index of the block, or -1.
int32_t mesh_blocks_find(const mesh_blocks* b, const int32_t at[3]);

/// Copies the block with `low` samples before it and `high` after it, along each axis, from the
/// given values (those of the blocks, or a scratch copy), x fastest. Both at most BLOCK_PAD_MAX.
void mesh_blocks_gather(const mesh_blocks* b, const float* values, int64_t block, int low, int high,
                        float* out);
