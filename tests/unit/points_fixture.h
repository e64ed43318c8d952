// Liquids for tests: shapes filled with points as particles fill them.
#pragma once

#include "level_fixture.h"

#include "grid/tile_points.h"

typedef struct points_world {
    int64_t count;
    float* position;
    tile_coord* tile;
    int64_t* tile_first;
    tile_points view;
} points_world;

typedef struct sort_item {
    uint64_t key; // tile, cell, birth
    float position[AXES];
} sort_item;

static inline int compare_items(const void* p, const void* q) {
    const sort_item *a = p, *b = q;
    return a->key < b->key ? -1 : a->key > b->key;
}

typedef struct fill_def {
    int per_axis;  // points along an active axis of a cell
    double jitter; // 0..1, fraction of a point's own box
    uint64_t seed;
} fill_def;

// One point for every small box of the domain, where it lies in the shape.
static inline int64_t fill_shape(const grid_domain* domain, shape_fcn* shape, fill_def def,
                                 sort_item* items) {
    int n[AXES];
    int64_t count = 0;
    for (int a = 0; a < AXES; ++a) {
        n[a] = domain->is_active[a] ? domain->cells[a] * def.per_axis : 1;
    }
    int64_t boxes = (int64_t)n[0] * n[1] * n[2];
    for (int64_t i = 0; i < boxes; ++i) {
        const int64_t at[AXES] = {i % n[0], i / n[0] % n[1], i / n[0] / n[1]};
        double x[AXES];
        tile_coord tile;
        sort_item item = {0};
        for (int a = 0; a < AXES; ++a) {
            double shift = 0.5 + def.jitter * (random_unit(&def.seed) - 0.5);
            x[a] = domain->is_active[a] ? ((double)at[a] + shift) / def.per_axis : 0.5;
            tile.at[a] = (int32_t)(x[a] / TILE_SIZE);
            item.position[a] = (float)(x[a] - tile.at[a] * TILE_SIZE);
        }
        if (shape(x) < 0.0) {
            item.key = tile_key(tile) << 32 | (uint64_t)tile_points_cell(item.position) << 20 |
                       (uint64_t)(count & 0xfffff);
            if (items != NULL) {
                items[count] = item;
            }
            ++count;
        }
    }
    return count;
}

static inline points_world points_in(const grid_domain* domain, shape_fcn* shape, fill_def def) {
    points_world w = {.count = fill_shape(domain, shape, def, NULL)};
    size_t count = (size_t)w.count;
    sort_item* items = malloc((count + 1) * sizeof(*items));
    w.position = malloc((count + 1) * AXES * sizeof(float));
    w.tile = malloc((count + 1) * sizeof(tile_coord));
    w.tile_first = malloc((count + 2) * sizeof(int64_t));
    assert_true(items != NULL && w.position != NULL && w.tile != NULL && w.tile_first != NULL);
    fill_shape(domain, shape, def, items);
    qsort(items, count, sizeof(*items), compare_items);
    tile_ix tiles = 0;
    for (size_t i = 0; i < count; ++i) {
        uint64_t key = items[i].key >> 32;
        if (i == 0 || key != items[i - 1].key >> 32) {
            for (int a = 0; a < AXES; ++a) {
                w.tile[tiles].at[a] = 0;
                for (int bit = 0; bit < 10; ++bit) {
                    w.tile[tiles].at[a] |= (int32_t)(key >> (3 * bit + a) & 1) << bit;
                }
            }
            w.tile_first[tiles++] = (int64_t)i;
        }
        for (int a = 0; a < AXES; ++a) {
            w.position[AXES * i + (size_t)a] = items[i].position[a];
        }
    }
    w.tile_first[tiles] = w.count;
    free(items);
    w.view = (tile_points){tiles, w.tile, w.tile_first, w.position, NULL};
    return w;
}

static inline void points_end(points_world* w) {
    free(w->position);
    free(w->tile);
    free(w->tile_first);
}
