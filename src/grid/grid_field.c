#include "grid/grid_field.h"

#include <string.h>

#include "base/alloc.h"
#include "base/parallel.h"

enum { GRAIN = 32 }; // tiles

static size_t value_count(tile_ix tiles) {
    return ((size_t)tiles + 1) * TILE_CELLS;
}

static void set_tile(float* tile, float value) {
    for (int i = 0; i < TILE_CELLS; ++i) {
        tile[i] = value;
    }
}

typedef struct fill_job {
    grid_field* to;
    float value;
} fill_job;

static void fill_tiles(void* data, int64_t begin, int64_t end, int worker) {
    const fill_job* job = data;
    (void)worker;
    for (int64_t t = begin; t < end; ++t) {
        set_tile(grid_field_tile(job->to, (tile_ix)t), job->value);
    }
}

void grid_field_fill(grid_field* f, float value) {
    parallel_for(f->ctx, f->tile_count, GRAIN, fill_tiles, &(fill_job){f, value});
}

treacle_status grid_field_create(const tile_map* map, grid_place place, float outside,
                                 grid_field* out) {
    *out = (grid_field){.ctx = map->ctx, .place = place, .outside = outside};
    TREACLE_TRY(alloc_array(map->ctx, value_count(map->count), sizeof(float), "a grid field",
                            (void**)&out->values));
    out->tile_count = map->count;
    set_tile(grid_field_tile(out, map->count), outside);
    grid_field_fill(out, outside);
    return TREACLE_OK;
}

void grid_field_destroy(grid_field* f) {
    if (f->values != NULL) {
        alloc_free(f->ctx, f->values, value_count(f->tile_count) * sizeof(float));
    }
    *f = (grid_field){.ctx = f->ctx};
}

typedef struct copy_job {
    grid_field* to;
    const grid_field* from;
} copy_job;

static void copy_tiles(void* data, int64_t begin, int64_t end, int worker) {
    const copy_job* job = data;
    (void)worker;
    memcpy(grid_field_tile(job->to, (tile_ix)begin), grid_field_tile(job->from, (tile_ix)begin),
           (size_t)(end - begin) * TILE_CELLS * sizeof(float));
}

void grid_field_copy(grid_field* to, const grid_field* from) {
    TREACLE_ASSERT(to->tile_count == from->tile_count);
    parallel_for(to->ctx, to->tile_count, GRAIN, copy_tiles, &(copy_job){to, from});
}
