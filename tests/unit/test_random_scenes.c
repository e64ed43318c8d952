// The first steps of random scenes over all features (validate/random_scene.h). What comes out of
// them is asked by `validate random-scenes`; here they are for the sanitizers: each is refused by
// the checks, runs, or says that it diverged. TREACLE_RANDOM_SCENES=200 takes more of them.
#include "unit.h"

#include <stdlib.h>

#include "treacle/scene.h"
#include "treacle/sim.h"
#include "validate/random_scene.h"

enum { SCENES = 40, STEPS = 3 };

static void be_silent(treacle_log_level level, const char* said, void* user) {
    (void)level;
    (void)said;
    (void)user;
}

static treacle_status run(treacle_context* ctx, const treacle_sim_def* def, double until) {
    treacle_sim* sim = NULL;
    treacle_status status = treacle_sim_create(ctx, def, &sim);
    for (int i = 0; i < STEPS && status == TREACLE_OK && treacle_sim_time(sim) < until; ++i) {
        treacle_step_stats stats;
        status = treacle_sim_step(sim, until - treacle_sim_time(sim), &stats);
    }
    treacle_sim_destroy(sim);
    return status;
}

static void test_random_scenes_run_or_say_what_is_wrong(void** state) {
    (void)state;
    const char* asked = getenv("TREACLE_RANDOM_SCENES");
    int count = asked != NULL ? atoi(asked) : SCENES, ran = 0;
    treacle_context_def def = treacle_context_def_default();
    treacle_context* ctx = NULL;
    def.threads = 2;
    def.log = be_silent;
    assert_int_equal(treacle_context_create(&def, &ctx), TREACLE_OK);
    for (int n = 0; n < count; ++n) {
        random_scene drawn;
        treacle_scene* scene = NULL;
        assert_true(random_scene_draw((uint64_t)n, &drawn));
        treacle_status status =
            treacle_scene_parse(ctx, "random", drawn.text, drawn.length, 0, NULL, &scene);
        assert_true(status == TREACLE_OK || status == TREACLE_ERR_SCENE);
        if (status == TREACLE_OK) {
            status = run(ctx, treacle_scene_sim(scene), drawn.until);
            assert_true(status == TREACLE_OK || status == TREACLE_ERR_DIVERGED);
            ran += status == TREACLE_OK ? 1 : 0;
        }
        treacle_scene_destroy(scene);
        random_scene_free(&drawn);
    }
    assert_true(ran >= count * 9 / 10);
    treacle_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_scenes_run_or_say_what_is_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
