#include "alloc_failure.h"

#include "base/alloc.h"

static void test_blocks_are_aligned_and_counted(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    const size_t sizes[] = {0, 1, 63, 64, 65, 1000, 1 << 20};
    void* block[7];
    size_t expected = 0;
    for (int i = 0; i < 7; ++i) {
        block[i] = alloc_bytes(ctx, sizes[i]);
        assert_non_null(block[i]);
        assert_int_equal((uintptr_t)block[i] % TREACLE_ALIGNMENT, 0);
        memset(block[i], 1, sizes[i]);
        expected += sizes[i] == 0 ? 64 : (sizes[i] + 63) / 64 * 64;
        assert_int_equal(treacle_context_memory(ctx), expected);
    }
    for (int i = 0; i < 7; ++i) {
        alloc_free(ctx, block[i], sizes[i]);
    }
    alloc_free(ctx, NULL, 12345);
    assert_int_equal(treacle_context_memory_peak(ctx), expected);
    unit_context_end(ctx);
}

static void test_resizing_keeps_the_common_part(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    void* block = NULL;
    assert_int_equal(alloc_resize(ctx, &block, 0, 10, sizeof(int), "numbers"), TREACLE_OK);
    int* numbers = block;
    for (int i = 0; i < 10; ++i) {
        numbers[i] = i;
    }
    assert_int_equal(alloc_resize(ctx, &block, 10, 1000, sizeof(int), "numbers"), TREACLE_OK);
    assert_int_equal(alloc_resize(ctx, &block, 1000, 5, sizeof(int), "numbers"), TREACLE_OK);
    numbers = block;
    for (int i = 0; i < 5; ++i) {
        assert_int_equal(numbers[i], i);
    }
    // What cannot be is refused, and the block stays.
    assert_int_equal(alloc_resize(ctx, &block, 5, SIZE_MAX / 2, sizeof(int), "far too many"),
                     TREACLE_ERR_MEMORY);
    assert_error_says(ctx, "far too many");
    assert_ptr_equal(block, numbers);
    alloc_free(ctx, block, 5 * sizeof(int));
    unit_context_end(ctx);
}

static void test_sizes_that_overflow_are_refused(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    void* block = ctx;
    assert_int_equal(alloc_array(ctx, SIZE_MAX, 2, "a field", &block), TREACLE_ERR_MEMORY);
    assert_null(block);
    assert_error_says(ctx, "a field");
    assert_null(alloc_bytes(ctx, SIZE_MAX));
    unit_context_end(ctx);
}

static treacle_status use_everything(treacle_context* ctx, void* data) {
    (void)data;
    void* a = NULL;
    void* b = NULL;
    char* copy = NULL;
    treacle_status status;
    TREACLE_TRY_GOTO(alloc_zero(ctx, 10, 8, "zeros", &a), done);
    TREACLE_TRY_GOTO(alloc_array(ctx, 10, 8, "numbers", &b), done);
    for (int i = 0; i < 80; ++i) {
        assert_int_equal(((char*)a)[i], 0);
    }
    TREACLE_TRY_GOTO(alloc_text(ctx, "treacle", &copy), done);
    assert_string_equal(copy, "treacle");
done:
    alloc_free_text(ctx, copy);
    alloc_free(ctx, b, 80);
    alloc_free(ctx, a, 80);
    return status;
}

static void test_failed_allocations_are_clean(void** state) {
    (void)state;
    ALLOC_FAILURE_CHECK(use_everything, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks_are_aligned_and_counted),
        cmocka_unit_test(test_resizing_keeps_the_common_part),
        cmocka_unit_test(test_sizes_that_overflow_are_refused),
        cmocka_unit_test(test_failed_allocations_are_clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
