// Heat that moves by differences against the flow.
#include "flow_fixture.h"
#include "unit.h"

#include "compare/upwind.h"

static const int cube[AXES] = {16, 16, 16}, sheet[AXES] = {24, 24, 0};

typedef struct heat_world {
    flow_world w;
    grid_field in, out;
} heat_world;

static void begin(heat_world* h, const int cells[AXES], treacle_side side, flow_value* velocity) {
    flow_world_begin(&h->w, cells, side);
    flow_set(&h->w, velocity);
    assert_int_equal(grid_field_create(&h->w.map, PLACE_CELL, 0.0f, &h->in), TREACLE_OK);
    assert_int_equal(grid_field_create(&h->w.map, PLACE_CELL, 0.0f, &h->out), TREACLE_OK);
}

static void end(heat_world* h) {
    grid_field_destroy(&h->in);
    grid_field_destroy(&h->out);
    flow_world_end(&h->w);
}

static double noise(const double x[AXES], int part) {
    uint64_t seed = (uint64_t)(2 * x[0] + 64 * x[1] + 2048 * x[2]) + 7919u * (uint64_t)part;
    return random_unit(&seed);
}

static double noisy_flow(const double x[AXES], int a) {
    return 4.0 * noise(x, a + 1) - 2.0;
}

static double same(const double x[AXES], int part) {
    (void)x;
    (void)part;
    return 293.7;
}

// Whole numbers, so that differences are exact.
static double whole(const double x[AXES], int part) {
    return floor(1000.0 * noise(x, part));
}

static void test_a_constant_stays(void** state) {
    (void)state;
    const treacle_side sides[] = {TREACLE_SIDE_PERIODIC, TREACLE_SIDE_SLIP};
    for (int k = 0; k < 2; ++k) {
        heat_world h;
        begin(&h, k == 0 ? cube : sheet, sides[k], noisy_flow);
        flow_sample(&h.w.map, &h.in, same, 0);
        upwind_step(&h.w.flow, 0.2, h.in.values, h.out.values);
        for (int64_t i = 0; i < flow_count(&h.w.map); ++i) {
            assert_true(!flow_is_within(&h.w, i, 0.0) || h.out.values[i] == 293.7f);
        }
        end(&h);
    }
}

static void test_nothing_comes_from_tiles_that_are_not_there(void** state) {
    (void)state;
    const tile_coord one = {{1, 0, 1}};
    heat_world h;
    tile_map few;
    begin(&h, cube, TREACLE_SIDE_PERIODIC, noisy_flow);
    assert_int_equal(tile_map_create(h.w.ctx, &h.w.domain, 1, &one, &few), TREACLE_OK);
    face_velocity flow = h.w.flow;
    flow.map = &few;
    for (int i = 0; i < TILE_CELLS; ++i) {
        h.in.values[i] = 293.7f; // behind it the dummy is 0
    }
    upwind_step(&flow, 0.2, h.in.values, h.out.values);
    for (int i = 0; i < TILE_CELLS; ++i) {
        assert_true(h.out.values[i] == 293.7f);
    }
    tile_map_destroy(&few);
    end(&h);
}

static void test_values_stay_between_the_least_and_the_largest(void** state) {
    (void)state;
    heat_world h;
    begin(&h, cube, TREACLE_SIDE_PERIODIC, noisy_flow);
    flow_sample(&h.w.map, &h.in, noise, 0);
    double dt = 3.0;
    int steps = upwind_substeps(&h.w.flow, dt);
    assert_true(steps > 3);
    for (int k = 0; k < steps; ++k) {
        upwind_step(&h.w.flow, dt / steps, k % 2 == 0 ? h.in.values : h.out.values,
                    k % 2 == 0 ? h.out.values : h.in.values);
    }
    const float* last = steps % 2 == 0 ? h.in.values : h.out.values;
    for (int64_t i = 0; i < flow_count(&h.w.map); ++i) {
        assert_true(last[i] >= -1e-6f && last[i] <= 1.0f + 1e-6f);
    }
    end(&h);
}

// The axis along which it blows, and which way.
static int blown = 0;
static double blow = 1.0;
static double one_way(const double x[AXES], int a) {
    (void)x;
    return a == blown ? blow : 0.0;
}

static void test_a_step_across_a_cell_is_exact(void** state) {
    (void)state;
    for (int k = 0; k < 2 * AXES; ++k) {
        heat_world h;
        blown = k / 2;
        blow = k % 2 == 0 ? 2.0 : -2.0;
        begin(&h, cube, TREACLE_SIDE_PERIODIC, one_way);
        flow_sample(&h.w.map, &h.in, whole, 0);
        assert_int_equal(upwind_substeps(&h.w.flow, 0.5), 1);
        upwind_step(&h.w.flow, 0.5, h.in.values, h.out.values);
        for (int64_t i = 0; i < flow_count(&h.w.map); ++i) {
            double x[AXES];
            flow_place(&h.w.map, PLACE_CELL, i, x);
            x[blown] = fmod(x[blown] + 16.0 + (blow > 0.0 ? -1.0 : 1.0), 16.0);
            assert_true(h.out.values[i] == (float)whole(x, 0));
        }
        end(&h);
    }
}

static double in_the_middle(const double x[AXES], int part) {
    (void)part;
    return x[0] == 8.5 && x[1] == 8.5 && x[2] == 8.5 ? 1.0 : 0.0;
}

// With c = |u| dt/h a spike moves by c and its variance grows by c (1 - c): 2 dt times the
// diffusivity of the header.
static void test_heat_spreads_as_the_header_says(void** state) {
    (void)state;
    for (int k = 0; k < AXES; ++k) {
        heat_world h;
        blown = k;
        blow = -1.0;
        begin(&h, cube, TREACLE_SIDE_PERIODIC, one_way);
        flow_sample(&h.w.map, &h.in, in_the_middle, 0);
        upwind_step(&h.w.flow, 0.25, h.in.values, h.out.values);
        double sum = 0.0, first = 0.0, second = 0.0;
        for (int64_t i = 0; i < flow_count(&h.w.map); ++i) {
            double x[AXES], heat = (double)h.out.values[i];
            flow_place(&h.w.map, PLACE_CELL, i, x);
            sum += heat;
            first += heat * (x[k] - 8.5);
            second += heat * (x[k] - 8.5) * (x[k] - 8.5);
        }
        double diffusivity = 0.5 * 1.0 * (1.0 - 0.25);
        assert_close(sum, 1.0, 1e-6);
        assert_close(first, -0.25, 1e-6);
        assert_close(second - first * first, 2.0 * 0.25 * diffusivity, 1e-6);
        end(&h);
    }
}

static double diagonal(const double x[AXES], int a) {
    (void)x;
    return a == 1 ? -0.9 : 0.9;
}

static void test_in_a_substep_the_flow_crosses_no_more_than_a_cell(void** state) {
    (void)state;
    heat_world h;
    begin(&h, cube, TREACLE_SIDE_PERIODIC, diagonal);
    assert_int_equal(upwind_substeps(&h.w.flow, 0.0), 1);
    assert_int_equal(upwind_substeps(&h.w.flow, 0.3), 1); // 0.81 cells
    assert_int_equal(upwind_substeps(&h.w.flow, 0.4), 2); // 1.08
    assert_int_equal(upwind_substeps(&h.w.flow, 2.0), 6); // 5.4
    end(&h);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_constant_stays),
        cmocka_unit_test(test_nothing_comes_from_tiles_that_are_not_there),
        cmocka_unit_test(test_values_stay_between_the_least_and_the_largest),
        cmocka_unit_test(test_a_step_across_a_cell_is_exact),
        cmocka_unit_test(test_heat_spreads_as_the_header_says),
        cmocka_unit_test(test_in_a_substep_the_flow_crosses_no_more_than_a_cell),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
