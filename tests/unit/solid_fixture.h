// What the tests of solids share: one solid on a map of all tiles.
#pragma once

#include "grid_fixture.h"

#include <math.h>

#include "phys/solid_fields.h"

typedef struct solid_world {
    treacle_context* ctx;
    grid_domain domain;
    tile_map map;
    solid solids[2];
    solid_pose poses[2];
    size_t values;
    float* block; // of all fields
    uint16_t* id;
    uint8_t* across;
    solid_fields out;
} solid_world;

static inline solid_pose pose_at_rest(void) {
    return (solid_pose){.rotate = mat3_identity()};
}

static inline void solid_world_begin(solid_world* w, int threads, const int cells[AXES]) {
    *w = (solid_world){.ctx = context_with(threads)};
    w->domain = domain_with(w->ctx, cells[0], cells[1], cells[2], TREACLE_SIDE_SLIP);
    w->map = whole_map(w->ctx, &w->domain);
    w->poses[0] = w->poses[1] = pose_at_rest();
    w->values = ((size_t)w->map.count + 1) * TILE_CELLS;
    w->block = calloc(8 * w->values, sizeof(float));
    w->id = calloc(w->values, sizeof(uint16_t));
    w->across = calloc(w->values, 1);
    assert_true(w->block != NULL && w->id != NULL && w->across != NULL);
    w->out = (solid_fields){.cell_phi = w->block, .cell_id = w->id, .cell_across = w->across};
    w->out.cell_open = w->block + w->values;
    for (int a = 0; a < AXES; ++a) {
        w->out.face_open.at[a] = w->block + (size_t)(2 + a) * w->values;
        w->out.face_u.at[a] = w->block + (size_t)(5 + a) * w->values;
    }
}

static inline void solid_world_shape(solid_world* w, int i, const treacle_shape* def) {
    int flat = !w->domain.is_active[2] ? 2 : -1;
    assert_int_equal(flat < 0 ? shape_create(w->ctx, def, &w->solids[i].shape)
                              : shape_create_flat(w->ctx, def, flat, &w->solids[i].shape),
                     TREACLE_OK);
}

static inline void solid_world_compute(solid_world* w, int count, treacle_walls walls) {
    solid_fields_params params = {.domain = &w->domain,
                                  .map = &w->map,
                                  .scene = {count, w->solids, w->poses},
                                  .openings = walls};
    solid_fields_compute(&params, &w->out);
}

static inline void solid_world_end(solid_world* w) {
    shape_destroy(w->solids[0].shape);
    shape_destroy(w->solids[1].shape);
    tile_map_destroy(&w->map);
    free(w->block);
    free(w->id);
    free(w->across);
    treacle_context_destroy(w->ctx);
}

// Where the value of cell (x, y, z) of the domain is.
static inline size_t value_at(const solid_world* w, int x, int y, int z) {
    tile_ix t = tile_map_find(&w->map, (tile_coord){{x / 8, y / 8, z / 8}});
    assert_true(t < w->map.count);
    return (size_t)t * TILE_CELLS + (size_t)((z % 8 * 8 + y % 8) * 8 + x % 8);
}
