// The inner loops of grid/redistance.c.
#pragma once

#include "base/simd.h"
#include "grid/gather.h"

// For every cell of a tile, the vector to the nearest foot that it has heard of, and the cell from
// which that foot comes (512 tile + cell, the place of its normal).
typedef struct foot_tile {
    float v[AXES][TILE_CELLS];
    int32_t from[TILE_CELLS];
} foot_tile;

// A vector to nowhere.
#define FOOT_FAR 1e6f

typedef struct foot_sweep {
    foot_tile* tile;
    const foot_tile* next[AXES][2]; // [axis][low, high] neighbour across a face
    bool is_flat[AXES];
    float limit_square; // feet further away than that are not handed on
} foot_sweep;

/// Sweeps a tile up and down along every axis that is not flat; each cell takes the foot of the
/// cell before it if that is nearer than its own. True if any cell took one.
ISA_DECLARE(bool, foot_sweep_tile, (const foot_sweep* sweep));

// For every cell of a tile, the cell among it and its 26 neighbours whose foot is nearest.
typedef struct foot_nearest {
    float square[TILE_CELLS];
    int32_t neighbour[TILE_CELLS]; // n of TILE_NEIGHBOUR
} foot_nearest;

/// block: the v of a tile with a margin of 1.
ISA_DECLARE(void, foot_look_round, (float (*const block)[BLOCK_VALUES(1, 1)], foot_nearest* out));
