#include "alloc_failure.h"

#include "base/alloc.h"
#include "base/text.h"

static void test_texts_grow(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    text t;
    text_init(&t, ctx);
    assert_string_equal(t.at, "");
    text_append(&t, "honey");
    text_append_char(&t, ' ');
    text_append_span(&t, "coils....", 5);
    text_printf(&t, " %d times at %.1f Pa s", 7, 10.0);
    text_append(&t, "");
    assert_string_equal(t.at, "honey coils 7 times at 10.0 Pa s");
    assert_int_equal(t.length, strlen(t.at));
    text_clear(&t);
    assert_string_equal(t.at, "");
    for (int i = 0; i < 1000; ++i) {
        text_printf(&t, "%d,", i);
    }
    assert_int_equal(t.length, 10 * 2 + 90 * 3 + 900 * 4);
    assert_int_equal(text_status(&t), TREACLE_OK);
    text_finish(&t);
    unit_context_end(ctx);
}

static void test_a_taken_text_has_its_exact_size(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    text t;
    char* taken = NULL;
    text_init(&t, ctx);
    assert_int_equal(text_take(&t, &taken), TREACLE_OK);
    assert_string_equal(taken, "");
    alloc_free_text(ctx, taken);
    text_printf(&t, "%300d", 1);
    assert_int_equal(text_take(&t, &taken), TREACLE_OK);
    assert_int_equal(strlen(taken), 300);
    assert_string_equal(t.at, "");
    alloc_free_text(ctx, taken);
    unit_context_end(ctx);
}

static treacle_status build(treacle_context* ctx, void* data) {
    (void)data;
    text t;
    text_init(&t, ctx);
    for (int i = 0; i < 100; ++i) {
        text_printf(&t, "line %d\n", i);
        text_append(&t, "and more");
        assert_int_equal(strlen(t.at), t.length);
    }
    char* taken = NULL;
    treacle_status status = text_take(&t, &taken);
    alloc_free_text(ctx, taken);
    return status;
}

static void test_failed_allocations_are_clean(void** state) {
    (void)state;
    ALLOC_FAILURE_CHECK(build, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts_grow),
        cmocka_unit_test(test_a_taken_text_has_its_exact_size),
        cmocka_unit_test(test_failed_allocations_are_clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
