#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/hash.h"
#include "math/elementary.h"
#include "math/hash_random.h"

enum { SAMPLES = 100000 };

static const uint64_t GOLDEN = 0xddc0121bf3e50961u;

static double uniform(uint64_t id, double low, double high) {
    return low + (high - low) * hash_random_f64(1, id, RANDOM_TEST);
}

// Any finite double of either sign, all exponents alike.
static double any_double(uint64_t id, uint64_t seed) {
    uint64_t bits = hash_random_bits(seed, id, RANDOM_TEST);
    double x;
    memcpy(&x, &bits, sizeof(x));
    return isfinite(x) ? x : (double)id;
}

// Distance from the true value in units of the last place of a double of that size.
static double ulps(double value, long double truth) {
    if (isinf(value) || fabsl(truth) > (long double)DBL_MAX) {
        bool is_past_end = fabsl(truth) > (long double)DBL_MAX * (1 - 1e-16L);
        return isinf(value) && is_past_end && signbit(value) == signbit(truth) ? 0.0 : INFINITY;
    }
    double size = fabs((double)truth);
    double unit = size < DBL_MIN ? 0x1p-1074 : nextafter(size, INFINITY) - size;
    return (double)(fabsl((long double)value - truth) / (long double)unit);
}

static double worst(double (*ours)(double), long double (*truth)(long double), double low,
                    double high) {
    double most = 0.0;
    for (uint64_t i = 0; i < SAMPLES; ++i) {
        double x = uniform(i, low, high);
        double error = ulps(ours(x), truth((long double)x));
        most = error > most ? error : most;
    }
    return most;
}

static void assert_below(double value, double limit) {
    if (!(value < limit)) {
        print_error("%g is not below %g\n", value, limit);
    }
    assert_true(value < limit);
}

static void test_exp_is_right_to_an_ulp(void** state) {
    (void)state;
    assert_below(worst(elementary_exp, expl, -750.0, 715.0), 0.8);
    assert_below(worst(elementary_exp, expl, -1.0, 1.0), 0.8);
    assert_below(worst(elementary_exp, expl, -1e-9, 1e-9), 0.8);
    assert_below(worst(elementary_exp, expl, -745.2, -700.0), 1.0);
}

static void test_log_is_right_to_an_ulp(void** state) {
    (void)state;
    assert_below(worst(elementary_log, logl, 0.0, 10.0), 1.0);
    assert_below(worst(elementary_log, logl, 0.99, 1.01), 1.0);
    assert_below(worst(elementary_log, logl, 0.5, 2.0), 1.0);
    double most = 0.0;
    for (uint64_t i = 0; i < SAMPLES; ++i) {
        double x = fabs(any_double(i, 2));
        most = fmax(most, ulps(elementary_log(x), logl((long double)x)));
    }
    assert_below(most, 1.0);
}

static void test_pow_is_right_to_an_ulp(void** state) {
    (void)state;
    double most = 0.0;
    for (uint64_t i = 0; i < SAMPLES; ++i) {
        double x = uniform(i, 0.0, 4.0), y = uniform(i + SAMPLES, -30.0, 30.0);
        most = fmax(most, ulps(elementary_pow(x, y), powl((long double)x, (long double)y)));
        double wide = fabs(any_double(i, 3)), power = uniform(i, -1.2, 1.2);
        most = fmax(most,
                    ulps(elementary_pow(wide, power), powl((long double)wide, (long double)power)));
    }
    assert_below(most, 0.8);
}

static void test_pow_is_exact_where_the_result_is_a_double(void** state) {
    (void)state;
    for (int base = 2; base <= 10; ++base) {
        double exact = 1.0;
        for (int n = 1; exact * base < 0x1p+53; ++n) {
            exact *= base;
            assert_true(elementary_pow(base, n) == exact);
            assert_true(elementary_pow(-base, n) == (n % 2 != 0 ? -exact : exact));
        }
    }
    assert_true(elementary_pow(2.0, -1074.0) == 0x1p-1074);
    assert_true(elementary_pow(2.0, 1023.0) == 0x1p+1023);
    assert_true(elementary_pow(0x1p-1074, -0.5) == 0x1p+537);
    assert_true(elementary_pow(6.25, 0.5) == 2.5);
}

static void test_sin_and_cos_are_right_to_an_ulp_for_every_size(void** state) {
    (void)state;
    assert_below(worst(elementary_sin, sinl, -10.0, 10.0), 0.9);
    assert_below(worst(elementary_cos, cosl, -10.0, 10.0), 0.9);
    assert_below(worst(elementary_sin, sinl, -1e6, 1e6), 0.9);
    assert_below(worst(elementary_cos, cosl, -1e15, 1e15), 0.9);
    double most = 0.0;
    for (uint64_t i = 0; i < SAMPLES; ++i) {
        double x = any_double(i, 4);
        most = fmax(most, ulps(elementary_sin(x), sinl((long double)x)));
        most = fmax(most, ulps(elementary_cos(x), cosl((long double)x)));
    }
    assert_below(most, 0.9);
}

static void test_zeros_of_sin_and_cos_keep_their_digits(void** state) {
    (void)state;
    for (int n = 1; n < 3000; ++n) {
        double x = n * 1.57079632679489661923;
        assert_below(ulps(elementary_sin(x), sinl((long double)x)), 0.9);
        assert_below(ulps(elementary_cos(x), cosl((long double)x)), 0.9);
    }
    // The double nearest to a multiple of pi/2 of all.
    double x = 6381956970095103.0 * 0x1p+797;
    assert_below(ulps(elementary_cos(x), -4.68716592425462761112e-19L), 0.9);
}

static void test_tanh_is_right_to_three_ulps(void** state) {
    (void)state;
    assert_below(worst(elementary_tanh, tanhl, -1.0, 1.0), 3.0);
    assert_below(worst(elementary_tanh, tanhl, -30.0, 30.0), 3.0);
    assert_below(worst(elementary_tanh, tanhl, -1e-3, 1e-3), 3.0);
}

static void assert_same(double a, double b) {
    assert_true((isnan(a) && isnan(b)) || (a == b && signbit(a) == signbit(b)));
}

static void test_special_values_are_those_of_the_standard(void** state) {
    (void)state;
    const double special[] = {0.0,       -0.0,    1.0,     -1.0,      2.0,     -2.0,
                              3.0,       -3.0,    0.5,     -0.5,      NAN,     INFINITY,
                              -INFINITY, DBL_MAX, DBL_MIN, 0x1p-1074, 1e300,   -1e300,
                              709.5,     710.0,   -745.0,  -746.0,    0x1p+53, 0x1p+53 - 1};
    const int count = sizeof(special) / sizeof(special[0]);
    for (int i = 0; i < count; ++i) {
        double x = special[i];
        if (fabs(x) != 0.5 && fabs(x) < 700.0) {
            assert_below(fabs(elementary_sin(x) - sin(x)), 1e-15);
        }
        if (!isfinite(x) || x == 0.0) {
            assert_same(elementary_exp(x), exp(x));
            assert_same(elementary_log(x), log(x));
            assert_same(elementary_sin(x), sin(x));
            assert_same(elementary_cos(x), cos(x));
            assert_same(elementary_tanh(x), tanh(x));
        }
        for (int j = 0; j < count; ++j) {
            double y = special[j], truth = pow(x, y);
            if (isnan(truth) || isinf(truth) || truth == 0.0 || fabs(truth) == 1.0) {
                assert_same(elementary_pow(x, y), truth);
            }
        }
    }
    assert_same(elementary_log(-1.0), NAN);
    assert_same(elementary_log(1.0), 0.0);
    assert_same(elementary_exp(710.0), INFINITY);
    assert_same(elementary_exp(-746.0), 0.0);
    assert_true(elementary_exp(-745.0) == 0x1p-1074);
    assert_same(elementary_tanh(30.0), 1.0);
    assert_same(elementary_sin(0x1p-1074), 0x1p-1074);
}

static uint64_t add_bits(uint64_t hash, double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof(bits));
    return hash_combine(hash, isnan(x) ? 1 : bits);
}

// The same number on every compiler and machine; it changes only if the functions do.
static void test_bits_are_the_same_everywhere(void** state) {
    (void)state;
    uint64_t hash = 0;
    for (uint64_t i = 0; i < SAMPLES; ++i) {
        double x = uniform(i, -20.0, 20.0), y = any_double(i, 5);
        const double results[] = {
            elementary_exp(x),          elementary_exp(37.0 * x),  elementary_log(fabs(x)),
            elementary_log(fabs(y)),    elementary_sin(x),         elementary_cos(x),
            elementary_sin(y),          elementary_cos(y),         elementary_tanh(x),
            elementary_pow(fabs(x), x), elementary_pow(fabs(y), x)};
        for (size_t j = 0; j < sizeof(results) / sizeof(results[0]); ++j) {
            hash = add_bits(hash, results[j]);
        }
    }
    if (hash != GOLDEN) {
        print_error("hash 0x%016llx\n", (unsigned long long)hash);
    }
    assert_true(hash == GOLDEN);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exp_is_right_to_an_ulp),
        cmocka_unit_test(test_log_is_right_to_an_ulp),
        cmocka_unit_test(test_pow_is_right_to_an_ulp),
        cmocka_unit_test(test_pow_is_exact_where_the_result_is_a_double),
        cmocka_unit_test(test_sin_and_cos_are_right_to_an_ulp_for_every_size),
        cmocka_unit_test(test_zeros_of_sin_and_cos_keep_their_digits),
        cmocka_unit_test(test_tanh_is_right_to_three_ulps),
        cmocka_unit_test(test_special_values_are_those_of_the_standard),
        cmocka_unit_test(test_bits_are_the_same_everywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
