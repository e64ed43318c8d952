// What the tests of the grid share: contexts, domains, and an allocator that fails on demand.
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/context.h"
#include "grid/domain.h"
#include "grid/tile_map.h"

// Lets `left` allocations through and fails all later ones; negative: never fails.
typedef struct failing_alloc {
    int left;
} failing_alloc;

static inline void* failing_alloc_take(size_t bytes, size_t alignment, void* user) {
    failing_alloc* self = user;
    if (self->left == 0) {
        return NULL;
    }
    self->left -= self->left > 0;
    return aligned_alloc(alignment, bytes);
}

static inline void failing_alloc_give(void* block, size_t bytes, void* user) {
    (void)bytes;
    (void)user;
    free(block);
}

static inline void log_nothing(treacle_log_level level, const char* text, void* user) {
    (void)level;
    (void)text;
    (void)user;
}

static inline treacle_context* context_with(int threads, failing_alloc* alloc) {
    treacle_context_def def = treacle_context_def_default();
    def.threads = threads;
    def.log = log_nothing;
    if (alloc != NULL) {
        def.alloc = failing_alloc_take;
        def.free = failing_alloc_give;
        def.alloc_user = alloc;
    }
    treacle_context* ctx = NULL;
    assert_int_equal(treacle_context_create(&def, &ctx), TREACLE_OK);
    return ctx;
}

// A domain of x * y * z cells of width 1 with the same side all round.
static inline grid_domain domain_with(treacle_context* ctx, int x, int y, int z,
                                      treacle_side side) {
    treacle_domain_def def = {.size = {x, y, z}, .cell = 1.0};
    for (int a = 0; a < AXES; ++a) {
        def.sides[a][0] = def.sides[a][1] = side;
    }
    grid_domain domain;
    assert_int_equal(grid_domain_init(ctx, &def, &domain), TREACLE_OK);
    return domain;
}

// Runs `build` with an allocator that fails at the first, second, ... call until it gets through:
// each failure must be ERR_MEMORY and leave nothing behind.
typedef treacle_status fallible_fcn(treacle_context* ctx, void* user);
static inline void assert_survives_failures(fallible_fcn* build, void* user) {
    failing_alloc alloc = {-1};
    treacle_context* ctx = context_with(2, &alloc);
    size_t before = treacle_context_memory(ctx);
    treacle_status status = TREACLE_ERR_MEMORY;
    for (int n = 0; status != TREACLE_OK; ++n) {
        assert_true(n < 1000);
        alloc.left = n;
        status = build(ctx, user);
        alloc.left = -1;
        assert_true(status == TREACLE_OK || status == TREACLE_ERR_MEMORY);
        assert_int_equal(treacle_context_memory(ctx), before);
    }
    treacle_context_destroy(ctx);
}
