#include "unit.h"

#include "base/profile.h"

static void spend(double seconds) {
    double end = profile_now() + seconds;
    while (profile_now() < end) {
    }
}

static void test_time_goes_to_the_open_stage(void** state) {
    (void)state;
    profile p;
    profile_init(&p);
    double begin = profile_now();
    for (int i = 0; i < 3; ++i) {
        profile_begin(&p, 2);
        spend(0.004);
        profile_begin(&p, 5); // ends stage 2
        spend(0.001);
        profile_end(&p);
        spend(0.003); // nobody's
    }
    profile_end(&p); // harmless
    double all = profile_now() - begin;
    assert_true(p.seconds[2] >= 0.012 && p.seconds[5] >= 0.003);
    assert_true(p.seconds[2] + p.seconds[5] <= all - 0.009);
    assert_int_equal(p.visits[2], 3);
    assert_int_equal(p.visits[5], 3);
    assert_true(p.seconds[0] == 0.0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_time_goes_to_the_open_stage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
