#include "unit.h"

#include "math/kernel.h"

typedef int32_t kernel_fcn(double x, double* w, double* dw);

static const struct {
    const char* name;
    kernel_fcn* fcn;
    int width;
} kernels[] = {{"linear", kernel_linear_slope_f64, KERNEL_LINEAR_WIDTH},
               {"quadratic", kernel_quadratic_slope_f64, KERNEL_QUADRATIC_WIDTH},
               {"wide", kernel_wide_slope_f64, KERNEL_WIDE_WIDTH}};

static void test_weights_sum_to_one_and_reproduce_lines(void** state) {
    (void)state;
    for (int k = 0; k < 3; ++k) {
        for (int i = -4000; i < 4000; ++i) {
            double x = i * 0.00173, w[KERNEL_WIDTH_MAX], dw[KERNEL_WIDTH_MAX];
            int32_t first = kernels[k].fcn(x, w, dw);
            double sum = 0.0, mean = 0.0, slope_sum = 0.0, slope = 0.0;
            for (int j = 0; j < kernels[k].width; ++j) {
                assert_true(w[j] >= 0.0);
                sum += w[j];
                mean += w[j] * (first + j);
                slope_sum += dw[j];
                slope += dw[j] * (first + j);
            }
            assert_close(sum, 1.0, 1e-15);
            assert_close(mean, x, 1e-14);
            assert_close(slope_sum, 0.0, 1e-15);
            assert_close(slope, 1.0, 1e-14);
        }
    }
}

static void test_slopes_are_the_derivatives_of_the_weights(void** state) {
    (void)state;
    for (int k = 0; k < 3; ++k) {
        for (int i = 0; i < 100; ++i) {
            double x = -1.0 + 0.0203 * i, h = 1e-6;
            double low[4], at[4], high[4], dw[4], unused[4];
            int32_t first = kernels[k].fcn(x, at, dw);
            if (kernels[k].fcn(x - h, low, unused) != first ||
                kernels[k].fcn(x + h, high, unused) != first) {
                continue; // across a knot
            }
            for (int j = 0; j < kernels[k].width; ++j) {
                assert_close((high[j] - low[j]) / (2.0 * h), dw[j], 1e-8);
            }
        }
    }
}

static double quadratic_formula(double d) {
    d = fabs(d);
    return d < 0.5 ? 0.75 - d * d : d < 1.5 ? 0.5 * (1.5 - d) * (1.5 - d) : 0.0;
}

static double wide_formula(double d) {
    return fabs(d) < 2.0 ? 0.25 * (2.0 - fabs(d)) : 0.0;
}

static void test_weights_are_those_of_the_formulas(void** state) {
    (void)state;
    for (int i = 0; i < 1000; ++i) {
        double x = -3.0 + 0.00617 * i, w[4];
        int32_t first = kernel_quadratic_f64(x, w);
        for (int j = -2; j < 5; ++j) {
            bool is_inside = j >= 0 && j < 3;
            assert_close(is_inside ? w[j] : 0.0, quadratic_formula(x - (first + j)), 1e-15);
        }
        first = kernel_wide_f64(x, w);
        for (int j = -2; j < 6; ++j) {
            bool is_inside = j >= 0 && j < 4;
            assert_close(is_inside ? w[j] : 0.0, wide_formula(x - (first + j)), 1e-15);
        }
    }
}

static void test_float_kernels_follow_the_double_ones(void** state) {
    (void)state;
    for (int i = 0; i < 1000; ++i) {
        float x = -2.0f + 0.00731f * (float)i, w[4], dw[4];
        double wide[4];
        assert_int_equal(kernel_linear_slope_f32(x, w, dw), kernel_linear_f64((double)x, wide));
        assert_close((double)w[1], wide[1], 1e-6);
        assert_int_equal(kernel_quadratic_slope_f32(x, w, dw),
                         kernel_quadratic_f64((double)x, wide));
        assert_close((double)w[1], wide[1], 1e-6);
        assert_int_equal(kernel_wide_slope_f32(x, w, dw), kernel_wide_f64((double)x, wide));
        assert_close((double)w[2], wide[2], 1e-6);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_weights_sum_to_one_and_reproduce_lines),
        cmocka_unit_test(test_slopes_are_the_derivatives_of_the_weights),
        cmocka_unit_test(test_weights_are_those_of_the_formulas),
        cmocka_unit_test(test_float_kernels_follow_the_double_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
