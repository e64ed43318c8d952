// Threads of known shape that turn at a known pace, and the theory's limits.
#include "treacle/coiling.h"

#include "alloc_failure.h"
#include "frame_fixture.h"

enum { ROWS = 40, RING = 64, PILE = 4000, COUNT = ROWS * RING + PILE };
static const double pi = 3.14159265358979323846;
static const double cell = 0.001;

static const treacle_nozzle nozzle = {
    .opening = {0.0, 0.04, 0.0}, .radius = 0.004, .speed = 0.05, .viscosity = 0.1, .gravity = 9.81};

typedef struct thread_frame {
    treacle_frame frame;
    treacle_array arrays[4];
    int32_t tile[3];
    int64_t first[2];
    float position[COUNT][3], volume[COUNT];
} thread_frame;

// A thread of 4 mm radius whose axis leaves the vertical as a parabola, 10 mm off at the height of
// 10 mm, in the direction of `turns`; a wide pile below. All in one tile's coordinates.
static void make_thread(double time, double turns, thread_frame* f) {
    *f = (thread_frame){.tile = {-4, 0, -4}, .first = {0, COUNT}};
    double area = pi * 0.004 * 0.004;
    int n = 0;
    for (int row = 0; row < ROWS; ++row) {
        double down = fmax(39.5 - row, 0.0) / 29.5, off = 10.0 * down * down;
        double slope = 20.0 * down / 29.5;
        for (int k = 0; k < RING && row >= 10; ++k) {
            double a = 2.0 * pi * k / RING;
            f->position[n][0] = (float)(32.0 + off * cos(2.0 * pi * turns) + 2.0 * cos(a));
            f->position[n][1] = (float)row + 0.5f;
            f->position[n][2] = (float)(32.0 + off * sin(2.0 * pi * turns) + 2.0 * sin(a));
            f->volume[n++] = (float)(area * sqrt(1.0 + slope * slope) * cell / RING);
        }
    }
    for (int k = 0; k < PILE; ++k) {
        f->position[n][0] = (float)(22 + k % 20);
        f->position[n][1] = (float)(k / 400) + 0.5f;
        f->position[n][2] = (float)(22 + k / 20 % 20);
        f->volume[n++] = (float)(cell * cell * cell);
    }
    f->first[1] = n;
    f->arrays[0] = fixture_array("tile_coord", TREACLE_TYPE_I32, 3, 1, f->tile);
    f->arrays[1] = fixture_array("tile_first", TREACLE_TYPE_I64, 1, 2, f->first);
    f->arrays[2] = fixture_array("position", TREACLE_TYPE_F32, 3, n, f->position);
    f->arrays[3] = fixture_array("volume", TREACLE_TYPE_F32, 1, n, f->volume);
    f->frame = fixture_frame(f->arrays, 4);
    f->frame.time = time;
    f->frame.cell = cell;
    for (int a = 0; a < 3; ++a) {
        f->frame.origin[a] = 0.0;
        f->frame.cells[a] = 64;
    }
}

static void test_foot_and_radius_are_found(void** state) {
    (void)state;
    static thread_frame f;
    treacle_context* ctx = unit_context(1);
    treacle_thread thread;
    make_thread(0.3, 0.25, &f);
    assert_int_equal(treacle_thread_find(ctx, &f.frame, &nozzle, &thread), TREACLE_OK);
    assert_true(thread.has_landed);
    assert_close(thread.time, 0.3, 0.0);
    assert_close(thread.foot[0], 0.0, 1e-6);
    assert_close(thread.foot[1], 0.010, 1e-9);
    assert_close(thread.foot[2], 0.010, 1e-5);
    assert_close(thread.radius, 0.004, 2e-5);
    unit_context_end(ctx);
}

static void test_frequency_is_the_pace_of_the_foot(void** state) {
    (void)state;
    enum { FRAMES = 60 };
    static thread_frame f;
    static treacle_thread threads[FRAMES];
    treacle_context* ctx = unit_context(1);
    for (int way = -1; way <= 1; way += 2) {
        for (int i = 0; i < FRAMES; ++i) {
            // it swings to and fro before it settles
            double t = i / 25.0, turns = i < 15 ? 0.4 * sin(0.6 * i) : 1.7 * way * t;
            make_thread(t, turns, &f);
            assert_int_equal(treacle_thread_find(ctx, &f.frame, &nozzle, &threads[i]), TREACLE_OK);
        }
        treacle_coiling c = treacle_coiling_measure(&nozzle, FRAMES, threads);
        assert_close(c.frequency, 1.7, 0.06);
        assert_true(c.turns > 2.9 && c.turns < 3.7);
        assert_true(c.from > 0.4 && c.spread < 0.1);
        assert_close(c.radius, 0.010, 1e-5);
        assert_close(c.height, 0.030, 1e-9);
    }
    unit_context_end(ctx);
}

static void test_thread_in_the_air_has_not_landed(void** state) {
    (void)state;
    static thread_frame f;
    treacle_context* ctx = unit_context(1);
    treacle_thread thread;
    make_thread(0.0, 0.0, &f);
    f.first[1] = 30 * RING; // without the pile, and it hangs 10 cells above the floor
    assert_int_equal(treacle_thread_find(ctx, &f.frame, &nozzle, &thread), TREACLE_OK);
    assert_false(thread.has_landed);
    treacle_coiling c = treacle_coiling_measure(&nozzle, 1, &thread);
    assert_true(c.turns == 0.0 && c.frequency == 0.0);
    unit_context_end(ctx);
}

static void test_frames_without_volumes_are_refused(void** state) {
    (void)state;
    static thread_frame f;
    treacle_context* ctx = unit_context(1);
    treacle_thread thread;
    make_thread(0.0, 0.0, &f);
    f.frame.array_count = 3;
    assert_int_equal(treacle_thread_find(ctx, &f.frame, &nozzle, &thread), TREACLE_ERR_FORMAT);
    make_thread(0.0, 0.0, &f);
    treacle_nozzle low = nozzle;
    low.opening[1] = 0.002;
    assert_int_equal(treacle_thread_find(ctx, &f.frame, &low, &thread), TREACLE_ERR_USAGE);
    unit_context_end(ctx);
}

static treacle_coiling_theory predict(treacle_nozzle n, double height, double thread) {
    treacle_context* ctx = unit_context(1);
    treacle_coiling_theory out;
    assert_int_equal(treacle_coiling_predict(ctx, &n, height, thread, &out), TREACLE_OK);
    unit_context_end(ctx);
    return out;
}

// Computed ropes of case 7 of the validation suite: an independent solution of the same equations,
// to the digits that it is printed with.
static void test_steady_ropes_are_those_of_the_suite(void** state) {
    (void)state;
    const struct {
        treacle_nozzle nozzle;
        double height, frequency, radius, thread;
        treacle_coiling_regime regime; // REGIME_COUNT: between two
    } ropes[] = {
        {{.radius = 0.005, .speed = 0.05, .viscosity = 0.5, .gravity = 9.81},
         0.08,
         0.7116,
         12.8e-3,
         4.67e-3,
         TREACLE_COILING_GRAVITATIONAL},
        {{.radius = 0.005, .speed = 0.10, .viscosity = 0.05, .gravity = 9.81},
         0.138,
         5.99,
         9.36e-3,
         2.66e-3,
         TREACLE_COILING_REGIME_COUNT},
        {{.radius = 0.004, .speed = 0.05, .viscosity = 0.01, .gravity = 9.81},
         0.05,
         5.89,
         4.95e-3,
         2.09e-3,
         TREACLE_COILING_REGIME_COUNT},
        {{.radius = 0.0025, .speed = 0.05, .viscosity = 1.0, .gravity = 0.0},
         0.08,
         0.3755,
         20.9e-3,
         2.52e-3,
         TREACLE_COILING_VISCOUS},
    };
    for (size_t i = 0; i < sizeof(ropes) / sizeof(ropes[0]); ++i) {
        treacle_coiling_theory t = predict(ropes[i].nozzle, ropes[i].height, ropes[i].thread);
        assert_int_equal(t.count, 1);
        assert_close(t.frequency[0] / ropes[i].frequency, 1.0, 1e-3);
        assert_close(t.radius[0] / ropes[i].radius, 1.0, 3e-3);
        assert_close(t.thread_radius[0] / ropes[i].thread, 1.0, 3e-3);
        bool is_between = ropes[i].regime == TREACLE_COILING_REGIME_COUNT;
        assert_true(is_between || t.regime == ropes[i].regime);
    }
}

// A slender rope without weight and inertia: Omega = 4.000 U/H, R = H/4, of the same source.
static void test_a_light_rope_has_its_limit(void** state) {
    (void)state;
    treacle_nozzle n = {.radius = 1e-3, .speed = 0.01, .viscosity = 1e6};
    treacle_coiling_theory t = predict(n, 0.5, 1e-3);
    assert_int_equal(t.count, 1);
    assert_int_equal(t.regime, TREACLE_COILING_VISCOUS);
    assert_close(t.frequency[0] * 2.0 * pi * 0.5 / 0.01, 4.0, 2e-3);
    assert_close(t.radius[0] / 0.5, 0.25, 2e-4);
    assert_close(t.limit, 4.0 * 0.01 / 0.5 / (2.0 * pi), 1e-12);
}

static void test_regimes_have_their_names(void** state) {
    (void)state;
    treacle_nozzle n = {.radius = 0.001, .speed = 2.0, .viscosity = 0.002};
    treacle_context* ctx = unit_context(1);
    treacle_coiling_theory t;
    assert_int_equal(treacle_coiling_predict(ctx, &n, 0.0, 0.001, &t), TREACLE_ERR_USAGE);
    assert_int_equal(treacle_coiling_predict(ctx, &n, 0.05, 0.001, &t), TREACLE_OK);
    assert_int_equal(t.regime, TREACLE_COILING_INERTIAL);
    assert_string_equal(treacle_coiling_regime_name(t.regime), "inertial");
    unit_context_end(ctx);
}

// The area of a stretched thread falls to a tenth on its way, and single slabs have few particles.
static void test_foot_of_a_stretched_thread_is_at_its_pile(void** state) {
    (void)state;
    static thread_frame f;
    treacle_context* ctx = unit_context(1);
    treacle_thread thread;
    make_thread(0.0, 0.25, &f);
    for (int i = 0; i < 30 * RING; ++i) {
        double up = (f.position[i][1] - 10.0) / 29.0;
        f.volume[i] *= (float)(0.1 + 0.9 * up * up);
        int row = (int)f.position[i][1];
        f.volume[i] *= row % 7 == 3 ? 0.3f : 1.0f;
    }
    assert_int_equal(treacle_thread_find(ctx, &f.frame, &nozzle, &thread), TREACLE_OK);
    assert_true(thread.has_landed);
    assert_close(thread.foot[1], 0.010, 1.001e-3);
    assert_close(thread.foot[2], 0.010, 1e-3);
    unit_context_end(ctx);
}

static treacle_status find_one(treacle_context* ctx, void* data) {
    treacle_thread thread;
    return treacle_thread_find(ctx, data, &nozzle, &thread);
}

static treacle_status predict_one(treacle_context* ctx, void* data) {
    treacle_coiling_theory t;
    return treacle_coiling_predict(ctx, data, 0.04, 0.0057, &t);
}

static void test_missing_memory_is_an_error(void** state) {
    (void)state;
    static thread_frame f;
    make_thread(0.0, 0.0, &f);
    ALLOC_FAILURE_CHECK(find_one, &f.frame);
    treacle_nozzle n = {.radius = 0.005, .speed = 0.05, .viscosity = 0.5, .gravity = 9.81};
    n.radius = 0.00572; // a walk of few steps
    ALLOC_FAILURE_CHECK(predict_one, &n);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_foot_and_radius_are_found),
        cmocka_unit_test(test_frequency_is_the_pace_of_the_foot),
        cmocka_unit_test(test_thread_in_the_air_has_not_landed),
        cmocka_unit_test(test_frames_without_volumes_are_refused),
        cmocka_unit_test(test_foot_of_a_stretched_thread_is_at_its_pile),
        cmocka_unit_test(test_steady_ropes_are_those_of_the_suite),
        cmocka_unit_test(test_a_light_rope_has_its_limit),
        cmocka_unit_test(test_regimes_have_their_names),
        cmocka_unit_test(test_missing_memory_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
