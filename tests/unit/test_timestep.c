// How long steps are.
#include "sim_checks.h"

// A pool of thick liquid on a floor.
typedef struct pool_scene {
    treacle_sim_def def;
    treacle_material_def syrup;
    treacle_shape box;
    treacle_liquid_def liquid;
    treacle_key gravity[2];
} pool_scene;

static void pool_fill(pool_scene* s, double viscosity) {
    memset(s, 0, sizeof(*s));
    s->def = treacle_sim_def_default();
    s->def.domain.cell = 1e-3;
    s->def.domain.size[0] = 0.016;
    s->def.domain.size[1] = 0.032;
    s->def.domain.size[2] = 0.0;
    s->def.step.max_dt = 0.02;
    s->syrup = treacle_material_def_default();
    s->syrup.viscosity = viscosity;
    s->box = treacle_shape_default(TREACLE_SHAPE_BOX);
    s->box.size[0] = s->box.size[2] = 1.0;
    s->box.size[1] = 0.032;
    s->liquid = treacle_liquid_def_default();
    s->liquid.shape = &s->box;
    s->def.material_count = s->def.liquid_count = 1;
    s->def.materials = &s->syrup;
    s->def.liquids = &s->liquid;
}

static double longest_of(treacle_sim* sim, int steps) {
    double longest = 0.0;
    for (int i = 0; i < steps; ++i) {
        treacle_step_stats stats;
        assert_int_equal(treacle_sim_step(sim, 1.0, &stats), TREACLE_OK);
        assert_int_equal(stats.retries, 0);
        longest = fmax(longest, stats.dt);
    }
    return longest;
}

static void test_calm_honey_takes_longer_steps_than_gravity_allows(void** state) {
    (void)state;
    treacle_context* ctx = make_context(1);
    pool_scene scene;
    pool_fill(&scene, 10.0);
    treacle_sim* sim = check_make_sim(ctx, &scene.def);
    assert_close(longest_of(sim, 12), 0.02, 1e-12);
    treacle_sim_destroy(sim);
    treacle_context_destroy(ctx);
}

// In 50 ms what falls crosses 12 cells, more than a step may.
static void test_held_liquid_takes_steps_in_which_it_would_fall_far(void** state) {
    (void)state;
    treacle_context* ctx = make_context(1);
    pool_scene scene;
    pool_fill(&scene, 10.0);
    scene.def.step.max_dt = 0.05;
    treacle_sim* sim = check_make_sim(ctx, &scene.def);
    assert_close(longest_of(sim, 12), 0.05, 1e-12);
    treacle_sim_destroy(sim);
    treacle_context_destroy(ctx);
}

// (8 nu/g^2)^(1/3) is 9.4 ms, below sqrt(cfl h/g) = 14.3 ms.
static void test_waves_keep_the_steps_of_thin_liquid_short(void** state) {
    (void)state;
    treacle_context* ctx = make_context(1);
    pool_scene scene;
    pool_fill(&scene, 0.01);
    treacle_sim* sim = check_make_sim(ctx, &scene.def);
    assert_true(longest_of(sim, 12) <= sqrt(2.0 * 1e-3 / 9.81));
    treacle_sim_destroy(sim);
    treacle_context_destroy(ctx);
}

// A blob floats until there is gravity; the step in which it comes is too long, and so would those
// be that trust in the calm before.
static void test_a_step_in_which_liquid_begins_to_fall_is_begun_again(void** state) {
    (void)state;
    treacle_context* ctx = make_context(1);
    pool_scene scene;
    pool_fill(&scene, 10.0);
    scene.box.size[0] = scene.box.size[1] = 0.008;
    scene.box.move[0] = 0.008;
    scene.box.move[1] = 0.024;
    scene.gravity[0] = (treacle_key){.time = 0.1, .value = {0.0, 0.0, 0.0}};
    scene.gravity[1] = (treacle_key){.time = 0.1001, .value = {0.0, -9.81, 0.0}};
    scene.def.gravity = (treacle_curve){2, scene.gravity};
    scene.def.step.cfl = 0.5;
    treacle_sim* sim = check_make_sim(ctx, &scene.def);
    int retries = 0;
    while (treacle_sim_time(sim) < 0.12) {
        treacle_step_stats stats;
        assert_int_equal(treacle_sim_step(sim, 1.0, &stats), TREACLE_OK);
        assert_true(stats.max_speed * stats.dt <= 1.5 * 0.5 * 1e-3);
        assert_true(treacle_sim_time(sim) < 0.1 || stats.retries == 0 || retries == 0);
        retries += stats.retries;
    }
    assert_true(retries > 0);
    treacle_sim_destroy(sim);
    treacle_context_destroy(ctx);
}

static void test_a_restored_run_takes_the_same_steps(void** state) {
    (void)state;
    treacle_context* ctx = make_context(1);
    pool_scene scene;
    pool_fill(&scene, 10.0);
    treacle_sim *sim = check_make_sim(ctx, &scene.def), *other = check_make_sim(ctx, &scene.def);
    (void)longest_of(sim, 3);
    treacle_frame frame;
    assert_int_equal(treacle_sim_view(sim, TREACLE_FRAME_STATE, 1, &frame), TREACLE_OK);
    assert_int_equal(treacle_sim_restore(other, &frame), TREACLE_OK);
    for (int i = 0; i < 4; ++i) {
        assert_true(longest_of(sim, 1) == longest_of(other, 1));
    }
    assert_true(treacle_sim_hash(sim) == treacle_sim_hash(other));
    treacle_sim_destroy(other);
    treacle_sim_destroy(sim);
    treacle_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_calm_honey_takes_longer_steps_than_gravity_allows),
        cmocka_unit_test(test_held_liquid_takes_steps_in_which_it_would_fall_far),
        cmocka_unit_test(test_waves_keep_the_steps_of_thin_liquid_short),
        cmocka_unit_test(test_a_step_in_which_liquid_begins_to_fall_is_begun_again),
        cmocka_unit_test(test_a_restored_run_takes_the_same_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
