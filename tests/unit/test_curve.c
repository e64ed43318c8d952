#include "alloc_failure.h"

#include "base/check.h"
#include "math/curve.h"

static const treacle_key keys[] = {{1.0, {2.0, 0.0, 1.0}},
                                   {2.0, {4.0, 1.0, 1.0}},
                                   {4.0, {0.0, -1.0, 1.0}},
                                   {4.5, {0.0, 5.0, 1.0}}};
static const treacle_curve curve = {4, keys};

static void test_values_are_linear_between_keys_and_constant_beyond(void** state) {
    (void)state;
    const double cases[][2] = {{-5.0, 2.0}, {1.0, 2.0}, {1.5, 3.0}, {2.0, 4.0},
                               {3.0, 2.0},  {4.0, 0.0}, {4.5, 0.0}, {99.0, 0.0}};
    for (int i = 0; i < 8; ++i) {
        double out[3];
        curve_eval(&curve, cases[i][0], out);
        assert_close(out[0], cases[i][1], 1e-15);
        assert_true(out[0] == curve_eval_scalar(&curve, cases[i][0]));
        assert_close(out[2], 1.0, 1e-15);
    }
}

static double riemann(double a, double b) {
    enum { PARTS = 20000 };
    double sum = 0.0;
    for (int i = 0; i < PARTS; ++i) {
        sum += curve_eval_scalar(&curve, a + (b - a) * (i + 0.5) / PARTS);
    }
    return sum * (b - a) / PARTS;
}

static void test_integrals_are_exact(void** state) {
    (void)state;
    const double ends[] = {-1.0, 0.5, 1.0, 1.7, 2.0, 3.3, 4.0, 4.2, 4.5, 7.0};
    for (int i = 0; i < 10; ++i) {
        for (int j = 0; j < 10; ++j) {
            double a = ends[i], b = ends[j];
            assert_close(curve_integral_scalar(&curve, a, b), riemann(a, b), 1e-6);
        }
    }
    assert_close(curve_integral_scalar(&curve, 1.0, 4.5), 3.0 + 4.0, 1e-15);
    double out[3];
    curve_integral(&curve, 0.0, 6.0, out);
    assert_close(out[1], 0.5 + 0.0 + 1.0 + 7.5, 1e-15);
    assert_close(out[2], 6.0, 1e-15);
}

static void test_steps_sum_to_the_whole(void** state) {
    (void)state;
    double sum = 0.0, t = 0.0;
    for (int i = 0; i < 1000; ++i) {
        double dt = 0.003 + 0.001 * (i % 7);
        sum += curve_integral_scalar(&curve, t, t + dt);
        t += dt;
    }
    assert_close(sum, curve_integral_scalar(&curve, 0.0, t), 1e-12);
}

static void test_one_key_is_a_constant(void** state) {
    (void)state;
    treacle_curve constant = {1, &keys[1]};
    assert_true(curve_eval_scalar(&constant, 0.0) == 4.0);
    assert_true(curve_eval_scalar(&constant, 9.0) == 4.0);
    assert_close(curve_integral_scalar(&constant, 0.0, 10.0), 40.0, 1e-14);
}

static void test_bad_curves_are_explained(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    treacle_curve bad = {0, NULL};
    assert_int_equal(curve_check(ctx, &curve, "gravity"), TREACLE_OK);
    assert_int_equal(curve_check(ctx, &bad, "gravity"), TREACLE_ERR_SCENE);
    assert_error_says(ctx, "gravity has no keys");
    const treacle_key back[] = {{1.0, {0.0}}, {1.0, {0.0}}};
    bad = (treacle_curve){2, back};
    assert_int_equal(curve_check(ctx, &bad, "speed"), TREACLE_ERR_SCENE);
    assert_error_says(ctx, "key 2 of speed is at 1 s");
    const treacle_key nan[] = {{1.0, {0.0}}, {2.0, {0.0, NAN}}};
    bad.keys = nan;
    assert_int_equal(curve_check(ctx, &bad, "speed"), TREACLE_ERR_SCENE);
    assert_error_says(ctx, "key 2 of speed");
    const treacle_key nan_time[] = {{NAN, {0.0}}};
    bad = (treacle_curve){1, nan_time};
    assert_int_equal(curve_check(ctx, &bad, "speed"), TREACLE_ERR_SCENE);
    unit_context_end(ctx);
}

static treacle_status copy_and_free(treacle_context* ctx, void* data) {
    treacle_curve copy;
    TREACLE_TRY(curve_copy(ctx, data, &copy));
    assert_int_equal(copy.count, 4);
    assert_memory_equal(copy.keys, keys, sizeof(keys));
    assert_true(copy.keys != keys);
    curve_free(ctx, &copy);
    curve_free(ctx, &copy);
    return TREACLE_OK;
}

static void test_copies_are_deep_and_failed_allocations_clean(void** state) {
    (void)state;
    treacle_curve same = curve;
    ALLOC_FAILURE_CHECK(copy_and_free, &same);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values_are_linear_between_keys_and_constant_beyond),
        cmocka_unit_test(test_integrals_are_exact),
        cmocka_unit_test(test_steps_sum_to_the_whole),
        cmocka_unit_test(test_one_key_is_a_constant),
        cmocka_unit_test(test_bad_curves_are_explained),
        cmocka_unit_test(test_copies_are_deep_and_failed_allocations_clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
