// What the tests of the grid share: contexts, domains, maps.
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "alloc_failure.h"
#include "base/context.h"
#include "grid/domain.h"
#include "grid/tile_map.h"

static inline void log_nothing(treacle_log_level level, const char* text, void* user) {
    (void)level;
    (void)text;
    (void)user;
}

static inline treacle_context* context_with(int threads) {
    treacle_context_def def = treacle_context_def_default();
    def.threads = threads;
    def.log = log_nothing;
    treacle_context* ctx = NULL;
    assert_int_equal(treacle_context_create(&def, &ctx), TREACLE_OK);
    return ctx;
}

// A domain of x * y * z cells of width 1 with the same side all round.
static inline grid_domain domain_with(treacle_context* ctx, int x, int y, int z,
                                      treacle_side side) {
    treacle_domain_def def = {.size = {x, y, z}, .cell = 1.0};
    for (int a = 0; a < AXES; ++a) {
        def.sides[a][0] = def.sides[a][1] = side;
    }
    grid_domain domain;
    assert_int_equal(grid_domain_init(ctx, &def, &domain), TREACLE_OK);
    return domain;
}

// The map of all tiles that the domain allows.
static inline tile_map whole_map(treacle_context* ctx, const grid_domain* domain) {
    int n[AXES];
    for (int a = 0; a < AXES; ++a) {
        n[a] = domain->is_periodic[a] ? domain->tiles[a] : domain->cells[a] / TILE_SIZE + 1;
    }
    int count = n[0] * n[1] * n[2];
    tile_coord* coords = malloc((size_t)count * sizeof(*coords));
    assert_non_null(coords);
    for (int i = 0; i < count; ++i) {
        coords[i] = (tile_coord){{i % n[0], i / n[0] % n[1], i / n[0] / n[1]}};
    }
    tile_map map;
    assert_int_equal(tile_map_create(ctx, domain, count, coords, &map), TREACLE_OK);
    free(coords);
    return map;
}

// A number in [0, 1) from a counter: splitmix64.
static inline double random_unit(uint64_t* counter) {
    uint64_t x = *counter += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return (double)((x ^ x >> 31) >> 11) * 0x1p-53;
}
