// Each predicate holds on what our functions make, and does not once a part of it is broken.
#include "grid_fixture.h"

#include <math.h>

#include "grid/grid_valid.h"
#include "grid/tile_ranks.h"

typedef struct grid {
    treacle_context* ctx;
    grid_domain domain;
    tile_map map;
} grid;

// 3 x 2 x 2 tiles and their far layer.
static grid grid_begin(treacle_side side) {
    grid g = {.ctx = context_with(1)};
    g.domain = domain_with(g.ctx, 32, 16, 16, side);
    g.map = whole_map(g.ctx, &g.domain);
    return g;
}

static void grid_end(grid* g) {
    tile_map_destroy(&g->map);
    assert_int_equal(treacle_context_memory(g->ctx), 0);
    treacle_context_destroy(g->ctx);
}

static void test_domains_that_contradict_themselves_are_seen(void** state) {
    (void)state;
    treacle_context* ctx = context_with(1);
    const grid_domain good = domain_with(ctx, 32, 16, 1, TREACLE_SIDE_SLIP);
    assert_true(grid_domain_is_valid(&good));
    grid_domain d = good;
    d.h = 0.0;
    assert_false(grid_domain_is_valid(&d));
    d.h = INFINITY;
    assert_false(grid_domain_is_valid(&d));
    d = good;
    d.origin[1] = NAN;
    assert_false(grid_domain_is_valid(&d));
    d = good;
    d.cells[0] = 0;
    assert_false(grid_domain_is_valid(&d));
    d = good;
    d.tiles[0] += 1;
    assert_false(grid_domain_is_valid(&d));
    d = good;
    d.is_active[2] = true;
    assert_false(grid_domain_is_valid(&d));
    d = good;
    d.is_periodic[0] = true;
    assert_true(grid_domain_is_valid(&d));
    d.cells[0] = 24;
    d.tiles[0] = 3;
    assert_false(grid_domain_is_valid(&d));
    treacle_context_destroy(ctx);
}

static void test_maps_as_they_are_made_are_valid(void** state) {
    (void)state;
    static const treacle_side sides[] = {TREACLE_SIDE_SLIP, TREACLE_SIDE_OPEN,
                                         TREACLE_SIDE_PERIODIC};
    for (int i = 0; i < 3; ++i) {
        grid g = grid_begin(sides[i]);
        assert_true(tile_map_is_valid(&g.map, &g.domain));
        grid_end(&g);
    }
    treacle_context* ctx = context_with(1);
    grid_domain flat = domain_with(ctx, 20, 1, 40, TREACLE_SIDE_SLIP);
    tile_map map = whole_map(ctx, &flat), none;
    assert_true(tile_map_is_valid(&map, &flat));
    assert_int_equal(tile_map_create(ctx, &flat, 0, NULL, &none), TREACLE_OK);
    assert_true(tile_map_is_valid(&none, &flat));
    tile_map_destroy(&none);
    tile_map_destroy(&map);
    treacle_context_destroy(ctx);
}

static void test_broken_maps_are_seen(void** state) {
    (void)state;
    grid g = grid_begin(TREACLE_SIDE_SLIP);
    tile_map* map = &g.map;
    // The order of tiles, and a tile twice.
    tile_coord kept = map->coord[3];
    map->coord[3] = map->coord[4];
    assert_false(tile_map_is_valid(map, &g.domain));
    map->coord[3] = kept;
    // A tile outside.
    kept = map->coord[map->count - 1];
    map->coord[map->count - 1].at[0] = 1000;
    assert_false(tile_map_is_valid(map, &g.domain));
    map->coord[map->count - 1] = kept;
    // A tile that the table does not find.
    for (int32_t s = 0; s < map->slot_count; ++s) {
        if (map->slot[s] == 2) {
            map->slot[s] = 1;
            assert_false(tile_map_is_valid(map, &g.domain));
            map->slot[s] = 2;
        }
    }
    // A link to nobody, to somebody else, out of range, and one that is not returned.
    const int right = TILE_NEIGHBOUR(1, 0, 0), left = TILE_NEIGHBOUR(-1, 0, 0);
    tile_ix first = tile_map_find(map, (tile_coord){{0, 0, 0}}),
            next = map->neighbour[first][right];
    const tile_ix wrong[] = {map->count, first, map->count + 1, -1};
    for (int i = 0; i < 4; ++i) {
        map->neighbour[first][right] = wrong[i];
        assert_false(tile_map_is_valid(map, &g.domain));
    }
    map->neighbour[first][right] = next;
    map->neighbour[next][left] = map->count;
    assert_false(tile_map_is_valid(map, &g.domain));
    map->neighbour[next][left] = first;
    map->neighbour[first][left] = next; // where the domain ends
    assert_false(tile_map_is_valid(map, &g.domain));
    map->neighbour[first][left] = map->count;
    // The table's size, and a flat axis.
    int32_t slots = map->slot_count;
    map->slot_count = slots - 1;
    assert_false(tile_map_is_valid(map, &g.domain));
    map->slot_count = slots;
    map->is_flat[1] = true;
    assert_false(tile_map_is_valid(map, &g.domain));
    map->is_flat[1] = false;
    assert_true(tile_map_is_valid(map, &g.domain));
    grid_end(&g);
}

static void test_keys_of_ranks_go_from_end_to_end_in_families(void** state) {
    (void)state;
    uint64_t keys[] = {0, 8, 8, 64, UINT64_MAX};
    assert_true(partition_is_valid(4, keys));
    keys[0] = 8;
    assert_false(partition_is_valid(4, keys));
    keys[0] = 0;
    keys[4] = 72;
    assert_false(partition_is_valid(4, keys));
    keys[4] = UINT64_MAX;
    keys[2] = 16;
    keys[3] = 8;
    assert_false(partition_is_valid(4, keys));
    keys[3] = 20;
    assert_false(partition_is_valid(4, keys));
    keys[3] = UINT64_MAX;
    assert_true(partition_is_valid(4, keys));
}

static void test_ranks_own_all_tiles_and_ghosts_are_of_others(void** state) {
    (void)state;
    grid g = grid_begin(TREACLE_SIDE_SLIP);
    int64_t first[2] = {0, g.map.count};
    tile_ix ghost[2] = {0, 1};
    tile_ranks ranks = {.first = first, .ghost = ghost};
    g.map.ranks = &ranks;
    assert_true(tile_ranks_are_valid(&g.map));
    first[1] -= 1;
    assert_false(tile_ranks_are_valid(&g.map));
    assert_false(tile_map_is_valid(&g.map, &g.domain));
    first[1] += 1;
    first[0] = 1;
    assert_false(tile_ranks_are_valid(&g.map));
    first[0] = 0;
    ranks.ghost_count = 1; // which is one's own
    assert_false(tile_ranks_are_valid(&g.map));
    ghost[0] = g.map.count;
    assert_false(tile_ranks_are_valid(&g.map));
    g.map.ranks = NULL;
    grid_end(&g);
}

static void test_numbers_that_are_none_are_seen(void** state) {
    (void)state;
    grid g = grid_begin(TREACLE_SIDE_SLIP);
    size_t values = tile_map_values(&g.map);
    float* field = calloc(values, sizeof(float));
    assert_non_null(field);
    field[values - 1] = NAN; // in the dummy tile, which is nobody's
    field[7] = -3e38f;
    assert_true(tile_field_is_finite(&g.map, field));
    field[values - 1 - TILE_CELLS] = NAN;
    assert_false(tile_field_is_finite(&g.map, field));
    field[values - 1 - TILE_CELLS] = 0.0f;
    field[700] = -INFINITY;
    assert_false(tile_field_is_finite(&g.map, field));
    free(field);
    grid_end(&g);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_domains_that_contradict_themselves_are_seen),
        cmocka_unit_test(test_maps_as_they_are_made_are_valid),
        cmocka_unit_test(test_broken_maps_are_seen),
        cmocka_unit_test(test_keys_of_ranks_go_from_end_to_end_in_families),
        cmocka_unit_test(test_ranks_own_all_tiles_and_ghosts_are_of_others),
        cmocka_unit_test(test_numbers_that_are_none_are_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
