// Fields that are looked up where the flow comes from.
#include "flow_fixture.h"
#include "unit.h"

#include "compare/semi_lagrangian.h"

static const int cube[AXES] = {16, 16, 16}, sheet[AXES] = {24, 24, 0};

// The velocity after the step, and one field beside it.
typedef struct moved {
    grid_field u[AXES], q;
} moved;

// Moves a field by dt; what is not written stays `outside`.
static moved move(const flow_world* w, const tile_map* to, const grid_field* q, double reach) {
    moved out;
    float* velocity[AXES];
    for (int a = 0; a < AXES; ++a) {
        assert_int_equal(grid_field_create(to, place_face(a), -99.0f, &out.u[a]), TREACLE_OK);
        velocity[a] = out.u[a].values;
    }
    assert_int_equal(grid_field_create(to, q->place, -99.0f, &out.q), TREACLE_OK);
    semi_field field = {q->place, q->values, out.q.values};
    semi_params params = {&w->domain, &w->flow, to, 1.0, reach, 1, &field};
    semi_lagrangian(&params, velocity);
    return out;
}

static void moved_end(moved* m) {
    grid_field_destroy(&m->q);
    for (int a = 0; a < AXES; ++a) {
        grid_field_destroy(&m->u[a]);
    }
}

static grid_field field_of(const flow_world* w, grid_place place, flow_value* value) {
    grid_field out;
    assert_int_equal(grid_field_create(&w->map, place, 0.0f, &out), TREACLE_OK);
    flow_sample(&w->map, &out, value, 0);
    return out;
}

static const double wind[AXES] = {1.25, -0.5, 0.75};
static double steady(const double x[AXES], int a) {
    (void)x;
    return wind[a];
}

static double linear(const double x[AXES], int part) {
    (void)part;
    return 2.0 * x[0] - x[1] + 0.5 * x[2];
}

static double same(const double x[AXES], int part) {
    (void)x;
    (void)part;
    return 293.7;
}

// Waves of the size of the periodic domain, that no straight line follows.
static double swirl(const double x[AXES], int a) {
    double k = 2.0 * 3.14159265358979 / 16.0;
    return 1.5 * sin(k * x[(a + 1) % AXES]) + 0.5 * cos(k * x[a]);
}

static double noise(const double x[AXES], int part) {
    uint64_t seed = (uint64_t)(2 * x[0] + 64 * x[1] + 2048 * x[2]) + 7919u * (uint64_t)part;
    return random_unit(&seed);
}

static double noisy_flow(const double x[AXES], int a) {
    return 4.0 * noise(x, a + 1) - 2.0;
}

static void test_a_constant_stays(void** state) {
    (void)state;
    flow_world w;
    flow_world_begin(&w, cube, TREACLE_SIDE_PERIODIC);
    flow_set(&w, swirl);
    grid_field q = field_of(&w, PLACE_CELL, same);
    moved m = move(&w, &w.map, &q, 2.0);
    for (int64_t i = 0; i < flow_count(&w.map); ++i) {
        assert_true(m.q.values[i] == 293.7f);
    }
    moved_end(&m);
    flow_set(&w, steady);
    m = move(&w, &w.map, &q, 2.0);
    for (int64_t i = 0; i < AXES * flow_count(&w.map); ++i) {
        int a = (int)(i % AXES);
        assert_true(m.u[a].values[i / AXES] == (float)wind[a]);
    }
    moved_end(&m);
    grid_field_destroy(&q);
    flow_world_end(&w);
}

// At every place that a field may have, in space and in the plane.
static void check_shift(const int cells[AXES]) {
    flow_world w;
    flow_world_begin(&w, cells, TREACLE_SIDE_OPEN);
    flow_set(&w, steady);
    int checked = 0;
    for (int place = PLACE_CELL; place <= PLACE_NODE; ++place) {
        grid_field q = field_of(&w, (grid_place)place, linear);
        moved m = move(&w, &w.map, &q, 2.0);
        for (int64_t i = 0; i < flow_count(&w.map); ++i) {
            double x[AXES];
            flow_place(&w.map, (grid_place)place, i, x);
            for (int a = 0; a < AXES; ++a) {
                x[a] -= w.domain.is_active[a] ? wind[a] : 0.0;
            }
            if (flow_is_within(&w, i, 2.0)) {
                assert_close((double)m.q.values[i], linear(x, 0), 1e-5);
                checked += 1;
            }
        }
        moved_end(&m);
        grid_field_destroy(&q);
    }
    assert_true(checked > 1000);
    flow_world_end(&w);
}

static void test_a_linear_field_is_shifted_exactly_by_a_constant_flow(void** state) {
    (void)state;
    check_shift(cube);
    check_shift(sheet);
}

// u = A (x - middle), that turns and stretches; r is from the middle.
static const double grad[2][2] = {{0.1, -0.2}, {0.25, -0.1}};
static double applied(const double r[2], int a) {
    return grad[a][0] * r[0] + grad[a][1] * r[1];
}

static double streaming(const double x[AXES], int a) {
    const double r[2] = {x[0] - 12.0, x[1] - 12.0};
    return applied(r, a);
}

static void test_paths_bend_to_second_order(void** state) {
    (void)state;
    flow_world w;
    flow_world_begin(&w, sheet, TREACLE_SIDE_OPEN);
    flow_set(&w, streaming);
    grid_field q = field_of(&w, PLACE_CELL, linear);
    moved m = move(&w, &w.map, &q, 5.0);
    int checked = 0;
    for (int64_t i = 0; i < 2 * flow_count(&w.map); ++i) {
        double x[AXES];
        int a = (int)(i % 2);
        flow_place(&w.map, place_face(a), i / 2, x);
        const double r[2] = {x[0] - 12.0, x[1] - 12.0};
        const double mid[2] = {r[0] - 0.5 * applied(r, 0), r[1] - 0.5 * applied(r, 1)};
        const double from[2] = {r[0] - applied(mid, 0), r[1] - applied(mid, 1)};
        if (flow_is_within(&w, i / 2, 4.0)) {
            assert_close((double)m.u[a].values[i / 2], applied(from, a), 1e-5);
            checked += 1;
        }
    }
    assert_true(checked > 100);
    moved_end(&m);
    grid_field_destroy(&q);
    flow_world_end(&w);
}

// Its samples miss the crests.
static double wave(const double x[AXES], int part) {
    (void)part;
    return cos(2.0 * 3.14159265358979 / 4.0 * x[0]);
}

static void check_bounds(treacle_side side, flow_value* value) {
    flow_world w;
    flow_world_begin(&w, cube, side);
    flow_set(&w, noisy_flow);
    grid_field q = field_of(&w, PLACE_CELL, value);
    moved m = move(&w, &w.map, &q, 2.0);
    float least = INFINITY, largest = -INFINITY;
    for (int64_t i = 0; i < flow_count(&w.map); ++i) {
        least = flow_is_within(&w, i, 0.0) ? fminf(least, q.values[i]) : least;
        largest = flow_is_within(&w, i, 0.0) ? fmaxf(largest, q.values[i]) : largest;
    }
    for (int64_t i = 0; i < flow_count(&w.map); ++i) {
        if (flow_is_within(&w, i, 0.0)) {
            assert_true(m.q.values[i] >= least - 1e-6f && m.q.values[i] <= largest + 1e-6f);
            for (int a = 0; a < AXES; ++a) {
                assert_true(fabsf(m.u[a].values[i]) <= 2.0f + 1e-5f);
            }
        }
    }
    moved_end(&m);
    grid_field_destroy(&q);
    flow_world_end(&w);
}

static void test_values_stay_between_the_least_and_the_largest(void** state) {
    (void)state;
    check_bounds(TREACLE_SIDE_PERIODIC, noise);
    check_bounds(TREACLE_SIDE_PERIODIC, wave);
    check_bounds(TREACLE_SIDE_SLIP, noise);
    check_bounds(TREACLE_SIDE_SLIP, wave);
}

static void test_tiles_without_a_past_keep_what_they_hold(void** state) {
    (void)state;
    flow_world w;
    flow_world_begin(&w, cube, TREACLE_SIDE_PERIODIC);
    tile_map all = w.map, few;
    const tile_coord one = {{1, 0, 1}};
    assert_int_equal(tile_map_create(w.ctx, &w.domain, 1, &one, &few), TREACLE_OK);
    w.map = few; // the flow knows one tile only
    flow_set(&w, steady);
    grid_field q = field_of(&w, PLACE_CELL, same);
    moved m = move(&w, &all, &q, 2.0);
    for (tile_ix t = 0; t < all.count; ++t) {
        bool is_known = tile_map_find(&few, all.coord[t]) < few.count;
        float* inner = m.q.values + (size_t)t * TILE_CELLS + 4 * 64 + 4 * 8 + 4;
        assert_true(*inner == (is_known ? 293.7f : -99.0f));
    }
    moved_end(&m);
    grid_field_destroy(&q);
    tile_map_destroy(&few);
    w.map = all;
    flow_world_end(&w);
}

// A tile that reaches beyond the sides has faces there, which no flow ever sees.
static void test_faces_beyond_the_domain_have_no_velocity(void** state) {
    (void)state;
    static const int odd[AXES] = {10, 13, 0};
    flow_world w;
    int beyond = 0, moving = 0;
    flow_world_begin(&w, odd, TREACLE_SIDE_SLIP);
    flow_set(&w, noisy_flow);
    grid_field q = field_of(&w, PLACE_CELL, same);
    moved m = move(&w, &w.map, &q, 4.0);
    for (int64_t i = 0; i < flow_count(&w.map); ++i) {
        int at[AXES];
        tile_cell_at(&w.map, (tile_ix)(i / TILE_CELLS), (int)(i % TILE_CELLS), at);
        for (int a = 0; a < 2 && at[2] == 0; ++a) {
            bool is_inside = at[a] <= odd[a] && at[1 - a] < odd[1 - a];
            assert_true(is_inside || m.u[a].values[i] == 0.0f);
            beyond += is_inside ? 0 : 1;
            moving += is_inside && m.u[a].values[i] != 0.0f ? 1 : 0;
        }
    }
    assert_true(beyond > 100 && moving > 100);
    moved_end(&m);
    grid_field_destroy(&q);
    flow_world_end(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_constant_stays),
        cmocka_unit_test(test_a_linear_field_is_shifted_exactly_by_a_constant_flow),
        cmocka_unit_test(test_paths_bend_to_second_order),
        cmocka_unit_test(test_values_stay_between_the_least_and_the_largest),
        cmocka_unit_test(test_tiles_without_a_past_keep_what_they_hold),
        cmocka_unit_test(test_faces_beyond_the_domain_have_no_velocity),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
