#include "grid_fixture.h"

#include <math.h>
#include <string.h>

static treacle_context* ctx;

static int set_up(void** state) {
    (void)state;
    ctx = context_with(1);
    return 0;
}

static int tear_down(void** state) {
    (void)state;
    treacle_context_destroy(ctx);
    return 0;
}

static void test_cells_and_tiles_are_counted(void** state) {
    (void)state;
    treacle_domain_def def = {.size = {0.3, 1.7, 6.4}, .cell = 0.1, .origin = {-1, 2, 3}};
    grid_domain d;
    assert_int_equal(grid_domain_init(ctx, &def, &d), TREACLE_OK);
    assert_int_equal(d.cells[0], 3);
    assert_int_equal(d.cells[1], 17);
    assert_int_equal(d.cells[2], 64);
    assert_int_equal(d.tiles[0], 1);
    assert_int_equal(d.tiles[1], 3);
    assert_int_equal(d.tiles[2], 8);
    assert_true(d.origin[0] == -1.0 && d.h == 0.1);
}

static void test_an_axis_without_size_is_inactive(void** state) {
    (void)state;
    treacle_domain_def def = {.size = {3, 4, 0}, .cell = 1.0};
    def.sides[2][0] = TREACLE_SIDE_PERIODIC;
    grid_domain d;
    assert_int_equal(grid_domain_init(ctx, &def, &d), TREACLE_OK);
    assert_true(d.is_active[0] && d.is_active[1] && !d.is_active[2]);
    assert_int_equal(d.cells[2], 1);
    assert_int_equal(d.sides[2][0], TREACLE_SIDE_SLIP);
    assert_false(d.is_periodic[2]);
}

static void assert_refused(treacle_domain_def def, treacle_status status, const char* word) {
    grid_domain d = {.h = 42.0};
    assert_int_equal(grid_domain_init(ctx, &def, &d), status);
    assert_non_null(strstr(treacle_context_error(ctx), word));
    assert_true(d.h == 42.0);
}

static void test_wrong_defs_are_refused_by_name(void** state) {
    (void)state;
    const treacle_domain_def good = {.size = {16, 16, 16}, .cell = 1.0};
    treacle_domain_def def = good;
    def.cell = 0.0;
    assert_refused(def, TREACLE_ERR_SCENE, "cell width");
    def = good;
    def.cell = NAN;
    assert_refused(def, TREACLE_ERR_SCENE, "cell width");
    def = good;
    def.size[1] = 16.4;
    assert_refused(def, TREACLE_ERR_SCENE, "size along y");
    def = good;
    def.size[2] = -1;
    assert_refused(def, TREACLE_ERR_SCENE, "size along z");
    def = good;
    def.size[0] = 1e-9;
    assert_refused(def, TREACLE_ERR_SCENE, "size along x");
    def = good;
    def.size[0] = 1e9;
    assert_refused(def, TREACLE_ERR_LIMIT, "size along x");
    def = good;
    def.origin[0] = INFINITY;
    assert_refused(def, TREACLE_ERR_SCENE, "origin along x");
    def = good;
    def.sides[1][0] = TREACLE_SIDE_PERIODIC;
    assert_refused(def, TREACLE_ERR_SCENE, "low side along y");
    def = good;
    def.sides[1][1] = (treacle_side)17;
    assert_refused(def, TREACLE_ERR_SCENE, "sides along y");
    def = good;
    def.size[1] = 24;
    def.sides[1][0] = def.sides[1][1] = TREACLE_SIDE_PERIODIC;
    assert_refused(def, TREACLE_ERR_SCENE, "such as 32");
    def = (treacle_domain_def){.cell = 1.0};
    assert_refused(def, TREACLE_ERR_SCENE, "single cell");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cells_and_tiles_are_counted),
        cmocka_unit_test(test_an_axis_without_size_is_inactive),
        cmocka_unit_test(test_wrong_defs_are_refused_by_name),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
