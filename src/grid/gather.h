// A tile with a margin of its neighbours, in a buffer on the stack.
//
// A padded block holds the 8 x 8 x 8 values of a tile, `low` more on the low side and `high` more
// on the high side of every axis (each 0..8). With side = 8 + low + high, x fastest, then y, then
// z:
//
//     value of the tile's cell (x, y, z), each -low .. 7 + high,
//     at ((z + low) * side + y + low) * side + x + low
//
// Tiles that do not exist read as the dummy. Along a flat axis there is one layer of values and the
// block repeats it: a kernel written for three dimensions then sees a field that does not
// vary along the axis. `low` and `high` must be constants where speed matters: everything inlines.
#pragma once

#include <string.h>

#include "base/compiler.h"
#include "grid/tile_map.h"

#define BLOCK_SIDE(low, high) (TILE_SIZE + (low) + (high))
#define BLOCK_VALUES(low, high)                                                                    \
    (BLOCK_SIDE(low, high) * BLOCK_SIDE(low, high) * BLOCK_SIDE(low, high))
#define BLOCK_INDEX(low, high, x, y, z)                                                            \
    ((((z) + (low)) * BLOCK_SIDE(low, high) + (y) + (low)) * BLOCK_SIDE(low, high) + (x) + (low))

/// -1, 0 or 1: on which side of the tile the cell index is, for -8 <= at < 16.
TREACLE_ALWAYS_INLINE int block_side_of(int at) {
    return at >> 3;
}

/// The first of the three tiles (x - 1, x, x + 1) that hold row (y, z) of a tile's surroundings.
TREACLE_ALWAYS_INLINE const tile_ix* block_row_tiles(const tile_map* map, tile_ix t, int y, int z) {
    return &map->neighbour[t][TILE_NEIGHBOUR(-1, block_side_of(y), block_side_of(z))];
}

/// Where row (y, z) begins in the tile that holds it.
TREACLE_ALWAYS_INLINE int block_row_at(int y, int z) {
    return ((z & 7) * TILE_SIZE + (y & 7)) * TILE_SIZE;
}

/// Values of which each tile has `stride` (at least 512), the first 512 of them laid out as cells.
typedef struct gather_source {
    const tile_map* map;
    const float* values;
    size_t stride;
} gather_source;

/// For maps with a flat axis; gather_strided calls it.
void gather_flat(const gather_source* source, tile_ix t, const int margin[2], float* out);

/// Continues a gathered block of cell values in a straight line beyond the sides of the domain (not
/// along periodic and flat axes): a plane stays a plane. margin is {low, high}, low >= 1.
void gather_extend(const grid_domain* domain, tile_coord coord, const int margin[2], float* block);

TREACLE_ALWAYS_INLINE void gather_strided(const gather_source* source, tile_ix t, const int low,
                                          const int high, float* out) {
    TREACLE_ASSERT(t >= 0 && t < source->map->count && source->stride >= TILE_CELLS);
    const tile_map* map = source->map;
    if (map->is_flat[0] || map->is_flat[1] || map->is_flat[2]) {
        gather_flat(source, t, (const int[2]){low, high}, out);
        return;
    }
    for (int z = -low; z < TILE_SIZE + high; ++z) {
        for (int y = -low; y < TILE_SIZE + high; ++y) {
            const tile_ix* from = block_row_tiles(map, t, y, z);
            const float* row = source->values + block_row_at(y, z);
            const float* left = row + (size_t)from[0] * source->stride + TILE_SIZE - low;
            const float* centre = row + (size_t)from[1] * source->stride;
            const float* right = row + (size_t)from[2] * source->stride;
            memcpy(out, left, (size_t)low * sizeof(float));
            memcpy(out + low, centre, TILE_SIZE * sizeof(float));
            memcpy(out + low + TILE_SIZE, right, (size_t)high * sizeof(float));
            out += BLOCK_SIDE(low, high);
        }
    }
}

/// The block of a field, [count + 1][512].
TREACLE_ALWAYS_INLINE void gather_block(const tile_map* map, const float* values, tile_ix t,
                                        const int low, const int high, float* out) {
    gather_source source = {map, values, TILE_CELLS};
    gather_strided(&source, t, low, high, out);
}
