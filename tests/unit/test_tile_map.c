#include "grid_fixture.h"

static const tile_coord some[] = {{{3, 0, 1}}, {{0, 0, 0}}, {{1, 0, 0}}, {{3, 0, 1}},
                                  {{0, 1, 0}}, {{0, 0, 1}}, {{2, 5, 7}}, {{4, 6, 8}}};
enum { SOME = sizeof(some) / sizeof(some[0]) };

static void test_codes_interleave_the_bits(void** state) {
    (void)state;
    assert_true(tile_key((tile_coord){{1, 0, 0}}) == 1);
    assert_true(tile_key((tile_coord){{0, 1, 0}}) == 2);
    assert_true(tile_key((tile_coord){{0, 0, 1}}) == 4);
    for (int bit = 0; bit < 21; ++bit) {
        for (int a = 0; a < AXES; ++a) {
            tile_coord c = {{0}};
            c.at[a] = 1 << bit;
            assert_true(tile_key(c) == (uint64_t)1 << (3 * bit + a));
        }
    }
}

static void test_the_map_depends_on_the_set_alone(void** state) {
    (void)state;
    treacle_context* ctx = context_with(1);
    grid_domain domain = domain_with(ctx, 32, 48, 64, TREACLE_SIDE_SLIP);
    tile_coord reversed[SOME];
    for (int i = 0; i < SOME; ++i) {
        reversed[i] = some[SOME - 1 - i];
    }
    tile_map map, other;
    assert_int_equal(tile_map_create(ctx, &domain, SOME, some, &map), TREACLE_OK);
    assert_int_equal(tile_map_create(ctx, &domain, SOME, reversed, &other), TREACLE_OK);
    assert_int_equal(map.count, SOME - 1);
    assert_int_equal(other.count, map.count);
    assert_memory_equal(map.coord, other.coord, (size_t)map.count * sizeof(tile_coord));
    for (tile_ix t = 0; t < map.count; ++t) {
        assert_true(t == 0 || tile_key(map.coord[t - 1]) < tile_key(map.coord[t]));
        assert_int_equal(tile_map_find(&map, map.coord[t]), t);
        assert_int_equal(map.neighbour[t][TILE_SELF], t);
    }
    assert_int_equal(tile_map_find(&map, (tile_coord){{1, 1, 1}}), map.count);
    assert_int_equal(tile_map_find(&map, (tile_coord){{-1, 0, 0}}), map.count);
    tile_map_destroy(&map);
    tile_map_destroy(&other);
    treacle_context_destroy(ctx);
}

// All tiles of a domain of n^3, the far layer included where it is not periodic.
static tile_map full_map(treacle_context* ctx, const grid_domain* domain, int n) {
    tile_coord coords[1000];
    int count = 0;
    for (int i = 0; i < n * n * n; ++i) {
        coords[count++] = (tile_coord){{i % n, i / n % n, i / n / n}};
    }
    tile_map map;
    assert_int_equal(tile_map_create(ctx, domain, count, coords, &map), TREACLE_OK);
    return map;
}

static void test_neighbours_are_next_door(void** state) {
    (void)state;
    treacle_context* ctx = context_with(3);
    grid_domain domain = domain_with(ctx, 64, 64, 64, TREACLE_SIDE_NO_SLIP);
    tile_map map = full_map(ctx, &domain, 9);
    for (tile_ix t = 0; t < map.count; ++t) {
        for (int n = 0; n < TILE_NEIGHBOURS; ++n) {
            tile_coord c = map.coord[t];
            const int32_t by[AXES] = {n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1};
            bool is_inside = true;
            for (int a = 0; a < AXES; ++a) {
                c.at[a] += by[a];
                is_inside = is_inside && c.at[a] >= 0 && c.at[a] < 9;
            }
            assert_int_equal(TILE_NEIGHBOUR(by[0], by[1], by[2]), n);
            tile_ix other = map.neighbour[t][n];
            assert_int_equal(other, is_inside ? tile_map_find(&map, c) : map.count);
            assert_true(!is_inside || map.neighbour[other][TILE_NEIGHBOURS - 1 - n] == t);
        }
    }
    tile_map_destroy(&map);
    treacle_context_destroy(ctx);
}

static void test_periodic_axes_wrap(void** state) {
    (void)state;
    treacle_context* ctx = context_with(1);
    grid_domain domain = domain_with(ctx, 16, 32, 48, TREACLE_SIDE_PERIODIC);
    const tile_coord coords[] = {{{-1, 4, 11}}, {{0, 0, 0}}};
    tile_map map;
    assert_int_equal(tile_map_create(ctx, &domain, 2, coords, &map), TREACLE_OK);
    tile_ix t = tile_map_find(&map, (tile_coord){{1, 0, 5}});
    assert_true(t < map.count);
    assert_int_equal(map.neighbour[t][TILE_NEIGHBOUR(1, 0, 1)],
                     tile_map_find(&map, (tile_coord){{0, 0, 0}}));
    assert_int_equal(map.neighbour[t][TILE_NEIGHBOUR(-1, 0, 1)],
                     tile_map_find(&map, (tile_coord){{0, 0, 0}}));
    tile_map_destroy(&map);
    treacle_context_destroy(ctx);
}

static void test_tiles_outside_are_refused(void** state) {
    (void)state;
    treacle_context* ctx = context_with(1);
    grid_domain domain = domain_with(ctx, 32, 33, 0, TREACLE_SIDE_OPEN);
    const tile_coord bad[] = {{{-1, 0, 0}}, {{5, 0, 0}}, {{0, 5, 0}}, {{0, 0, 1}}};
    const tile_coord good[] = {{{4, 0, 0}}, {{0, 4, 0}}};
    tile_map map;
    for (int i = 0; i < 4; ++i) {
        size_t before = treacle_context_memory(ctx);
        assert_int_equal(tile_map_create(ctx, &domain, 1, &bad[i], &map), TREACLE_ERR_INTERNAL);
        assert_int_equal(treacle_context_memory(ctx), before);
        tile_map_destroy(&map);
    }
    assert_int_equal(tile_map_create(ctx, &domain, 2, good, &map), TREACLE_OK);
    tile_map_destroy(&map);
    assert_int_equal(tile_map_create(ctx, &domain, 0, NULL, &map), TREACLE_OK);
    assert_int_equal(map.count, 0);
    assert_int_equal(tile_map_find(&map, good[0]), 0);
    tile_map_destroy(&map);
    treacle_context_destroy(ctx);
}

static treacle_status make_and_destroy(treacle_context* ctx, void* user) {
    (void)user;
    grid_domain domain = domain_with(ctx, 32, 48, 64, TREACLE_SIDE_SLIP);
    tile_map map;
    treacle_status status = tile_map_create(ctx, &domain, SOME, some, &map);
    tile_map_destroy(&map);
    return status;
}

static void test_failed_allocations_leave_nothing(void** state) {
    (void)state;
    ALLOC_FAILURE_CHECK(make_and_destroy, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_codes_interleave_the_bits),
        cmocka_unit_test(test_the_map_depends_on_the_set_alone),
        cmocka_unit_test(test_neighbours_are_next_door),
        cmocka_unit_test(test_periodic_axes_wrap),
        cmocka_unit_test(test_tiles_outside_are_refused),
        cmocka_unit_test(test_failed_allocations_leave_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
