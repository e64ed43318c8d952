#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/bench.h"

static bool pause_for(void* data) {
    usleep(*(unsigned*)data);
    return true;
}

static bool refuse(void* data) {
    (void)data;
    return false;
}

static bool crash(void* data) {
    (void)data;
    _exit(3);
}

// Fast, but every third call is slow.
static bool pause_sometimes(void* data) {
    int* calls = data;
    *calls += 1;
    usleep(*calls % 3 == 0 ? 50000 : 1000);
    return true;
}

static void test_the_median_ignores_outliers(void** state) {
    (void)state;
    int calls = 0;
    double seconds = bench_median(9, pause_sometimes, &calls);
    assert_int_equal(calls, 10);
    assert_true(seconds >= 0.001 && seconds < 0.04);
}

static void test_a_failure_has_no_time(void** state) {
    (void)state;
    assert_true(isnan(bench_median(3, refuse, NULL)));
    assert_true(isnan(bench_time_yardstick(5.0, refuse, NULL).seconds));
    assert_true(isnan(bench_time_yardstick(5.0, crash, NULL).seconds));
}

static void test_a_yardstick_is_timed(void** state) {
    (void)state;
    unsigned pause = 20000;
    bench_yardstick y = bench_time_yardstick(30.0, pause_for, &pause);
    assert_false(y.is_stopped);
    assert_true(y.seconds >= 0.02 && y.seconds < 30.0);
}

static void test_a_slow_yardstick_is_stopped(void** state) {
    (void)state;
    unsigned pause = 900000;
    double start = bench_clock();
    bench_yardstick y = bench_time_yardstick(0.1, pause_for, &pause);
    assert_true(y.is_stopped);
    assert_true(y.seconds == 0.1);
    assert_true(bench_clock() - start < 0.8);
}

static void test_json_rows_have_the_nine_keys(void** state) {
    (void)state;
    static const char* const keys[] = {"bench",     "case",  "quantity", "value", "unit",
                                       "yardstick", "ratio", "minimum",  "pass"};
    char* text = NULL;
    size_t length = 0;
    FILE* out = open_memstream(&text, &length);
    bench_entry entry = {.name = "name"};
    bench b = {.out = out, .as_json = true, .current = &entry};
    bench_print_head(&b);
    bench_report(&b, &(bench_row){.case_name = "c",
                                  .quantity = "q",
                                  .value = 2.0,
                                  .unit = "s",
                                  .yardstick = "other",
                                  .ratio = 3.0,
                                  .is_at_least = true});
    bench_report(&b, &(bench_row){.case_name = "c", .quantity = "q", .value = 2.0, .unit = "s"});
    fclose(out);
    int count = 0;
    for (char* line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        json_t* object = json_loads(line, 0, NULL);
        assert_int_equal(json_object_size(object), 9);
        for (int i = 0; i < 9; ++i) {
            assert_non_null(json_object_get(object, keys[i]));
        }
        assert_int_equal(json_is_null(json_object_get(object, "ratio")), count == 1);
        json_decref(object);
        count += 1;
    }
    assert_int_equal(count, 2);
    free(text);
}

static void test_rows_that_miss_are_counted(void** state) {
    (void)state;
    char* text = NULL;
    size_t length = 0;
    FILE* out = open_memstream(&text, &length);
    bench_entry entry = {.name = "name"};
    bench_tally tally = {0};
    bench b = {.out = out, .current = &entry, .tally = &tally};
    bench_row row = {.case_name = "c", .quantity = "q", .value = 2.0, .unit = "s"};
    bench_report(&b, &row);
    row.limit = BENCH_VALUE_AT_MOST;
    row.minimum = 2.0;
    bench_report(&b, &row);
    row.limit = BENCH_VALUE_AT_LEAST;
    row.minimum = 2.5;
    bench_report(&b, &row);
    row.limit = BENCH_RATIO_AT_LEAST;
    row.ratio = NAN;
    bench_report(&b, &row);
    fclose(out);
    assert_int_equal(tally.passed, 1);
    assert_int_equal(tally.missed, 2);
    assert_non_null(strstr(text, "[at most 2: pass]"));
    assert_non_null(strstr(text, "[at least 2.5: MISS]"));
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_median_ignores_outliers),
        cmocka_unit_test(test_a_failure_has_no_time),
        cmocka_unit_test(test_a_yardstick_is_timed),
        cmocka_unit_test(test_a_slow_yardstick_is_stopped),
        cmocka_unit_test(test_json_rows_have_the_nine_keys),
        cmocka_unit_test(test_rows_that_miss_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
