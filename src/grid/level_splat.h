// The kernels of grid/level_liquid.c: one cell of points gives to the cells of a tile around it.
//
// Sums are kept for the 8 x 8 rows of a tile, SPLAT_STRIDE floats each: cell x of row (y, z) at
// (8 z + y) * SPLAT_STRIDE + x + SPLAT_PAD. The pads take what falls beside the tile.
#pragma once

#include "base/simd.h"
#include "grid/tile_map.h"

enum {
    SPLAT_REACH_MAX = 2, // cells
    SPLAT_PAD = 4,
    SPLAT_STRIDE = 20,
    SPLAT_VALUES = TILE_SIZE * TILE_SIZE * SPLAT_STRIDE,
    SPLAT_SUMS = 4,
};

typedef struct splat_source {
    int64_t count;
    const float* position; // [count][3]; the place in the tile's frame is sign * position + shift
    float sign[AXES], shift[AXES];
    int cell[AXES];       // that holds the points, -reach .. 7 + reach in the tile's frame
    int reach[AXES];      // cells to each side that receive; 0 along flat axes, where distance is 0
    float inverse_square; // 1 / support^2, in cells; only of splat_smooth
} splat_source;

/// sums[0] += k, sums[1..3] += k d for d = point - centre of the cell, k = max(0, 1 - |d|^2 /
/// R^2)^3.
ISA_DECLARE(void, splat_smooth, (const splat_source* source, float (*sums)[SPLAT_VALUES]));
/// sums[0] = min(sums[0], |d|^2).
ISA_DECLARE(void, splat_nearest, (const splat_source* source, float (*sums)[SPLAT_VALUES]));
