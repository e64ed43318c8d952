// Facts about the heap of steps.
#include "unit.h"

#include <stdlib.h>

#include "base/alloc.h"

typedef struct counted {
    int64_t requests, blocks; // so far, and now
    size_t bytes;             // now
    bool is_empty;            // nothing is left
} counted;

static void* count_alloc(size_t bytes, size_t alignment, void* user) {
    counted* c = user;
    c->requests += 1;
    if (c->is_empty) {
        return NULL;
    }
    c->blocks += 1;
    c->bytes += bytes;
    return aligned_alloc(alignment, bytes);
}

static void count_free(void* block, size_t bytes, void* user) {
    counted* c = user;
    c->blocks -= 1;
    c->bytes -= bytes;
    free(block);
}

static heap_source source_of(counted* c) {
    return (heap_source){count_alloc, count_free, c};
}

static uint32_t random_next(uint32_t* state) {
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

// Bytes of blocks, many small and few large.
static size_t random_size(uint32_t* state) {
    return 1 + random_next(state) % (1u << (1 + random_next(state) % 18));
}

enum { PLACES = 300, MOVES = 20000 };

static void test_blocks_neither_overlap_nor_get_lost(void** state) {
    (void)state;
    counted c = {0};
    heap_source source = source_of(&c);
    step_heap* heap = calloc(1, sizeof(*heap));
    static unsigned char* block[PLACES];
    static size_t size[PLACES];
    uint32_t seed = 1;
    for (int move = 0; move < MOVES; ++move) {
        int i = (int)(random_next(&seed) % PLACES);
        for (size_t k = 0; block[i] != NULL && k < size[i]; k += 1 + size[i] / 50) {
            assert_int_equal(block[i][k], i % 251);
        }
        if (block[i] != NULL) {
            assert_true(step_heap_give(heap, block[i]));
            block[i] = NULL;
        } else {
            size[i] = random_size(&seed);
            block[i] = step_heap_take(heap, &source, size[i]);
            assert_non_null(block[i]);
            assert_int_equal((uintptr_t)block[i] % TREACLE_ALIGNMENT, 0);
            memset(block[i], i % 251, size[i]);
        }
        if (move % 100 == 0) {
            step_heap_end_step(heap, &source);
        }
    }
    for (int i = 0; i < PLACES; ++i) {
        assert_true(block[i] == NULL || step_heap_give(heap, block[i]));
    }
    assert_int_equal(heap->held, c.bytes);
    step_heap_trim(heap, &source);
    assert_int_equal(c.blocks, 0); // all that was cut is one again
    assert_int_equal(heap->held, 0);
    free(heap);
}

static void test_every_size_is_found_in_the_chunk_that_is_made_for_it(void** state) {
    (void)state;
    counted c = {0};
    heap_source source = source_of(&c);
    step_heap* heap = calloc(1, sizeof(*heap));
    for (size_t bytes = 1; bytes < 20000000; bytes += 1 + bytes / 97) {
        int64_t before = c.requests;
        void* block = step_heap_take(heap, &source, bytes);
        assert_non_null(block);
        assert_true(c.requests <= before + 1);
        assert_true(step_heap_give(heap, block));
        step_heap_trim(heap, &source);
    }
    free(heap);
}

static void test_the_same_again_takes_nothing_from_the_source(void** state) {
    (void)state;
    counted c = {0};
    heap_source source = source_of(&c);
    step_heap* heap = calloc(1, sizeof(*heap));
    int64_t after_first = 0;
    for (int step = 0; step < 10; ++step) {
        void* block[60];
        for (int stage = 0; stage < 3; ++stage) { // of other sizes each
            for (int i = 0; i < 60; ++i) {
                block[i] = step_heap_take(heap, &source, (size_t)(1000 + 7777 * stage + 321 * i));
                assert_non_null(block[i]);
            }
            for (int i = 0; i < 60; ++i) {
                assert_true(step_heap_give(heap, block[i]));
            }
        }
        step_heap_end_step(heap, &source);
        after_first = step == 0 ? c.requests : after_first;
    }
    assert_int_equal(c.requests, after_first);
    for (int step = 0; step < STEP_HEAP_STEPS + 1; ++step) {
        step_heap_end_step(heap, &source); // nobody asks any more
    }
    assert_int_equal(c.blocks, 0);
    free(heap);
}

static void test_where_the_source_is_empty_there_is_no_block(void** state) {
    (void)state;
    counted c = {.is_empty = true};
    heap_source source = source_of(&c);
    step_heap* heap = calloc(1, sizeof(*heap));
    assert_null(step_heap_take(heap, &source, 100));
    assert_null(step_heap_take(heap, &source, SIZE_MAX / 2));
    c.is_empty = false;
    void* block = step_heap_take(heap, &source, 100);
    assert_non_null(block);
    assert_false(step_heap_give(heap, &c)); // not its own
    assert_true(step_heap_give(heap, block));
    step_heap_trim(heap, &source);
    free(heap);
}

static void test_blocks_may_outlive_their_step(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    alloc_begin_step(ctx);
    char* kept = alloc_bytes(ctx, 100000);
    void* dropped = alloc_bytes(ctx, 5000);
    assert_non_null(kept);
    memset(kept, 7, 100000);
    alloc_free(ctx, dropped, 5000);
    alloc_end_step(ctx);
    assert_int_equal(treacle_context_memory(ctx), (100000 + 63) / 64 * 64);
    alloc_trim(ctx);
    assert_int_equal(kept[99999], 7);
    alloc_free(ctx, kept, 100000);
    alloc_trim(ctx);
    assert_int_equal(ctx->heap.held, 0);
    unit_context_end(ctx);
}

static void test_an_allocator_of_ones_own_gets_every_request(void** state) {
    (void)state;
    counted c = {0};
    treacle_context_def def = treacle_context_def_default();
    treacle_context* ctx = NULL;
    def.threads = 1;
    def.alloc = count_alloc;
    def.free = count_free;
    def.alloc_user = &c;
    assert_int_equal(treacle_context_create(&def, &ctx), TREACLE_OK);
    int64_t before = c.requests;
    alloc_begin_step(ctx);
    for (int i = 0; i < 3; ++i) {
        alloc_free(ctx, alloc_bytes(ctx, 5000), 5000);
    }
    alloc_end_step(ctx);
    assert_int_equal(c.requests - before, 3);
    unit_context_end(ctx);
    assert_int_equal(c.blocks, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks_neither_overlap_nor_get_lost),
        cmocka_unit_test(test_every_size_is_found_in_the_chunk_that_is_made_for_it),
        cmocka_unit_test(test_the_same_again_takes_nothing_from_the_source),
        cmocka_unit_test(test_where_the_source_is_empty_there_is_no_block),
        cmocka_unit_test(test_blocks_may_outlive_their_step),
        cmocka_unit_test(test_an_allocator_of_ones_own_gets_every_request),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
