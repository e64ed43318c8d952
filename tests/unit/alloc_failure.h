// Makes every allocation of a piece of code fail in turn.
//
//     static treacle_status body(treacle_context* ctx, void* data) {
//         shape* s = NULL;
//         TREACLE_TRY(shape_create(ctx, data, &s));   // return what the library returned
//         shape_destroy(s);                           // and leave nothing behind
//         return TREACLE_OK;
//     }
//     ...
//     ALLOC_FAILURE_CHECK(body, &def);
//
// The body runs with the first allocation failing, then the second, and so on until a run gets
// through. Every run but the last must return ERR_MEMORY, and every run must hold no memory at its
// end. Contexts have one thread, so that the count of allocations is the same each time; the thread
// sanitizer, which has nothing to see there, gets only a run without a failure.
#pragma once

#include <stdlib.h>

#include "unit.h"

typedef struct alloc_failure {
    int64_t calls;   // so far
    int64_t fail_at; // 1: the first; 0: none
} alloc_failure;

typedef treacle_status alloc_failure_body(treacle_context* ctx, void* data);

static inline void* alloc_failure_alloc(size_t bytes, size_t alignment, void* user) {
    alloc_failure* failure = user;
    failure->calls += 1;
    return failure->calls == failure->fail_at ? NULL : aligned_alloc(alignment, bytes);
}

static inline void alloc_failure_free(void* block, size_t bytes, void* user) {
    (void)bytes;
    (void)user;
    free(block);
}

static inline void alloc_failure_log(treacle_log_level level, const char* text, void* user) {
    (void)level;
    (void)text;
    (void)user;
}

/// A context whose allocations `failure` counts and fails. NULL if its own allocation fails.
static inline treacle_context* alloc_failure_context(alloc_failure* failure) {
    treacle_context_def def = treacle_context_def_default();
    def.threads = 1;
    def.alloc = alloc_failure_alloc;
    def.free = alloc_failure_free;
    def.alloc_user = failure;
    def.log = alloc_failure_log;
    treacle_context* ctx = NULL;
    return treacle_context_create(&def, &ctx) == TREACLE_OK ? ctx : NULL;
}

/// One run of the body with its n-th allocation failing. True if it got through; anything but
/// success or a clean ERR_MEMORY fails the test.
static inline bool alloc_failure_run(alloc_failure_body* body, void* data, int64_t n) {
    alloc_failure failure = {0};
    treacle_context* ctx = alloc_failure_context(&failure);
    assert_non_null(ctx);
    failure.fail_at = failure.calls + n;
    treacle_status status = body(ctx, data);
    bool was_failed = failure.calls >= failure.fail_at;
    if (status == TREACLE_OK && was_failed) {
        print_message("allocation %d failed and nobody noticed\n", (int)n);
    }
    assert_int_equal(status, was_failed ? TREACLE_ERR_MEMORY : TREACLE_OK);
    assert_int_equal(treacle_context_memory(ctx), 0);
    treacle_context_destroy(ctx);
    return !was_failed;
}

#define ALLOC_FAILURE_CHECK(body, data)                                                            \
    do {                                                                                           \
        int64_t alloc_failure_n = UNIT_WATCHES_THREADS ? INT32_MAX : 1;                            \
        while (!alloc_failure_run((body), (data), alloc_failure_n)) {                              \
            alloc_failure_n += 1;                                                                  \
        }                                                                                          \
    } while (0)
