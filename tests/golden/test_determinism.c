// The state after n steps is bit for bit the same for every number of threads, every instruction
// set, and after a save and restore between any of them.
#include <stdlib.h>

#include "golden/golden_scenes.h"
#include "unit/sim_fixture.h"

enum { STEPS = 60, THREADS_MAX = 4, SETS = 3 };

static const treacle_isa sets[SETS] = {TREACLE_ISA_SSE2, TREACLE_ISA_AVX2, TREACLE_ISA_AVX512};

static treacle_sim* make_sim(treacle_context* ctx, int which) {
    sim_scene scene;
    golden_scene_fill(which, &scene);
    treacle_sim* sim = NULL;
    treacle_status status = treacle_sim_create(ctx, &scene.def, &sim);
    if (status != TREACLE_OK) {
        print_message("scene %d: %s\n", which, treacle_context_error(ctx));
    }
    assert_int_equal(status, TREACLE_OK);
    return sim;
}

typedef struct trace {
    uint64_t hash[STEPS + 1];
    double volume[STEPS], energy[STEPS], speed[STEPS];
} trace;

static void run(treacle_context* ctx, int which, trace* out) {
    memset(out, 0, sizeof(*out));
    treacle_sim* sim = make_sim(ctx, which);
    out->hash[0] = treacle_sim_hash(sim);
    for (int i = 0; i < STEPS; ++i) {
        treacle_step_stats stats;
        assert_int_equal(treacle_sim_step(sim, 0.01, &stats), TREACLE_OK);
        out->hash[i + 1] = treacle_sim_hash(sim);
        out->volume[i] = stats.volume;
        out->energy[i] = stats.kinetic_energy;
        out->speed[i] = stats.max_speed;
    }
    treacle_sim_destroy(sim);
}

static void test_threads_and_instruction_sets_do_not_show(void** state) {
    (void)state;
    static trace reference, other;
    for (int which = 0; which < GOLDEN_SCENES; ++which) {
        treacle_context* ctx = make_context_on(1, TREACLE_ISA_SSE2);
        run(ctx, which, &reference);
        treacle_context_destroy(ctx);
        assert_true(reference.hash[0] != reference.hash[STEPS]);
        for (int threads = 1; threads <= THREADS_MAX; ++threads) {
            for (int s = 0; s < SETS; ++s) {
                // Every pair once in the first scene; later ones skip most.
                if (which > 0 && threads % SETS != s) {
                    continue;
                }
                ctx = make_context_on(threads, sets[s]);
                if (ctx == NULL) {
                    print_message("this machine lacks instruction set %d\n", (int)sets[s]);
                    continue;
                }
                run(ctx, which, &other);
                assert_memory_equal(&other, &reference, sizeof(other));
                treacle_context_destroy(ctx);
            }
        }
    }
}

// A loop that claims to look at its own tile alone finds no neighbours then: see grid/tile_loop.h.
static void test_loops_read_no_further_than_they_say(void** state) {
    (void)state;
    static trace reference, other;
    for (int which = 0; which < GOLDEN_SCENES; ++which) {
        treacle_context* ctx = make_context(1);
        run(ctx, which, &reference);
        treacle_context_destroy(ctx);
        setenv("TREACLE_POISON", "1", 1);
        ctx = make_context(2);
        unsetenv("TREACLE_POISON");
        run(ctx, which, &other);
        treacle_context_destroy(ctx);
        assert_memory_equal(&other, &reference, sizeof(other));
    }
}

// Hands the state on from one way of running to another before each step.
static void test_states_can_move_between_threads_and_instruction_sets(void** state) {
    (void)state;
    static trace reference;
    treacle_context* ctx[THREADS_MAX];
    for (int i = 0; i < THREADS_MAX; ++i) {
        ctx[i] = make_context_on(i + 1, sets[i % SETS]);
        ctx[i] = ctx[i] == NULL ? make_context(i + 1) : ctx[i];
    }
    for (int which = 0; which < GOLDEN_SCENES; ++which) {
        run(ctx[1], which, &reference);
        treacle_sim* sim[THREADS_MAX];
        for (int i = 0; i < THREADS_MAX; ++i) {
            sim[i] = make_sim(ctx[i], which);
        }
        for (int i = 0; i < STEPS; ++i) {
            treacle_sim *from = sim[i % THREADS_MAX], *to = sim[(i + 1) % THREADS_MAX];
            treacle_frame frame;
            treacle_step_stats stats;
            assert_int_equal(treacle_sim_view(from, TREACLE_FRAME_STATE, 1, &frame), TREACLE_OK);
            assert_int_equal(treacle_sim_restore(to, &frame), TREACLE_OK);
            assert_true(treacle_sim_hash(to) == reference.hash[i]);
            assert_int_equal(treacle_sim_step(to, 0.01, &stats), TREACLE_OK);
            assert_true(treacle_sim_hash(to) == reference.hash[i + 1]);
        }
        for (int i = 0; i < THREADS_MAX; ++i) {
            treacle_sim_destroy(sim[i]);
        }
    }
    for (int i = 0; i < THREADS_MAX; ++i) {
        treacle_context_destroy(ctx[i]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads_and_instruction_sets_do_not_show),
        cmocka_unit_test(test_loops_read_no_further_than_they_say),
        cmocka_unit_test(test_states_can_move_between_threads_and_instruction_sets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
