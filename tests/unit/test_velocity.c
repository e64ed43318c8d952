// Velocity beyond the sides of the domain.
#include "flow_fixture.h"

enum { HALO = 2, SIZE = TILE_SIZE + 2 * HALO };

static const int square[AXES] = {8, 8, 1};

static double slanted(const double x[AXES], int a) {
    return a == 0 ? 1.0 + 3.0 * x[1] : 5.0 - 2.0 * x[1];
}

// Component a at (3, j) of the block of the first tile, j from the low side of the domain.
static float value_at(const flow_world* w, int a, int j) {
    static float block[SIZE * SIZE * SIZE];
    velocity_gather(&w->flow, a, 0, (velocity_block){HALO, SIZE}, block);
    return block[(HALO * SIZE + j + HALO) * SIZE + 3 + HALO];
}

static void assert_same(float is, double wanted) {
    if (!(fabs((double)is - wanted) < 1e-5)) {
        fail_msg("%g: expected %g", (double)is, wanted);
    }
}

static void test_walls_hold_what_comes_and_what_sticks(void** state) {
    (void)state;
    flow_world w;
    flow_world_begin(&w, square, TREACLE_SIDE_NO_SLIP);
    flow_set(&w, slanted);
    assert_same(value_at(&w, 1, 0), 0.0);
    assert_same(value_at(&w, 1, -1), -3.0);
    assert_same(value_at(&w, 0, -1), -2.5);
    flow_world_end(&w);
}

static void test_liquid_comes_up_to_walls_that_have_gaps(void** state) {
    (void)state;
    flow_world w;
    flow_world_begin(&w, square, TREACLE_SIDE_NO_SLIP);
    flow_set(&w, slanted);
    w.flow.has_gaps = true;
    assert_same(value_at(&w, 1, 0), 5.0); // as it was given
    assert_same(value_at(&w, 1, -1), 7.0);
    assert_same(value_at(&w, 0, -1), -2.5);
    flow_world_end(&w);
}

// Linear between samples: the mean over the cell at the wall is the sample of that cell.
static void test_what_flows_along_a_wall_is_what_the_cell_says(void** state) {
    (void)state;
    const treacle_side sides[] = {TREACLE_SIDE_SLIP, TREACLE_SIDE_NO_SLIP};
    for (int k = 0; k < 2; ++k) {
        flow_world w;
        flow_world_begin(&w, square, sides[k]);
        flow_set(&w, slanted);
        w.flow.has_gaps = w.flow.keeps_flux = true;
        assert_same(value_at(&w, 0, -1), 1.0 - 1.5);
        assert_same(value_at(&w, 0, -2), 1.0 - 4.5);
        assert_same(value_at(&w, 0, 8), 1.0 + 3.0 * 8.5);
        assert_same(value_at(&w, 1, 0), 5.0);
        flow_world_end(&w);
    }
}

// Half a cell inside u = 1 + 1.5 = 2.5; the line through it and the side's velocity at the side, or
// at a slip length of a cell behind it.
static void test_a_side_that_moves_has_its_velocity_behind_it(void** state) {
    (void)state;
    flow_world w;
    static const treacle_key belt = {.value = {0.7, 4.0, 0.0}};
    const treacle_curve moves[AXES][2] = {[1] = {{1, &belt}, {0}}};
    flow_world_begin(&w, square, TREACLE_SIDE_NO_SLIP);
    flow_set(&w, slanted);
    grid_domain_move_sides(&w.domain, moves, 3.0);
    assert_true(w.domain.has_belts);
    assert_same((float)w.domain.side_u[1][0][1], 0.0); // across the side it does not count
    assert_same(value_at(&w, 0, -1), 2.0 * 0.7 - 2.5);
    assert_same(value_at(&w, 0, -2), 2.0 * 0.7 - 5.5);
    assert_same(value_at(&w, 1, -1), -3.0);
    assert_same(value_at(&w, 0, 8), -(1.0 + 3.0 * 7.5));
    w.domain.slip_length[1][0] = w.domain.h;
    assert_same(value_at(&w, 0, -1), 0.7 + (2.5 - 0.7) / 3.0);
    assert_same(value_at(&w, 0, -2), 0.7 - (5.5 - 0.7) / 5.0);
    flow_world_end(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_walls_hold_what_comes_and_what_sticks),
        cmocka_unit_test(test_liquid_comes_up_to_walls_that_have_gaps),
        cmocka_unit_test(test_what_flows_along_a_wall_is_what_the_cell_says),
        cmocka_unit_test(test_a_side_that_moves_has_its_velocity_behind_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
