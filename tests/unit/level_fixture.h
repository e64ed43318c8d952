// Level sets for tests: shapes sampled at cells, and errors of what came of them.
#pragma once

#include "grid_fixture.h"

#include <math.h>

#include "field_fixture.h"

typedef double shape_fcn(const double x[AXES]);

typedef struct level_world {
    treacle_context* ctx;
    grid_domain domain;
    tile_map map;
    grid_field phi;
} level_world;

static inline level_world level_world_with(int threads, const int cells[AXES], treacle_side side) {
    level_world w = {.ctx = context_with(threads)};
    w.domain = domain_with(w.ctx, cells[0], cells[1], cells[2], side);
    w.map = whole_map(w.ctx, &w.domain);
    assert_int_equal(grid_field_create(&w.map, PLACE_CELL, 100.0f, &w.phi), TREACLE_OK);
    return w;
}

static inline void level_world_end(level_world* w) {
    grid_field_destroy(&w->phi);
    tile_map_destroy(&w->map);
    treacle_context_destroy(w->ctx);
}

// The centre of the i-th cell of the map, in cells; false if it is outside the domain.
static inline bool level_centre(const level_world* w, int64_t i, double x[AXES]) {
    const int32_t* tile = w->map.coord[i / TILE_CELLS].at;
    const int at[AXES] = {(int)(i % 8), (int)(i / 8 % 8), (int)(i / 64 % 8)};
    bool is_inside = true;
    for (int a = 0; a < AXES; ++a) {
        x[a] = tile[a] * 8 + at[a] + 0.5;
        is_inside = is_inside && x[a] < w->domain.cells[a];
    }
    return is_inside;
}

static inline void level_sample(level_world* w, shape_fcn* shape) {
    for (int64_t i = 0; i < (int64_t)w->map.count * TILE_CELLS; ++i) {
        double x[AXES];
        level_centre(w, i, x);
        w->phi.values[i] = (float)shape(x);
    }
}
