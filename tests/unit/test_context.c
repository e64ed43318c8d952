#include "alloc_failure.h"

#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/check.h"
#include "base/context.h"
#include "base/log.h"

static void test_wrong_defs_are_refused(void** state) {
    (void)state;
    treacle_context* ctx = NULL;
    assert_int_equal(treacle_context_create(NULL, &ctx), TREACLE_ERR_USAGE);
    treacle_context_def def = {0};
    assert_int_equal(treacle_context_create(&def, &ctx), TREACLE_ERR_USAGE);
    def = treacle_context_def_default();
    def.threads = -1;
    assert_int_equal(treacle_context_create(&def, &ctx), TREACLE_ERR_USAGE);
    def.threads = 1025;
    assert_int_equal(treacle_context_create(&def, &ctx), TREACLE_ERR_USAGE);
    def.threads = 1;
    def.alloc = alloc_failure_alloc; // without the free that goes with it
    assert_int_equal(treacle_context_create(&def, &ctx), TREACLE_ERR_USAGE);
    assert_null(ctx);
    treacle_context_destroy(NULL);
}

static void test_zero_threads_are_one_a_core(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(0);
    assert_int_equal(treacle_context_threads(ctx), context_core_count());
    assert_int_not_equal(treacle_context_isa(ctx), TREACLE_ISA_AUTO);
    treacle_context_destroy(ctx);
    ctx = unit_context(3);
    assert_int_equal(treacle_context_threads(ctx), 3);
    treacle_context_destroy(ctx);
}

static void test_every_allocation_of_a_context_may_fail(void** state) {
    (void)state;
    bool got_through = false;
    for (int64_t n = 1; !got_through; ++n) {
        alloc_failure failure = {.fail_at = n};
        treacle_context_def def = treacle_context_def_default();
        def.threads = 4;
        def.alloc = alloc_failure_alloc;
        def.free = alloc_failure_free;
        def.alloc_user = &failure;
        treacle_context* ctx = NULL;
        treacle_status status = treacle_context_create(&def, &ctx);
        got_through = failure.calls < n;
        assert_int_equal(status, got_through ? TREACLE_OK : TREACLE_ERR_MEMORY);
        assert_true((ctx != NULL) == got_through);
        treacle_context_destroy(ctx);
    }
}

static void test_the_last_error_is_kept_and_cut_to_its_place(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    assert_string_equal(treacle_context_error(ctx), "");
    assert_int_equal(check_fail(ctx, TREACLE_ERR_IO, "cannot open '%s'", "a"), TREACLE_ERR_IO);
    assert_string_equal(treacle_context_error(ctx), "cannot open 'a'");
    char words[3 * CONTEXT_ERROR_CAPACITY];
    memset(words, 'w', sizeof(words));
    words[sizeof(words) - 1] = '\0';
    assert_int_equal(check_fail(ctx, TREACLE_ERR_SCENE, "%s", words), TREACLE_ERR_SCENE);
    assert_int_equal(strlen(treacle_context_error(ctx)), CONTEXT_ERROR_CAPACITY - 1);
    treacle_context_destroy(ctx);
}

typedef struct last_message {
    treacle_log_level level;
    char text[64];
} last_message;

static void keep_message(treacle_log_level level, const char* text, void* user) {
    last_message* last = user;
    last->level = level;
    snprintf(last->text, sizeof(last->text), "%s", text);
}

static void test_messages_reach_the_callback(void** state) {
    (void)state;
    last_message last = {0};
    treacle_context_def def = treacle_context_def_default();
    def.threads = 1;
    def.log = keep_message;
    def.log_user = &last;
    treacle_context* ctx = NULL;
    assert_int_equal(treacle_context_create(&def, &ctx), TREACLE_OK);
    log_message(ctx, TREACLE_LOG_WARNING, "%d tiles", 12);
    assert_int_equal(last.level, TREACLE_LOG_WARNING);
    assert_string_equal(last.text, "12 tiles");
    treacle_context_destroy(ctx);
}

static void test_every_status_has_a_name_and_a_text(void** state) {
    (void)state;
#define CHECK_STATUS(name, value, text)                                                            \
    assert_string_equal(treacle_status_name(TREACLE_##name), "TREACLE_" #name);                    \
    assert_string_equal(treacle_status_text((treacle_status)(value)), text);
    TREACLE_STATUS_LIST(CHECK_STATUS)
#undef CHECK_STATUS
    assert_non_null(treacle_status_text((treacle_status)99));
    assert_non_null(treacle_status_name((treacle_status)99));
    char version[32];
    snprintf(version, sizeof(version), "%d.%d.%d", TREACLE_VERSION_MAJOR, TREACLE_VERSION_MINOR,
             TREACLE_VERSION_PATCH);
    assert_string_equal(treacle_version(), version);
}

// The handler of broken contracts says where, and ends the process.
static void test_a_broken_contract_ends_the_process(void** state) {
    (void)state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        signal(SIGABRT, SIG_DFL); // the test program's own handler would go on with the next test
        dup2(ends[1], STDERR_FILENO);
        check_assert_failed("dt > 0.0", "clock.c", 12);
        _exit(0);
    }
    close(ends[1]);
    char said[256] = "";
    assert_true(read(ends[0], said, sizeof(said) - 1) > 0);
    close(ends[0]);
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    assert_string_equal(said, "treacle: broken invariant: dt > 0.0, at clock.c:12\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wrong_defs_are_refused),
        cmocka_unit_test(test_zero_threads_are_one_a_core),
        cmocka_unit_test(test_every_allocation_of_a_context_may_fail),
        cmocka_unit_test(test_the_last_error_is_kept_and_cut_to_its_place),
        cmocka_unit_test(test_messages_reach_the_callback),
        cmocka_unit_test(test_every_status_has_a_name_and_a_text),
        cmocka_unit_test(test_a_broken_contract_ends_the_process),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
