#include "broken.h"

static int runs;

static bool counted(bool answer) {
    runs += 1;
    return answer;
}

static int halved(int even) {
    TREACLE_ASSERT(even % 2 == 0);
    return even / 2;
}

static void test_what_holds_goes_through_the_door(void** state) {
    (void)state;
    assert_int_equal(halved(6), 3);
    TREACLE_VALIDATE(counted(true) || true);
}

static void test_what_does_not_hold_is_seen(void** state) {
    (void)state;
    assert_broken(halved(7));
    assert_broken(TREACLE_VALIDATE(counted(false)));
}

// What is said without assertions costs nothing, not even the call.
static void test_expressions_run_with_assertions_alone(void** state) {
    (void)state;
    runs = 0;
    TREACLE_ASSERT(counted(true));
    TREACLE_VALIDATE(counted(true));
#ifdef TREACLE_ENABLE_ASSERT
    assert_int_equal(runs, 2);
#else
    assert_int_equal(runs, 0);
#endif
    int before = runs;
    assert_true(counted(true));
    assert_int_equal(runs, before + 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_holds_goes_through_the_door),
        cmocka_unit_test(test_what_does_not_hold_is_seen),
        cmocka_unit_test(test_expressions_run_with_assertions_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
