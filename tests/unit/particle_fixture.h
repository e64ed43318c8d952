// What the tests of particles share: contexts, domains, stores with a sort, small scenes.
#pragma once

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "math/hash_random.h"
#include "particles/particle_sort.h"
#include "particles/particles.h"
#include "treacle/sim.h"

static inline treacle_context* make_context_on(int threads, treacle_isa isa) {
    treacle_context_def def = treacle_context_def_default();
    def.threads = threads;
    def.isa = isa;
    treacle_context* ctx = NULL;
    treacle_status status = treacle_context_create(&def, &ctx);
    assert_true(status == TREACLE_OK || status == TREACLE_ERR_UNSUPPORTED);
    return ctx;
}

static inline treacle_context* make_context(int threads) {
    return make_context_on(threads, TREACLE_ISA_AUTO);
}

// x * y * z cells of width h, the same side all round.
static inline grid_domain make_domain(treacle_context* ctx, int x, int y, int z, double h,
                                      treacle_side side) {
    treacle_domain_def def = {.size = {x > 1 ? x * h : 0, y > 1 ? y * h : 0, z > 1 ? z * h : 0},
                              .cell = h};
    for (int a = 0; a < AXES; ++a) {
        def.sides[a][0] = def.sides[a][1] = side;
    }
    grid_domain domain;
    assert_int_equal(grid_domain_init(ctx, &def, &domain), TREACLE_OK);
    return domain;
}

static inline treacle_status sort_store(particles* p, const grid_domain* domain,
                                        particle_sort_stats* stats) {
    arena scratch;
    arena_init(&scratch, p->ctx);
    particle_sorter sorter = {domain, &scratch};
    treacle_status status = particle_sort(p, &sorter, stats);
    arena_finish(&scratch);
    return status;
}
