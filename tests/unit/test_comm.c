#include "unit.h"

#include "base/comm.h"

static void test_one_rank_agrees_with_itself(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    assert_int_equal(comm_rank(ctx), 0);
    assert_int_equal(comm_size(ctx), 1);
    comm_barrier(ctx);
    int64_t counts[2] = {5, -7};
    comm_sum_i64(ctx, counts, 2);
    comm_max_i64(ctx, counts, 2);
    assert_int_equal(counts[0], 5);
    assert_int_equal(counts[1], -7);
    double speed = 2.5;
    comm_max_f64(ctx, &speed, 1);
    assert_true(speed == 2.5);
    exact_sum sum;
    exact_sum_init(&sum);
    exact_sum_add(&sum, 1.25);
    comm_sum_exact(ctx, &sum, 1);
    assert_true(exact_sum_value(&sum) == 1.25);
    assert_int_equal(comm_agree(ctx, TREACLE_OK), TREACLE_OK);
    assert_int_equal(comm_agree(ctx, TREACLE_ERR_IO), TREACLE_ERR_IO);
    unit_context_end(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_rank_agrees_with_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
