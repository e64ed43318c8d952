#include "grid_fixture.h"

#include <string.h>

#include "grid/tile_band.h"

static tile_map band_of(treacle_context* ctx, const grid_domain* domain, tile_coord tile,
                        const float position[AXES], int band) {
    const int64_t first[2] = {0, 1};
    tile_points points = {1, &tile, first, position, NULL};
    tile_map map;
    assert_int_equal(tile_band_create(ctx, domain, &points, band, &map), TREACLE_OK);
    return map;
}

// Cells between a cell and the nearest cell of a tile, the largest over the axes.
static int gap(const grid_domain* domain, const int cell[AXES], tile_coord tile) {
    int most = 0;
    for (int a = 0; a < AXES; ++a) {
        int low = tile.at[a] * 8, high = low + 7, best = 1 << 20;
        for (int wrap = -1; wrap <= 1; ++wrap) {
            int at = cell[a] + wrap * (domain->is_periodic[a] ? domain->cells[a] : 0);
            int d = at < low ? low - at : at > high ? at - high : 0;
            best = d < best ? d : best;
        }
        most = best > most ? best : most;
    }
    return most;
}

static void check(treacle_context* ctx, const grid_domain* domain) {
    tile_map all = whole_map(ctx, domain);
    uint64_t seed = 5;
    for (int round = 0; round < 300; ++round) {
        tile_coord tile;
        float position[AXES];
        int cell[AXES];
        for (int a = 0; a < AXES; ++a) {
            cell[a] = (int)(random_unit(&seed) * domain->cells[a]);
            tile.at[a] = cell[a] / 8;
            position[a] = (float)(cell[a] % 8) + 0.25f;
        }
        int band = round % (TILE_BAND_MAX + 1);
        tile_map map = band_of(ctx, domain, tile, position, band);
        for (tile_ix t = 0; t < all.count; ++t) {
            bool is_there = tile_map_find(&map, all.coord[t]) < map.count;
            assert_int_equal(is_there, gap(domain, cell, all.coord[t]) <= band);
        }
        tile_map_destroy(&map);
    }
    tile_map_destroy(&all);
}

static void test_exactly_the_tiles_within_reach_are_there(void** state) {
    (void)state;
    treacle_context* ctx = context_with(2);
    grid_domain closed = domain_with(ctx, 32, 29, 24, TREACLE_SIDE_SLIP);
    grid_domain torus = domain_with(ctx, 16, 32, 48, TREACLE_SIDE_PERIODIC);
    grid_domain flat = domain_with(ctx, 32, 0, 24, TREACLE_SIDE_OPEN);
    check(ctx, &closed);
    check(ctx, &torus);
    check(ctx, &flat);
    treacle_context_destroy(ctx);
}

static treacle_status make_band(treacle_context* ctx, void* user) {
    (void)user;
    grid_domain domain = domain_with(ctx, 32, 32, 32, TREACLE_SIDE_SLIP);
    const tile_coord tile = {{1, 1, 1}};
    const int64_t first[2] = {0, 1};
    const float position[AXES] = {1.5f, 2.5f, 7.5f};
    tile_points points = {1, &tile, first, position, NULL};
    tile_map map;
    treacle_status status = tile_band_create(ctx, &domain, &points, 3, &map);
    tile_map_destroy(&map);
    return status;
}

static void test_failed_allocations_leave_nothing(void** state) {
    (void)state;
    ALLOC_FAILURE_CHECK(make_band, NULL);
}

static void test_no_points_make_no_tiles(void** state) {
    (void)state;
    treacle_context* ctx = context_with(1);
    grid_domain domain = domain_with(ctx, 32, 32, 32, TREACLE_SIDE_SLIP);
    const int64_t first[1] = {0};
    tile_points points = {0, NULL, first, NULL, NULL};
    tile_map map;
    assert_int_equal(tile_band_create(ctx, &domain, &points, 3, &map), TREACLE_OK);
    assert_int_equal(map.count, 0);
    tile_map_destroy(&map);
    treacle_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exactly_the_tiles_within_reach_are_there),
        cmocka_unit_test(test_no_points_make_no_tiles),
        cmocka_unit_test(test_failed_allocations_leave_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
