// What must hold for every simulation, whatever its scene.
#pragma once

#include "sim_fixture.h"

#include "alloc_failure.h"

enum { CHECK_STEPS_MAX = 64 };

static inline treacle_sim* check_make_sim(treacle_context* ctx, const treacle_sim_def* def) {
    treacle_sim* sim = NULL;
    treacle_status status = treacle_sim_create(ctx, def, &sim);
    if (status != TREACLE_OK) {
        print_message("%s\n", treacle_context_error(ctx));
    }
    assert_int_equal(status, TREACLE_OK);
    return sim;
}

static inline void check_step(treacle_context* ctx, treacle_sim* sim, double dt,
                              treacle_step_stats* stats) {
    treacle_status status = treacle_sim_step(sim, dt, stats);
    if (status != TREACLE_OK) {
        print_message("%s\n", treacle_context_error(ctx));
    }
    assert_int_equal(status, TREACLE_OK);
}

static inline void check_hash_steps(treacle_context* ctx, const sim_scene* scene, int steps,
                                    uint64_t* hash) {
    treacle_sim* sim = check_make_sim(ctx, &scene->def);
    hash[0] = treacle_sim_hash(sim);
    for (int i = 1; i <= steps; ++i) {
        treacle_step_stats stats;
        check_step(ctx, sim, 0.01, &stats);
        hash[i] = treacle_sim_hash(sim);
    }
    treacle_sim_destroy(sim);
}

/// The state after each of the steps is the same on 1 to 4 threads and on every instruction set.
/// The last of `others` have one thread: nothing for the thread sanitizer.
static inline void check_threads_and_sets(const sim_scene* scene, int steps) {
    uint64_t reference[CHECK_STEPS_MAX + 1], hash[CHECK_STEPS_MAX + 1];
    treacle_context* ctx = make_context_on(1, TREACLE_ISA_SSE2);
    check_hash_steps(ctx, scene, steps, reference);
    treacle_context_destroy(ctx);
    const struct {
        int threads;
        treacle_isa isa;
    } others[] = {{2, TREACLE_ISA_SSE2},
                  {3, TREACLE_ISA_AVX2},
                  {4, TREACLE_ISA_AVX512},
                  {1, TREACLE_ISA_AVX2},
                  {1, TREACLE_ISA_AVX512}};
    for (size_t i = 0; i < (UNIT_WATCHES_THREADS ? 3 : sizeof(others) / sizeof(others[0])); ++i) {
        ctx = make_context_on(others[i].threads, others[i].isa);
        if (ctx == NULL) {
            print_message("no such instruction set here: %d\n", (int)others[i].isa);
            continue;
        }
        check_hash_steps(ctx, scene, steps, hash);
        assert_memory_equal(hash, reference, (size_t)(steps + 1) * sizeof(hash[0]));
        treacle_context_destroy(ctx);
    }
    assert_true(reference[0] != reference[steps]);
}

/// Saving and restoring at every step changes nothing.
static inline void check_restore(const sim_scene* scene, int steps) {
    treacle_context* ctx = make_context(2);
    treacle_sim* sims[2] = {check_make_sim(ctx, &scene->def), check_make_sim(ctx, &scene->def)};
    treacle_sim* straight = check_make_sim(ctx, &scene->def);
    treacle_step_stats stats;
    for (int i = 0; i < steps; ++i) {
        treacle_sim *from = sims[i % 2], *to = sims[(i + 1) % 2];
        treacle_frame frame;
        assert_int_equal(treacle_sim_view(from, TREACLE_FRAME_STATE, i, &frame), TREACLE_OK);
        assert_int_equal(treacle_sim_restore(to, &frame), TREACLE_OK);
        check_step(ctx, to, 0.01, &stats);
        check_step(ctx, straight, 0.01, &stats);
        assert_true(treacle_sim_hash(to) == treacle_sim_hash(straight));
    }
    treacle_sim_destroy(sims[0]);
    treacle_sim_destroy(sims[1]);
    treacle_sim_destroy(straight);
    treacle_context_destroy(ctx);
}

static inline treacle_status check_create_and_step(treacle_context* ctx, void* data) {
    const sim_scene* scene = data;
    treacle_sim* sim = NULL;
    TREACLE_TRY(treacle_sim_create(ctx, &scene->def, &sim));
    treacle_status status = TREACLE_OK;
    for (int i = 0; status == TREACLE_OK && i < 2; ++i) {
        uint64_t before = treacle_sim_hash(sim);
        treacle_step_stats stats;
        status = treacle_sim_step(sim, 0.01, &stats);
        assert_true((treacle_sim_hash(sim) == before) == (status != TREACLE_OK));
    }
    treacle_sim_destroy(sim);
    return status;
}
