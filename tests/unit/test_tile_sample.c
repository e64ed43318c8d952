// Fields between their samples.
#include "flow_fixture.h"
#include "unit.h"

#include "grid/tile_sample.h"

static const int cube[AXES] = {16, 16, 16};
static const tile_coord origin = {{0, 0, 0}}, second = {{1, 1, 1}};

typedef struct sampled {
    flow_world w;
    grid_field f;
    tile_sampler at;
} sampled;

static void begin(sampled* s, treacle_side side, grid_place place, flow_value* value) {
    flow_world_begin(&s->w, cube, side);
    assert_int_equal(grid_field_create(&s->w.map, place, -99.0f, &s->f), TREACLE_OK);
    flow_sample(&s->w.map, &s->f, value, 0);
    s->at = tile_sampler_of(&s->w.domain, &s->w.map, place, s->f.values);
}

static void end(sampled* s) {
    grid_field_destroy(&s->f);
    flow_world_end(&s->w);
}

static double linear(const double x[AXES], int part) {
    (void)part;
    return 2.0 * x[0] - x[1] + 0.5 * x[2];
}

static double parabola(const double x[AXES], int part) {
    (void)part;
    double a = x[0] - 8.0, b = x[1] - 6.0, c = x[2] - 9.0;
    return 0.5 * a * a + 0.25 * b * b - 0.125 * c * c;
}

// A roof with its edge on a sample.
static double roof(const double x[AXES], int part) {
    (void)part;
    return fabs(x[0] - 8.5);
}

// Points on both sides of where tiles meet, by either tile.
static void check_points(sampled* s, flow_value* value, bool is_smooth, double tolerance) {
    uint64_t counter = 5;
    for (int k = 0; k < 200; ++k) {
        double x[AXES];
        float near[AXES], far[AXES];
        for (int a = 0; a < AXES; ++a) {
            x[a] = 4.0 + 8.0 * random_unit(&counter);
            near[a] = (float)x[a];
            far[a] = (float)(x[a] - 8.0);
        }
        float one = is_smooth ? tile_sample_smooth(&s->at, origin, near)
                              : tile_sample(&s->at, origin, near);
        float two =
            is_smooth ? tile_sample_smooth(&s->at, second, far) : tile_sample(&s->at, second, far);
        assert_close((double)one, value(x, 0), tolerance);
        assert_close((double)two, value(x, 0), tolerance);
    }
}

static void test_a_linear_field_is_exact_at_every_place(void** state) {
    (void)state;
    for (int place = PLACE_CELL; place <= PLACE_NODE; ++place) {
        sampled s;
        begin(&s, TREACLE_SIDE_SLIP, (grid_place)place, linear);
        check_points(&s, linear, false, 1e-5);
        check_points(&s, linear, true, 1e-5);
        end(&s);
    }
}

static void test_a_parabola_is_exact_with_its_bend(void** state) {
    (void)state;
    sampled s;
    begin(&s, TREACLE_SIDE_SLIP, PLACE_CELL, parabola);
    check_points(&s, parabola, true, 2e-5);
    end(&s);
}

static void test_a_kink_bends_nothing(void** state) {
    (void)state;
    sampled s;
    begin(&s, TREACLE_SIDE_SLIP, PLACE_CELL, roof);
    check_points(&s, roof, true, 1e-5);
    end(&s);
}

static double cube_of(double x) {
    return x * x * x;
}
static double rising(const double x[AXES], int part) {
    (void)part;
    return cube_of(x[0] - 4.0);
}
static double falling(const double x[AXES], int part) {
    (void)part;
    return cube_of(12.0 - x[0]);
}
static double turning_point(const double x[AXES], int part) {
    (void)part;
    return cube_of(x[0] - 8.0);
}

static void test_a_cubic_is_exact_with_its_bend(void** state) {
    (void)state;
    const float x[AXES] = {7.75f, 5.0f, 5.0f};
    flow_value* const cubics[] = {rising, falling};
    const double exact[] = {cube_of(3.75), cube_of(4.25)};
    sampled s;
    for (int k = 0; k < 2; ++k) {
        begin(&s, TREACLE_SIDE_SLIP, PLACE_CELL, cubics[k]);
        assert_close((double)tile_sample_smooth(&s.at, origin, x), exact[k], 1e-4);
        end(&s);
    }
}

// Between samples at 7.5 and 8.5, with second differences of -3 and 3.
static void test_bends_that_disagree_do_not_count(void** state) {
    (void)state;
    const float x[AXES] = {7.75f, 5.0f, 5.0f};
    sampled s;
    begin(&s, TREACLE_SIDE_SLIP, PLACE_CELL, turning_point);
    assert_close((double)tile_sample_smooth(&s.at, origin, x), -0.0625, 1e-5);
    end(&s);
}

// Second differences at 7.5 and 8.5 of 0.2 and 2: the large one counts as 0.4.
static double sharper(const double x[AXES], int part) {
    (void)part;
    double over = x[0] - 8.5;
    return 0.1 * x[0] * x[0] + (over > 0.0 ? 1.8 * over : 0.0);
}

static void test_a_bend_counts_at_most_twice_its_neighbour(void** state) {
    (void)state;
    const float x[AXES] = {8.0f, 5.0f, 5.0f};
    sampled s;
    begin(&s, TREACLE_SIDE_SLIP, PLACE_CELL, sharper);
    double chord = 0.05 * (7.5 * 7.5 + 8.5 * 8.5);
    double wanted = chord - 0.25 / 6.0 * (1.5 * 0.2 + 1.5 * 0.4);
    assert_close((double)tile_sample_smooth(&s.at, origin, x), wanted, 1e-4);
    end(&s);
}

static void test_the_last_sample_goes_on_beyond_sides(void** state) {
    (void)state;
    sampled s;
    begin(&s, TREACLE_SIDE_SLIP, PLACE_CELL, linear);
    const double low[AXES] = {0.5, 5.0, 5.0}, high[AXES] = {5.0, 15.5, 5.0};
    const float below[AXES] = {-2.3f, 5.0f, 5.0f}, above[AXES] = {5.0f, 17.1f, 5.0f};
    assert_close((double)tile_sample(&s.at, origin, below), linear(low, 0), 1e-5);
    assert_close((double)tile_sample(&s.at, origin, above), linear(high, 0), 1e-5);
    end(&s);
}

static void test_periodic_axes_wrap(void** state) {
    (void)state;
    sampled s;
    begin(&s, TREACLE_SIDE_PERIODIC, PLACE_CELL, linear);
    // In the middle between cells 15 and 0 along x, once from either side.
    const double first[AXES] = {0.5, 5.0, 5.0}, last[AXES] = {15.5, 5.0, 5.0};
    const float below[AXES] = {0.0f, 5.0f, 5.0f}, above[AXES] = {16.0f, 5.0f, 5.0f};
    double mean = 0.5 * (linear(first, 0) + linear(last, 0));
    assert_close((double)tile_sample(&s.at, origin, below), mean, 1e-5);
    assert_close((double)tile_sample(&s.at, origin, above), mean, 1e-5);
    end(&s);
}

static void test_tiles_that_are_not_there_read_as_the_dummy(void** state) {
    (void)state;
    sampled s;
    tile_map few;
    begin(&s, TREACLE_SIDE_SLIP, PLACE_CELL, linear);
    assert_int_equal(tile_map_create(s.w.ctx, &s.w.domain, 1, &origin, &few), TREACLE_OK);
    s.at.map = &few;
    s.f.values[TILE_CELLS] = 7.0f; // the dummy's first
    assert_true(tile_sample_at(&s.at, (const int[AXES]){8, 0, 0}) == 7.0f);
    assert_true(tile_sample_at(&s.at, (const int[AXES]){3, 0, 0}) == s.f.values[3]);
    tile_map_destroy(&few);
    end(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_linear_field_is_exact_at_every_place),
        cmocka_unit_test(test_a_parabola_is_exact_with_its_bend),
        cmocka_unit_test(test_a_kink_bends_nothing),
        cmocka_unit_test(test_a_cubic_is_exact_with_its_bend),
        cmocka_unit_test(test_bends_that_disagree_do_not_count),
        cmocka_unit_test(test_a_bend_counts_at_most_twice_its_neighbour),
        cmocka_unit_test(test_the_last_sample_goes_on_beyond_sides),
        cmocka_unit_test(test_periodic_axes_wrap),
        cmocka_unit_test(test_tiles_that_are_not_there_read_as_the_dummy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
