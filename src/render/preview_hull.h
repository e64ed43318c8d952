// Which particles can be seen at all: those in cells that others do not hide on every side.
//
// Deep in a pool most particles are behind others from wherever one looks. A cell is hidden if it
// and the six cells around it each hold half as many particles as a cell of the fullest tile. Cells
// of other tiles count as filled where that tile is nearly as full as any: how many particles tiles
// have all ranks know, so a picture does not depend on who holds which.
#pragma once

#include "render/preview_splat.h"

enum { PREVIEW_TILE_CELLS = 8 };

/// A bit a cell of a tile: bit x + 8 y of layer z.
typedef struct preview_cells {
    uint64_t layer[PREVIEW_TILE_CELLS];
} preview_cells;

typedef struct preview_hull {
    treacle_context* ctx;
    const preview_particles* particles;
    int64_t tiles[3]; // of the domain
    uint8_t* is_full; // [tiles], NULL: no tile is full, and nothing is hidden
    int cell_count;   // particles from which on a cell is filled
} preview_hull;

treacle_status preview_hull_create(treacle_context* ctx, const preview_particles* particles,
                                   preview_hull* out) TREACLE_NODISCARD;
void preview_hull_destroy(preview_hull* hull);

/// The cells of a tile whose particles nobody sees.
preview_cells preview_hull_hides(const preview_hull* hull, int64_t tile);

/// Whether a place, in cells from the low corner of the tile, lies in one of the cells.
static inline bool preview_cells_have(const preview_cells* cells, const float at[3]) {
    bool is_inside = true;
    for (int a = 0; a < 3; ++a) {
        is_inside = is_inside && at[a] >= 0.0f && at[a] < (float)PREVIEW_TILE_CELLS;
    }
    return is_inside &&
           (cells->layer[(int)at[2]] >> ((int)at[0] + PREVIEW_TILE_CELLS * (int)at[1]) & 1u) != 0;
}
