// One float a cell, face, edge or node on the tiles of a map, with its dummy tile, for tests.
#pragma once

#include "base/alloc.h"
#include "grid/stagger.h"
#include "grid/tile_map.h"

typedef struct grid_field {
    treacle_context* ctx;
    grid_place place;
    tile_ix tile_count;
    float outside; // what the dummy holds
    float* values; // [tile_count + 1][TILE_CELLS]
} grid_field;

static inline float* grid_field_tile(const grid_field* f, tile_ix tile) {
    return f->values + (size_t)tile * TILE_CELLS;
}

static inline size_t grid_field_count(const grid_field* f) {
    return ((size_t)f->tile_count + 1) * TILE_CELLS;
}

/// A field with the outside value everywhere.
static inline treacle_status grid_field_create(const tile_map* map, grid_place place, float outside,
                                               grid_field* out) {
    *out = (grid_field){.ctx = map->ctx, .place = place, .outside = outside};
    out->tile_count = map->count;
    TREACLE_TRY(alloc_array(map->ctx, grid_field_count(out), sizeof(float), "a grid field",
                            (void**)&out->values));
    for (size_t i = 0; i < grid_field_count(out); ++i) {
        out->values[i] = outside;
    }
    return TREACLE_OK;
}

static inline void grid_field_destroy(grid_field* f) {
    if (f->values != NULL) {
        alloc_free(f->ctx, f->values, grid_field_count(f) * sizeof(float));
    }
    *f = (grid_field){.ctx = f->ctx};
}
