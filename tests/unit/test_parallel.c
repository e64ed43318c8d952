#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/parallel.h"

enum { ITEMS = 10007 };

static void square_items(void* data, int64_t begin, int64_t end, int worker) {
    int64_t* out = data;
    (void)worker;
    for (int64_t i = begin; i < end; ++i) {
        out[i] += i * i;
    }
}

static void test_every_item_is_visited_once(void** state) {
    (void)state;
    for (int threads = 1; threads <= 4; ++threads) {
        treacle_context_def def = treacle_context_def_default();
        def.threads = threads;
        treacle_context* ctx = NULL;
        assert_int_equal(treacle_context_create(&def, &ctx), TREACLE_OK);
        void* block = NULL;
        assert_int_equal(alloc_zero(ctx, ITEMS, sizeof(int64_t), "items", &block), TREACLE_OK);
        int64_t* items = block;
        for (int round = 0; round < 200; ++round) {
            parallel_for(ctx, ITEMS, 64, square_items, items);
        }
        for (int64_t i = 0; i < ITEMS; ++i) {
            assert_int_equal(items[i], 200 * i * i);
        }
        alloc_free(ctx, items, ITEMS * sizeof(int64_t));
        treacle_context_destroy(ctx);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_item_is_visited_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
