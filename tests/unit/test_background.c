// A job beside its owner: it is done once, in order, and waited for.
#include "base/background.h"

#include "particle_fixture.h"

typedef struct tally {
    int64_t begun, ended;
    int64_t sum;
} tally;

// Jobs of one thread never overlap, so that plain members do.
static void count_up(void* data) {
    tally* t = data;
    assert_int_equal(t->begun, t->ended);
    t->begun += 1;
    for (int i = 0; i < 100000; ++i) {
        t->sum += i % 7;
    }
    t->ended += 1;
}

static void test_jobs_come_one_after_the_other(void** state) {
    (void)state;
    treacle_context* ctx = make_context(2);
    size_t before = treacle_context_memory(ctx);
    background* b = NULL;
    tally t = {0};
    assert_int_equal(background_create(ctx, &b), TREACLE_OK);
    assert_true(background_is_idle(b));
    for (int i = 0; i < 50; ++i) {
        background_begin(b, count_up, &t);
    }
    background_wait(b);
    assert_true(background_is_idle(b));
    assert_int_equal(t.ended, 50);
    background_destroy(b);
    assert_int_equal(treacle_context_memory(ctx), before);
    treacle_context_destroy(ctx);
}

static void test_the_last_job_is_done_before_the_thread_ends(void** state) {
    (void)state;
    treacle_context* ctx = make_context(2);
    for (int i = 0; i < 20; ++i) {
        background* b = NULL;
        tally t = {0};
        assert_int_equal(background_create(ctx, &b), TREACLE_OK);
        background_begin(b, count_up, &t);
        background_destroy(b);
        assert_int_equal(t.ended, 1);
    }
    background_destroy(NULL);
    treacle_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_jobs_come_one_after_the_other),
        cmocka_unit_test(test_the_last_job_is_done_before_the_thread_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
