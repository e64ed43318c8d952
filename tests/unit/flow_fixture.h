// A flow on the faces of a whole domain of cells of width 1, and fields at any place, for tests.
#pragma once

#include "grid_fixture.h"

#include <math.h>

#include "field_fixture.h"
#include "phys/velocity.h"

typedef struct flow_world {
    treacle_context* ctx;
    grid_domain domain;
    tile_map map;
    grid_field u[AXES];
    face_velocity flow;
} flow_world;

/// A value at a place, in cells from the low corner of the domain.
typedef double flow_value(const double x[AXES], int part);

// The world points into itself.
static inline void flow_world_begin(flow_world* w, const int cells[AXES], treacle_side side) {
    *w = (flow_world){.ctx = context_with(1)};
    w->domain = domain_with(w->ctx, cells[0], cells[1], cells[2], side);
    w->map = whole_map(w->ctx, &w->domain);
    w->flow = (face_velocity){.map = &w->map, .domain = &w->domain, .has_viscosity = true};
    for (int a = 0; a < AXES; ++a) {
        assert_int_equal(grid_field_create(&w->map, place_face(a), 0.0f, &w->u[a]), TREACLE_OK);
        w->flow.u.at[a] = w->u[a].values;
    }
}

static inline void flow_world_end(flow_world* w) {
    for (int a = 0; a < AXES; ++a) {
        grid_field_destroy(&w->u[a]);
    }
    tile_map_destroy(&w->map);
    assert_int_equal(treacle_context_memory(w->ctx), 0);
    treacle_context_destroy(w->ctx);
}

static inline int64_t flow_count(const tile_map* map) {
    return (int64_t)map->count * TILE_CELLS;
}

// Where sample i is, in cells.
static inline void flow_place(const tile_map* map, grid_place place, int64_t i, double x[AXES]) {
    int at[AXES];
    tile_cell_at(map, (tile_ix)(i / TILE_CELLS), (int)(i % TILE_CELLS), at);
    for (int a = 0; a < AXES; ++a) {
        x[a] = at[a] + (double)place_offset(place, a);
    }
}

static inline void flow_sample(const tile_map* map, grid_field* f, flow_value* value, int part) {
    for (int64_t i = 0; i < flow_count(map); ++i) {
        double x[AXES];
        flow_place(map, f->place, i, x);
        f->values[i] = (float)value(x, part);
    }
}

static inline void flow_set(flow_world* w, flow_value* velocity) {
    for (int a = 0; a < AXES; ++a) {
        if (w->domain.is_active[a]) {
            flow_sample(&w->map, &w->u[a], velocity, a);
        }
    }
}

// Whether sample i is one of the domain and `margin` cells or more from its sides.
static inline bool flow_is_within(const flow_world* w, int64_t i, double margin) {
    double x[AXES];
    bool is_within = tile_cell_counts(&w->map, (int)(i % TILE_CELLS));
    flow_place(&w->map, PLACE_NODE, i, x);
    for (int a = 0; a < AXES; ++a) {
        double more = w->domain.is_active[a] && !w->domain.is_periodic[a] ? margin : 0.0;
        is_within = is_within && x[a] >= more && x[a] <= w->domain.cells[a] - 1.0 - more;
    }
    return is_within;
}
