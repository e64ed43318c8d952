// Elastic liquids through the whole step.
#include "sim_checks.h"

// A ball of gel that spins and falls onto a block of goop which yields, in the plane.
static void fill_goop(sim_scene* scene) {
    sim_scene_fill(scene);
    treacle_domain_def* domain = &scene->def.domain;
    scene->def.flow = TREACLE_FLOW_AUTO;
    scene->def.emitter_count = scene->def.sink_count = 0;
    domain->cell = 1.0 / 32;
    domain->size[2] = 0.0;
    domain->sides[0][0] = domain->sides[0][1] = TREACLE_SIDE_SLIP;
    scene->ball.move[2] = scene->box.move[2] = 0.0;
    for (int m = 0; m < 2; ++m) {
        scene->materials[m] = treacle_material_def_default();
        scene->materials[m].elastic.shear_modulus = m == 0 ? 2000.0 : 500.0;
    }
    scene->materials[1].viscosity = 2.0;
    scene->materials[1].elastic.relaxation_time = 0.05;
    scene->materials[1].elastic.yield_stress = 50.0;
    scene->liquids[1].velocity.value_a[2] = 0.0;
}

static void test_goop_does_not_depend_on_threads(void** state) {
    (void)state;
    sim_scene scene;
    fill_goop(&scene);
    check_threads_and_sets(&scene, 4);
}

static void test_goop_resumes_to_the_same_bits(void** state) {
    (void)state;
    sim_scene scene;
    fill_goop(&scene);
    check_restore(&scene, 4);
}

static void test_goop_survives_any_failing_allocation(void** state) {
    (void)state;
    sim_scene scene;
    fill_goop(&scene);
    scene.def.domain.cell = 1.0 / 16;
    scene.def.liquid_count = 1;
    ALLOC_FAILURE_CHECK(check_create_and_step, &scene);
}

static double mean_strain(treacle_sim* sim) {
    treacle_frame frame;
    assert_int_equal(treacle_sim_view(sim, TREACLE_FRAME_STATE, 1, &frame), TREACLE_OK);
    const treacle_array* strain = treacle_frame_find(&frame, "strain");
    assert_non_null(strain);
    double sum = 0.0;
    for (int64_t i = 0; i < strain->count; ++i) {
        const float* e = (const float*)strain->data + 6 * i;
        double square = 0.0;
        for (int k = 0; k < 3; ++k) {
            square += (double)e[k] * (double)e[k] + 2.0 * (double)e[3 + k] * (double)e[3 + k];
        }
        sum += sqrt(square);
    }
    return sum / (double)strain->count;
}

// A gel with a yield point is loaded, passes it, and is solved more than once.
static void test_yielding_takes_more_than_one_pass(void** state) {
    (void)state;
    sim_scene scene;
    fill_goop(&scene);
    scene.materials[1].elastic.relaxation_time = 1e-3;
    treacle_context* ctx = make_context(2);
    treacle_sim* sim = check_make_sim(ctx, &scene.def);
    int most = 0;
    for (int i = 0; i < 30; ++i) {
        treacle_step_stats stats;
        check_step(ctx, sim, 0.01, &stats);
        most = stats.elastic_passes > most ? stats.elastic_passes : most;
    }
    assert_in_range(most, 2, scene.def.elasticity.passes);
    assert_true(mean_strain(sim) > 1e-3);
    treacle_sim_destroy(sim);
    treacle_context_destroy(ctx);
}

static void test_a_stiff_gel_is_stable_at_long_steps(void** state) {
    (void)state;
    sim_scene scene;
    fill_goop(&scene);
    scene.def.liquid_count = 1;
    scene.def.step.cfl = 2.0;
    scene.materials[0].elastic.shear_modulus =
        2.6e9; // c = 1612 m/s; explicit: more than 1000 times shorter steps
    scene.liquids[0].velocity.value_a[0] = 0.0;
    treacle_context* ctx = make_context(2);
    treacle_sim* sim = check_make_sim(ctx, &scene.def);
    for (int i = 0; i < 30; ++i) {
        treacle_step_stats stats;
        check_step(ctx, sim, 0.01, &stats);
        assert_true(stats.max_speed < 5.0); // it falls 0.45 m at most, and spins
        assert_true(stats.dt > 1000.0 * 0.5 * (1.0 / 32) / sqrt(2.6e9 / 1000.0));
    }
    treacle_sim_destroy(sim);
    treacle_context_destroy(ctx);
}

static void test_steps_are_limited_where_asked(void** state) {
    (void)state;
    for (int i = 0; i < 3; ++i) {
        sim_scene scene;
        fill_goop(&scene);
        scene.def.liquid_count = 1;
        scene.def.elasticity.limits_step = i == 1;
        scene.def.elasticity.is_explicit = i == 2;
        scene.materials[0].elastic.shear_modulus = 1e6; // c = 31.6 m/s, h / c = 0.988 ms
        treacle_context* ctx = make_context(1);
        treacle_sim* sim = check_make_sim(ctx, &scene.def);
        treacle_step_stats stats;
        check_step(ctx, sim, 0.01, &stats);
        double most = (1.0 / 32) / sqrt(1e6 / 1000.0) * (i == 2 ? 0.5 : 1.0);
        assert_true(i == 0 ? stats.dt > 5e-3 : stats.dt <= most && stats.dt > 0.8 * most);
        treacle_sim_destroy(sim);
        treacle_context_destroy(ctx);
    }
}

// Stress acts in the solve for viscosity. Where there is none strain stays what it was, too.
static void test_gel_without_its_solve_is_never_strained(void** state) {
    (void)state;
    sim_scene scene;
    fill_goop(&scene);
    scene.def.flow = TREACLE_FLOW_PRESSURE;
    treacle_context* ctx = make_context(1);
    treacle_sim* sim = check_make_sim(ctx, &scene.def);
    for (int i = 0; i < 10; ++i) {
        treacle_step_stats stats;
        check_step(ctx, sim, 0.01, &stats);
        assert_true(mean_strain(sim) == 0.0);
    }
    treacle_sim_destroy(sim);
    treacle_context_destroy(ctx);
    check_threads_and_sets(&scene, 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_goop_does_not_depend_on_threads),
        cmocka_unit_test(test_goop_resumes_to_the_same_bits),
        cmocka_unit_test(test_goop_survives_any_failing_allocation),
        cmocka_unit_test(test_yielding_takes_more_than_one_pass),
        cmocka_unit_test(test_a_stiff_gel_is_stable_at_long_steps),
        cmocka_unit_test(test_steps_are_limited_where_asked),
        cmocka_unit_test(test_gel_without_its_solve_is_never_strained),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
