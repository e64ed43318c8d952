// What fuzz targets share: a context that says nothing, demands, and numbers drawn from an input.
#pragma once

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "treacle/base.h"

static inline void fuzz_check(bool holds) {
    if (!holds) {
        abort();
    }
}

static inline void fuzz_drop_message(treacle_log_level level, const char* text, void* user) {
    (void)level;
    (void)text;
    (void)user;
}

static inline treacle_context* fuzz_context(void) {
    treacle_context_def def = treacle_context_def_default();
    def.threads = 1;
    def.log = fuzz_drop_message;
    treacle_context* ctx = NULL;
    fuzz_check(treacle_context_create(&def, &ctx) == TREACLE_OK);
    return ctx;
}

static inline void fuzz_context_end(treacle_context* ctx) {
    fuzz_check(treacle_context_memory(ctx) == 0);
    treacle_context_destroy(ctx);
}

/// An input as a row of choices; zeros follow its end.
typedef struct fuzz_choices {
    const uint8_t* at;
    size_t left;
} fuzz_choices;

static inline uint8_t fuzz_byte(fuzz_choices* c) {
    if (c->left == 0) {
        return 0;
    }
    c->left -= 1;
    return *c->at++;
}

static inline uint64_t fuzz_bits(fuzz_choices* c, int bytes) {
    uint64_t bits = 0;
    for (int i = 0; i < bytes; ++i) {
        bits |= (uint64_t)fuzz_byte(c) << 8 * i;
    }
    return bits;
}

/// One of `count`, which is at most 256.
static inline int fuzz_pick(fuzz_choices* c, int count) {
    return fuzz_byte(c) % count;
}

static inline double fuzz_double(fuzz_choices* c) {
    uint64_t bits = fuzz_bits(c, 8);
    double value = 0.0;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
