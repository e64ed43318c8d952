#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/parallel.h"

enum { ITEMS = 10007 };

static void square_items(void* data, int64_t begin, int64_t end) {
    int64_t* out = data;
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

typedef struct nest {
    treacle_context* ctx;
    int worker_of_item[ITEMS];
} nest;

typedef struct inner_loop {
    int worker;
    int64_t items;
} inner_loop;

static void count_inner(void* data, int64_t begin, int64_t end) {
    inner_loop* inner = data;
    inner->items += parallel_worker() == inner->worker ? end - begin : 0;
}

static void loop_inside(void* data, int64_t begin, int64_t end) {
    nest* n = data;
    for (int64_t i = begin; i < end; ++i) {
        inner_loop inner = {.worker = parallel_worker()};
        parallel_for(n->ctx, 100, 8, count_inner, &inner);
        n->worker_of_item[i] = inner.items == 100 ? parallel_worker() : -1;
    }
}

// So that scratch memory picked by the worker is nobody else's in the inner loop too.
static void test_a_loop_in_a_loop_keeps_the_worker(void** state) {
    (void)state;
    for (int threads = 1; threads <= 4; ++threads) {
        treacle_context_def def = treacle_context_def_default();
        def.threads = threads;
        static nest n;
        assert_int_equal(treacle_context_create(&def, &n.ctx), TREACLE_OK);
        parallel_for(n.ctx, ITEMS, 16, loop_inside, &n);
        for (int i = 0; i < ITEMS; ++i) {
            assert_in_range(n.worker_of_item[i], 0, threads - 1);
        }
        treacle_context_destroy(n.ctx);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_item_is_visited_once),
        cmocka_unit_test(test_a_loop_in_a_loop_keeps_the_worker),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
