// What most unit tests need: cmocka with the headers it wants first, a context, closeness.
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>

#include "treacle/base.h"

/// Whether the thread sanitizer watches: what runs on one thread, or again with other instructions,
/// is left to the other builds.
#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if __has_feature(thread_sanitizer) || defined(__SANITIZE_THREAD__)
#define UNIT_WATCHES_THREADS 1
#else
#define UNIT_WATCHES_THREADS 0
#endif

static inline treacle_context* unit_context(int threads) {
    treacle_context_def def = treacle_context_def_default();
    def.threads = threads;
    treacle_context* ctx = NULL;
    assert_int_equal(treacle_context_create(&def, &ctx), TREACLE_OK);
    return ctx;
}

/// Destroys the context; nothing made with it may be left.
static inline void unit_context_end(treacle_context* ctx) {
    assert_int_equal(treacle_context_memory(ctx), 0);
    treacle_context_destroy(ctx);
}

/// Leaves a test that cannot run here; where CI is set in the environment that is a failure. The
/// program ends with unit_exit_code.
static bool unit_has_skipped;
static inline void unit_skip(const char* reason) {
    print_message("skipped: %s\n", reason);
    assert_null(getenv("CI"));
    unit_has_skipped = true;
    skip();
}

/// Of a program that may skip: ctest takes 77 for a skip.
static inline int unit_exit_code(int failed) {
    return failed == 0 && unit_has_skipped ? 77 : failed;
}

/// The text of a file of less than a megabyte; the caller frees it.
static inline char* unit_read_file(const char* path) {
    FILE* file = fopen(path, "rb");
    assert_non_null(file);
    char* text = calloc(1, 1 << 20);
    assert_non_null(text);
    assert_true(fread(text, 1, (1 << 20) - 1, file) > 0);
    fclose(file);
    return text;
}

static inline uint64_t unit_bits(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof(bits));
    return bits;
}

#define assert_close(a, b, tolerance)                                                              \
    do {                                                                                           \
        double close_a_ = (a), close_b_ = (b);                                                     \
        if (!(fabs(close_a_ - close_b_) <= (tolerance))) {                                         \
            print_error("%s = %.17g, but %s = %.17g\n", #a, close_a_, #b, close_b_);               \
        }                                                                                          \
        assert_true(fabs(close_a_ - close_b_) <= (tolerance));                                     \
    } while (0)

/// The context's last error contains the words.
#define assert_error_says(ctx, words)                                                              \
    do {                                                                                           \
        if (strstr(treacle_context_error(ctx), (words)) == NULL) {                                 \
            print_error("\"%s\" is not in: %s\n", (words), treacle_context_error(ctx));            \
        }                                                                                          \
        assert_non_null(strstr(treacle_context_error(ctx), (words)));                              \
    } while (0)
