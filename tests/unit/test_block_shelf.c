// Large blocks that stay with the context.
#include "base/block_shelf.h"

#include "base/alloc.h"
#include "unit/unit.h"

enum { MEGA = 1 << 20 };

// A source that counts.
typedef struct counted {
    int taken, given;
    bool is_empty;
} counted;

static void* take(size_t bytes, size_t alignment, void* user) {
    counted* c = user;
    c->taken += c->is_empty ? 0 : 1;
    return c->is_empty ? NULL : aligned_alloc(alignment, bytes);
}

static void give(void* block, size_t bytes, void* user) {
    counted* c = user;
    (void)bytes;
    c->given += 1;
    free(block);
}

static void test_a_block_comes_again(void** state) {
    (void)state;
    counted c = {0};
    heap_source source = {take, give, &c};
    block_shelf shelf = {0};
    void* a = block_shelf_take(&shelf, &source, MEGA, 0, 0);
    block_shelf_give(&shelf, &source, a, MEGA);
    assert_int_equal(shelf.held, MEGA);
    assert_ptr_equal(block_shelf_take(&shelf, &source, MEGA - 64, 0, MEGA), a); // a little less
    block_shelf_give(&shelf, &source, a, MEGA - 64);
    void* b = block_shelf_take(&shelf, &source, MEGA / 2, 0, 2 * MEGA); // far less: another
    assert_ptr_not_equal(a, b);
    assert_int_equal(c.taken, 2);
    block_shelf_give(&shelf, &source, b, MEGA / 2);
    void* small = block_shelf_take(&shelf, &source, 64, 0, 2 * MEGA);
    block_shelf_give(&shelf, &source, small, 64); // is not worth keeping
    assert_int_equal(c.given, 1);
    block_shelf_clear(&shelf, &source);
    assert_int_equal(c.given, c.taken);
    assert_int_equal(shelf.held, 0);
}

static void test_no_more_is_kept_than_was_in_use(void** state) {
    (void)state;
    counted c = {0};
    heap_source source = {take, give, &c};
    block_shelf shelf = {0};
    void* block[4];
    for (int i = 0; i < 4; ++i) {
        block[i] = block_shelf_take(&shelf, &source, MEGA, (size_t)i * MEGA, (size_t)i * MEGA);
    }
    for (int i = 0; i < 4; ++i) {
        block_shelf_give(&shelf, &source, block[i], MEGA);
    }
    void* large = block_shelf_take(&shelf, &source, 2 * MEGA, 0, 4 * MEGA);
    assert_int_equal(shelf.held, 2 * MEGA);
    assert_int_equal(c.given, 2); // the two that were there for longest
    c.is_empty = true;
    assert_null(block_shelf_take(&shelf, &source, 3 * MEGA, 2 * MEGA, 9 * MEGA));
    assert_int_equal(shelf.held, 0); // it was tried without
    block_shelf_give(&shelf, &source, large, 2 * MEGA);
    block_shelf_clear(&shelf, &source);
    assert_int_equal(c.given, c.taken);
}

static void test_the_context_gives_a_block_again(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    void *a = NULL, *b = NULL;
    if (!ctx->has_heap) { // memory is watched, or its caller's
        treacle_context_destroy(ctx);
        return;
    }
    assert_int_equal(alloc_array(ctx, MEGA, 1, "a", &a), TREACLE_OK);
    alloc_free(ctx, a, MEGA);
    assert_int_equal(alloc_array(ctx, MEGA, 1, "b", &b), TREACLE_OK);
    assert_ptr_equal(a, b);
    alloc_free(ctx, b, MEGA);
    alloc_trim(ctx);
    assert_int_equal(ctx->shelf.held, 0);
    unit_context_end(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_block_comes_again),
        cmocka_unit_test(test_no_more_is_kept_than_was_in_use),
        cmocka_unit_test(test_the_context_gives_a_block_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
