#include "alloc_failure.h"

#include "base/arena.h"

static void* take(arena* a, size_t bytes, const char* name) {
    void* block = NULL;
    assert_int_equal(arena_take(a, bytes, 1, name, &block), TREACLE_OK);
    assert_int_equal((uintptr_t)block % TREACLE_ALIGNMENT, 0);
    memset(block, 0xa5, bytes);
    return block;
}

// A step that holds about `bytes` at its most.
static void step(arena* a, size_t bytes) {
    void* first = take(a, bytes / 2, "first");
    void* second = take(a, bytes / 4, "second");
    arena_give(a, second);
    void* third = take(a, bytes / 4, "third");
    void* empty = take(a, 0, "empty");
    arena_give(a, empty);
    arena_give(a, third);
    arena_give(a, first);
    assert_int_equal(arena_end_step(a), TREACLE_OK);
}

static void test_later_steps_do_not_allocate(void** state) {
    (void)state;
    alloc_failure failure = {0};
    treacle_context* ctx = alloc_failure_context(&failure);
    arena a;
    arena_init(&a, ctx);
    step(&a, 3 << 20);
    int64_t calls = failure.calls;
    for (int i = 0; i < 10; ++i) {
        step(&a, 3 << 20);
        step(&a, 1 << 20);
    }
    assert_int_equal(failure.calls, calls);
    assert_int_equal(a.capacity % ARENA_CHUNK, 0);
    assert_true(a.capacity >= a.high_water && a.high_water >= 3 << 19);
    step(&a, 9 << 20); // grows again
    assert_true(failure.calls > calls);
    arena_finish(&a);
    unit_context_end(ctx);
}

static void test_blocks_do_not_overlap(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    arena a;
    arena_init(&a, ctx);
    for (int round = 0; round < 3; ++round) {
        char* block[40];
        for (int i = 0; i < 40; ++i) {
            block[i] = take(&a, (size_t)(1 + 37 * i), "a block");
            memset(block[i], i, (size_t)(1 + 37 * i));
        }
        for (int i = 39; i >= 0; --i) {
            for (int j = 0; j < 1 + 37 * i; ++j) {
                assert_int_equal(block[i][j], i);
            }
            arena_give(&a, block[i]);
        }
        assert_int_equal(arena_end_step(&a), TREACLE_OK);
    }
    arena_finish(&a);
    unit_context_end(ctx);
}

static void test_a_mark_gives_back_all_since_then(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    arena a;
    arena_init(&a, ctx);
    take(&a, 100, "below");
    int mark = arena_mark(&a);
    take(&a, 1000, "above");
    take(&a, 1000, "above too");
    arena_give_to(&a, mark);
    assert_int_equal(a.block_count, 1);
    void* block = NULL;
    assert_int_equal(arena_take_zero(&a, 10, 8, "zeros", &block), TREACLE_OK);
    for (int i = 0; i < 80; ++i) {
        assert_int_equal(((char*)block)[i], 0);
    }
    arena_finish(&a); // as after a step that failed
    unit_context_end(ctx);
}

static void test_limits_are_errors(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    arena a;
    arena_init(&a, ctx);
    void* block = NULL;
    assert_int_equal(arena_take(&a, SIZE_MAX / 2, 4, "too much", &block), TREACLE_ERR_MEMORY);
    assert_error_says(ctx, "too much");
    assert_null(block);
    for (int i = 0; i < ARENA_BLOCKS_MAX; ++i) {
        take(&a, 1, "many");
    }
    assert_int_equal(arena_take(&a, 1, 1, "one more", &block), TREACLE_ERR_LIMIT);
    assert_error_says(ctx, "one more");
    arena_finish(&a);
    unit_context_end(ctx);
}

static treacle_status two_steps(treacle_context* ctx, void* data) {
    (void)data;
    arena a;
    arena_init(&a, ctx);
    treacle_status status = TREACLE_OK;
    for (int i = 1; i <= 2 && status == TREACLE_OK; ++i) {
        void* block = NULL;
        status = arena_take(&a, 1000000, (size_t)i, "a block", &block);
        arena_give(&a, block);
        if (status == TREACLE_OK) {
            status = arena_end_step(&a);
        }
    }
    arena_finish(&a);
    return status;
}

static void test_failed_allocations_are_clean(void** state) {
    (void)state;
    ALLOC_FAILURE_CHECK(two_steps, NULL);
}

// As on one of several ranks.
static void test_a_lean_arena_keeps_no_large_block(void** state) {
    (void)state;
    alloc_failure failure = {0};
    treacle_context* ctx = alloc_failure_context(&failure);
    arena a;
    arena_init(&a, ctx);
    ctx->has_pages = a.is_sparse = true;
    for (int i = 0; i < 3; ++i) {
        void *small = NULL, *large = NULL;
        assert_int_equal(arena_take_zero(&a, 1000, 1, "small", &small), TREACLE_OK);
        assert_int_equal(arena_take_zero(&a, 3 << 20, 1, "large", &large), TREACLE_OK);
        for (size_t k = 0; k < 3 << 20; k += 1000) {
            assert_int_equal(((const char*)large)[k], 0);
        }
        assert_int_equal(((const char*)small)[999], 0);
        memset(large, 0xa5, 3 << 20);
        memset(small, 0xa5, 1000);
        arena_give_to(&a, 0);
        assert_int_equal(arena_end_step(&a), TREACLE_OK);
        assert_int_equal(a.capacity, ARENA_CHUNK);
    }
    arena_finish(&a);
    ctx->has_pages = false;
    unit_context_end(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_later_steps_do_not_allocate),
        cmocka_unit_test(test_blocks_do_not_overlap),
        cmocka_unit_test(test_a_mark_gives_back_all_since_then),
        cmocka_unit_test(test_limits_are_errors),
        cmocka_unit_test(test_a_lean_arena_keeps_no_large_block),
        cmocka_unit_test(test_failed_allocations_are_clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
