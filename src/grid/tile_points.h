// Points in tiles, as the grid sees particles: plain arrays, sorted by tile and cell.
//
// Points of tile i are tile_first[i] .. tile_first[i+1]-1; a position is in cells from the low
// corner of its tile, in [0, 8). The points of a tile are in the order of their cells (x fastest).
#pragma once

#include "grid/tile_mask.h"

struct tile_owners;

typedef struct tile_points {
    tile_ix tile_count;
    const tile_coord* tile;           // [tile_count], Morton order
    const int64_t* tile_first;        // [tile_count + 1]
    const float* position;            // [points][3]
    const struct tile_owners* owners; // ranks that own the tiles; NULL: one has all
} tile_points;

/// The cell of its tile that a point is in; what rounding has put outside is taken back.
static inline int tile_points_cell(const float position[AXES]) {
    int cell = 0;
    for (int a = AXES - 1; a >= 0; --a) {
        int at = (int)position[a];
        at = at < 0 ? 0 : at > TILE_SIZE - 1 ? TILE_SIZE - 1 : at;
        cell = cell * TILE_SIZE + at;
    }
    return cell;
}

/// The cells of points tile i that hold a point.
tile_mask tile_points_mask(const tile_points* points, tile_ix i);
