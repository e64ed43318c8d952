// One float a cell, face, edge or node, on the tiles of a map.
//
//     values:  | tile 0 | tile 1 | ... | tile count-1 | dummy |      TILE_CELLS floats each
//
// Where a kernel looks for a tile that does not exist it finds the dummy, which holds the field's
// outside value. Nobody writes the dummy.
#pragma once

#include "grid/stagger.h"
#include "grid/tile_map.h"

typedef struct grid_field {
    treacle_context* ctx;
    grid_place place;
    tile_ix tile_count;
    float outside; // what the dummy holds
    float* values; // [tile_count + 1][TILE_CELLS]
} grid_field;

/// A field with the outside value everywhere.
treacle_status grid_field_create(const tile_map* map, grid_place place, float outside,
                                 grid_field* out) TREACLE_NODISCARD;
/// Accepts a field that was never made (all zero) or whose creation failed.
void grid_field_destroy(grid_field* f);

/// Sets every value but the dummy's.
void grid_field_fill(grid_field* f, float value);
/// Fields of the same map; the dummy's value is not copied.
void grid_field_copy(grid_field* to, const grid_field* from);

static inline float* grid_field_tile(const grid_field* f, tile_ix tile) {
    return f->values + (size_t)tile * TILE_CELLS;
}
