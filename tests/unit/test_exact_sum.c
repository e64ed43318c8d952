#include "unit.h"

#include <float.h>

#include "base/exact_sum.h"
#include "math/hash_random.h"

static double sum_of(const double* x, int count) {
    exact_sum sum;
    exact_sum_init(&sum);
    for (int i = 0; i < count; ++i) {
        exact_sum_add(&sum, x[i]);
    }
    return exact_sum_value(&sum);
}

// Doubles of all exponents and both signs.
static void fill(double* x, int count, uint64_t seed) {
    for (int i = 0; i < count; ++i) {
        uint64_t bits = hash_random_bits(seed, (uint64_t)i, RANDOM_TEST);
        memcpy(&x[i], &bits, sizeof(bits));
        x[i] = isfinite(x[i]) ? x[i] : 1.0;
    }
}

static void shuffle(double* x, int count, uint64_t seed) {
    for (int i = count - 1; i > 0; --i) {
        int j = (int)(hash_random_bits(seed, (uint64_t)i, RANDOM_TEST) % (uint64_t)(i + 1));
        double kept = x[i];
        x[i] = x[j];
        x[j] = kept;
    }
}

static void test_order_does_not_matter(void** state) {
    (void)state;
    enum { COUNT = 1000 };
    double x[COUNT];
    fill(x, COUNT, 1);
    double first = sum_of(x, COUNT);
    for (uint64_t seed = 0; seed < 50; ++seed) {
        shuffle(x, COUNT, seed);
        assert_true(unit_bits(sum_of(x, COUNT)) == unit_bits(first));
    }
}

static void test_merged_parts_equal_the_whole(void** state) {
    (void)state;
    enum { COUNT = 997 };
    double x[COUNT];
    fill(x, COUNT, 2);
    exact_sum part[7], sum;
    for (int p = 0; p < 7; ++p) {
        exact_sum_init(&part[p]);
    }
    for (int i = 0; i < COUNT; ++i) {
        exact_sum_add(&part[i % 7], x[i]);
    }
    exact_sum_init(&sum);
    for (int p = 6; p >= 0; --p) {
        exact_sum_merge(&sum, &part[p]);
    }
    assert_true(unit_bits(exact_sum_value(&sum)) == unit_bits(sum_of(x, COUNT)));
}

static void test_cancellation_leaves_what_is_left(void** state) {
    (void)state;
    const double x[] = {1e308, 1.0, 1e-300, -1e308, 0x1p-1074, -1.0, -1e-300};
    assert_true(sum_of(x, 7) == 0x1p-1074);
    const double y[] = {1e16, 1.0, -1e16};
    assert_true(sum_of(y, 3) == 1.0);
    const double z[] = {-1e16, -1.0, 1e16};
    assert_true(sum_of(z, 3) == -1.0);
}

static void test_one_number_comes_out_as_it_went_in(void** state) {
    (void)state;
    enum { COUNT = 20000 };
    static double x[COUNT];
    fill(x, COUNT, 3);
    const double edges[] = {
        0.0, DBL_MAX, -DBL_MAX, DBL_MIN, -DBL_MIN, 0x1p-1074, 0x1.fffffffffffffp-1023};
    for (int i = 0; i < COUNT; ++i) {
        assert_true(unit_bits(sum_of(&x[i], 1)) == unit_bits(x[i]));
    }
    for (int i = 0; i < 7; ++i) {
        assert_true(unit_bits(sum_of(&edges[i], 1)) == unit_bits(edges[i]));
    }
    double minus_zero = -0.0;
    assert_true(unit_bits(sum_of(&minus_zero, 1)) == unit_bits(0.0));
}

static void test_two_numbers_add_as_the_machine_adds_them(void** state) {
    (void)state;
    for (uint64_t i = 0; i < 200000; ++i) {
        double x[2];
        for (uint64_t k = 0; k < 2; ++k) {
            double mantissa = hash_random_f64(4, 2 * i + k, RANDOM_TEST) - 0.5;
            int exponent = (int)(hash_random_bits(5, 2 * i + k, RANDOM_TEST) % 120) - 60;
            x[k] = ldexp(mantissa, exponent - (i % 2 == 0 ? 1010 : 0)); // half near denormal
        }
        assert_true(sum_of(x, 2) == x[0] + x[1]);
    }
}

static void test_halves_round_to_even(void** state) {
    (void)state;
    const double down[] = {1.0, 0x1p-53};
    assert_true(sum_of(down, 2) == 1.0);
    const double up[] = {1.0 + 0x1p-52, 0x1p-53};
    assert_true(sum_of(up, 2) == 1.0 + 0x1p-51);
    const double more[] = {1.0, 0x1p-53, 0x1p-1074};
    assert_true(sum_of(more, 3) == 1.0 + 0x1p-52);
    const double less[] = {1.0, 0x1p-53, -0x1p-1074};
    assert_true(sum_of(less, 3) == 1.0);
    const double carry[] = {0x1.fffffffffffffp+0, 0x1p-53};
    assert_true(sum_of(carry, 2) == 2.0);
}

static void test_denormals_add_exactly(void** state) {
    (void)state;
    exact_sum sum;
    exact_sum_init(&sum);
    for (int i = 0; i < 3000; ++i) {
        exact_sum_add(&sum, 0x1p-1074);
    }
    assert_true(exact_sum_value(&sum) == 3000 * 0x1p-1074);
    exact_sum_add(&sum, 0x1p-1022);
    assert_true(exact_sum_value(&sum) == 0x1p-1022 + 3000 * 0x1p-1074);
}

static void test_too_large_is_infinite_until_it_comes_back(void** state) {
    (void)state;
    const double x[] = {DBL_MAX, DBL_MAX, -DBL_MAX, -DBL_MAX, 2.0};
    assert_true(sum_of(x, 2) == INFINITY);
    assert_true(sum_of(x, 3) == DBL_MAX);
    assert_true(sum_of(x, 5) == 2.0);
    assert_true(sum_of(&x[2], 2) == -INFINITY);
    const double half[] = {DBL_MAX, 0x1p+969}; // just less than half of the last place
    assert_true(sum_of(half, 2) == DBL_MAX);
    const double whole[] = {DBL_MAX, 0x1p+970};
    assert_true(sum_of(whole, 2) == INFINITY);
}

static void test_infinity_and_nan_come_out_again(void** state) {
    (void)state;
    const double x[] = {INFINITY, 1.0, -INFINITY};
    assert_true(sum_of(x, 2) == INFINITY);
    assert_true(sum_of(&x[1], 2) == -INFINITY);
    assert_true(isnan(sum_of(x, 3)));
    const double y[] = {1.0, NAN, 2.0};
    assert_true(isnan(sum_of(y, 3)));
    exact_sum a, b;
    exact_sum_init(&a);
    exact_sum_init(&b);
    exact_sum_add(&a, INFINITY);
    exact_sum_add(&b, 5.0);
    exact_sum_merge(&b, &a);
    assert_true(exact_sum_value(&b) == INFINITY);
}

// The spare bits of the limbs are used up by merges: double a sum 100 times.
static void test_carries_are_moved_in_time(void** state) {
    (void)state;
    exact_sum sum;
    exact_sum_init(&sum);
    exact_sum_add(&sum, 0x1.fffffffffffffp+0);
    exact_sum_add(&sum, -0x1.fffffffffffffp-600);
    for (int i = 0; i < 100; ++i) {
        exact_sum copy = sum;
        exact_sum_merge(&sum, &copy);
    }
    exact_sum_add(&sum, -0x1.fffffffffffffp+100);
    assert_true(exact_sum_value(&sum) == -0x1.fffffffffffffp-500);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order_does_not_matter),
        cmocka_unit_test(test_merged_parts_equal_the_whole),
        cmocka_unit_test(test_cancellation_leaves_what_is_left),
        cmocka_unit_test(test_one_number_comes_out_as_it_went_in),
        cmocka_unit_test(test_two_numbers_add_as_the_machine_adds_them),
        cmocka_unit_test(test_halves_round_to_even),
        cmocka_unit_test(test_denormals_add_exactly),
        cmocka_unit_test(test_too_large_is_infinite_until_it_comes_back),
        cmocka_unit_test(test_infinity_and_nan_come_out_again),
        cmocka_unit_test(test_carries_are_moved_in_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
