#include "unit.h"

#include "base/exact_sum.h"
#include "base/parallel_sum.h"
#include "math/hash_random.h"

enum { ITEMS = 5003 };

// Numbers whose sum in double depends on the order.
static double wild(void* data, int64_t item) {
    uint64_t id = (uint64_t)item + *(const uint64_t*)data;
    double mantissa = hash_random_f64(1, id, RANDOM_TEST) - 0.5;
    return ldexp(mantissa, (int)(hash_random_bits(2, id, RANDOM_TEST) % 100));
}

static void test_sums_are_equal_for_every_number_of_threads(void** state) {
    (void)state;
    uint64_t from = 0;
    uint64_t bits[5];
    for (int threads = 1; threads <= 4; ++threads) {
        treacle_context* ctx = unit_context(threads);
        bits[threads] = unit_bits(parallel_sum(ctx, ITEMS, wild, &from));
        assert_true(bits[threads] == bits[1]);
        treacle_context_destroy(ctx);
    }
    exact_sum sum;
    exact_sum_init(&sum);
    for (int64_t i = ITEMS - 1; i >= 0; --i) {
        exact_sum_add(&sum, wild(&from, i));
    }
    assert_true(unit_bits(exact_sum_value(&sum)) == bits[1]);
}

static double item_itself(void* data, int64_t item) {
    (void)data;
    return (double)item;
}

static double sometimes_nan(void* data, int64_t item) {
    return item == *(const int64_t*)data ? NAN : (double)item;
}

static double negative(void* data, int64_t item) {
    (void)data;
    return -(double)item;
}

static void test_sum_and_maximum_of_plain_numbers(void** state) {
    (void)state;
    for (int threads = 1; threads <= 3; ++threads) {
        treacle_context* ctx = unit_context(threads);
        assert_true(parallel_sum(ctx, ITEMS, item_itself, NULL) == ITEMS * (ITEMS - 1.0) / 2.0);
        assert_true(parallel_max(ctx, ITEMS, item_itself, NULL) == ITEMS - 1.0);
        assert_true(unit_bits(parallel_max(ctx, ITEMS, negative, NULL)) == unit_bits(0.0));
        assert_true(parallel_sum(ctx, 0, item_itself, NULL) == 0.0);
        assert_true(parallel_max(ctx, 0, item_itself, NULL) == -INFINITY);
        int64_t at = 17;
        assert_true(isnan(parallel_max(ctx, ITEMS, sometimes_nan, &at)));
        assert_true(isnan(parallel_sum(ctx, ITEMS, sometimes_nan, &at)));
        treacle_context_destroy(ctx);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums_are_equal_for_every_number_of_threads),
        cmocka_unit_test(test_sum_and_maximum_of_plain_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
