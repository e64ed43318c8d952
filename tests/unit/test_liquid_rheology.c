// What holds for liquids whose viscosity differs from place to place and with shear, and for the
// comparators.
#include "sim_checks.h"

#include <math.h>

// Two materials in a plane: one that yields, whose viscosity varies from left to right, and a thin
// one.
static void fill_flat(sim_scene* scene) {
    sim_scene_fill(scene);
    scene->def.flow = TREACLE_FLOW_AUTO;
    scene->def.domain.cell = 1.0 / 16;
    scene->def.domain.size[2] = 0.0;
    scene->def.domain.origin[2] = 0.5 - 0.5 / 16;
    scene->def.particles.per_cell = 4;
    scene->def.emitter_count = 0;
    scene->materials[0].viscosity = 10.0;
    scene->materials[0].rheology.law = TREACLE_RHEOLOGY_BINGHAM;
    scene->materials[0].rheology.yield_stress = 50.0;
    scene->materials[1].viscosity = 0.1;
    scene->liquids[0].viscosity_factor = (treacle_field){
        .kind = TREACLE_FIELD_RAMP, .value_a = {0.1}, .value_b = {10.0}, .to = {1.0, 0.0, 0.0}};
}

static void test_sauce_is_the_same_on_all_threads_and_instruction_sets(void** state) {
    (void)state;
    sim_scene scene;
    fill_flat(&scene);
    check_threads_and_sets(&scene, 4);
}

static void test_restoring_sauce_equals_an_uninterrupted_run(void** state) {
    (void)state;
    sim_scene scene;
    fill_flat(&scene);
    check_restore(&scene, 4);
}

static void make_small(sim_scene* scene) {
    scene->def.particles.per_cell = 1;
    scene->def.domain.size[1] = 0.5;
    scene->def.domain.origin[1] = 0.5;
}

static void test_failing_memory_leaves_sauce_as_it_was(void** state) {
    (void)state;
    sim_scene scene;
    fill_flat(&scene);
    make_small(&scene);
    scene.def.viscosity_solve.max_iterations = 2;
    ALLOC_FAILURE_CHECK(check_create_and_step, &scene);
}

static void test_comparators_are_the_same_on_all_threads_and_instruction_sets(void** state) {
    (void)state;
    static const treacle_viscosity_method methods[] = {
        TREACLE_VISCOSITY_EXPLICIT, TREACLE_VISCOSITY_IMEX, TREACLE_VISCOSITY_DECOUPLED,
        TREACLE_VISCOSITY_IMPLICIT};
    static const treacle_viscosity_surface surfaces[] = {
        TREACLE_VISCOSITY_NICHOLS_HIRT, TREACLE_VISCOSITY_NATURAL, TREACLE_VISCOSITY_NEUMANN,
        TREACLE_VISCOSITY_DIRICHLET};
    for (int k = 0; k < 4; ++k) {
        sim_scene scene;
        fill_flat(&scene);
        scene.materials[0].rheology.law = TREACLE_RHEOLOGY_NEWTONIAN;
        scene.def.viscosity_solve.method = methods[k];
        scene.def.viscosity_solve.surface = surfaces[k];
        check_threads_and_sets(&scene, 2);
    }
}

static void test_failing_memory_leaves_comparators_as_they_were(void** state) {
    (void)state;
    for (int k = 0; k < 2; ++k) {
        sim_scene scene;
        fill_flat(&scene);
        scene.materials[0].rheology.law = TREACLE_RHEOLOGY_NEWTONIAN;
        make_small(&scene);
        scene.def.viscosity_solve.method =
            k == 0 ? TREACLE_VISCOSITY_IMEX : TREACLE_VISCOSITY_IMPLICIT;
        scene.def.viscosity_solve.surface =
            k == 0 ? TREACLE_VISCOSITY_NATURAL : TREACLE_VISCOSITY_DIRICHLET;
        ALLOC_FAILURE_CHECK(check_create_and_step, &scene);
    }
}

// Two boxes side by side on the floor of a plane, 32 cells wide.
static void fill_boxes(sim_scene* scene, double left, double right) {
    sim_scene_fill(scene);
    scene->def.domain = treacle_sim_def_default().domain;
    scene->def.domain.cell = 1.0 / 32;
    scene->def.domain.size[2] = 0.0;
    scene->def.domain.sides[1][0] = TREACLE_SIDE_NO_SLIP;
    scene->def.flow = TREACLE_FLOW_AUTO;
    scene->def.particles.per_cell = 4;
    scene->def.emitter_count = scene->def.sink_count = 0;
    scene->ball = shape_at(TREACLE_SHAPE_BOX, 0.25, 0.25, 0.0);
    scene->box = shape_at(TREACLE_SHAPE_BOX, 0.75, 0.25, 0.0);
    scene->ball.size[0] = scene->ball.size[1] = scene->ball.size[2] = 0.5;
    for (int i = 0; i < 2; ++i) {
        scene->liquids[i] = treacle_liquid_def_default();
        scene->liquids[i].shape = i == 0 ? &scene->ball : &scene->box;
        scene->liquids[i].material = i;
        scene->materials[i].density = 1000.0;
        scene->materials[i].viscosity = i == 0 ? left : right;
    }
}

static void test_water_and_rock_need_no_substeps(void** state) {
    (void)state;
    for (int flow = 0; flow < 2; ++flow) {
        sim_scene scene;
        fill_boxes(&scene, 1e-3, 1e7);
        scene.def.flow = flow == 0 ? TREACLE_FLOW_UNIFIED : TREACLE_FLOW_SPLIT;
        scene.def.step.max_dt = 0.01;
        scene.def.step.cfl = 5.0;
        treacle_context* ctx = make_context(2);
        treacle_sim* sim = check_make_sim(ctx, &scene.def);
        for (int i = 0; i < 10; ++i) {
            treacle_step_stats stats;
            check_step(ctx, sim, 0.01, &stats);
            assert_int_equal(stats.retries, 0);
            assert_int_equal(stats.viscosity_substeps, 0);
            assert_close(stats.dt, 0.01, 1e-12);
            assert_true(stats.max_speed < 5.0);
        }
        treacle_sim_destroy(sim);
        treacle_context_destroy(ctx);
    }
}

static void test_the_mean_between_viscosities_shows(void** state) {
    (void)state;
    uint64_t hash[3];
    for (int mean = 0; mean < 3; ++mean) {
        sim_scene scene;
        fill_boxes(&scene, 0.1, 1e4);
        scene.def.viscosity_solve.mean = (treacle_viscosity_mean)mean;
        treacle_context* ctx = make_context(2);
        treacle_sim* sim = check_make_sim(ctx, &scene.def);
        treacle_step_stats stats;
        check_step(ctx, sim, 0.01, &stats);
        hash[mean] = treacle_sim_hash(sim);
        treacle_sim_destroy(sim);
        treacle_context_destroy(ctx);
    }
    assert_true(hash[0] != hash[1] && hash[1] != hash[2] && hash[0] != hash[2]);
}

// The kinetic energy after half a second of a block that falls apart, or does not.
static double energy_of_block(double yield_stress, treacle_rheology_stats* rheology) {
    sim_scene scene;
    fill_boxes(&scene, 5.0, 5.0);
    scene.def.liquid_count = 1;
    scene.def.step.max_dt = 0.02;
    scene.materials[0].rheology.law = TREACLE_RHEOLOGY_BINGHAM;
    scene.materials[0].rheology.yield_stress = yield_stress;
    treacle_context* ctx = make_context(2);
    treacle_sim* sim = check_make_sim(ctx, &scene.def);
    treacle_step_stats stats;
    while (treacle_sim_time(sim) < 0.4) {
        check_step(ctx, sim, 0.02, &stats);
    }
    treacle_sim_destroy(sim);
    treacle_context_destroy(ctx);
    *rheology = stats.rheology;
    return stats.kinetic_energy;
}

// rho g H = 4905 Pa: a wide block stands up to 3.8 tau_y.
static void test_a_block_stands_on_its_yield_stress(void** state) {
    (void)state;
    treacle_rheology_stats stands, falls;
    double still = energy_of_block(4000.0, &stands);
    double moving = energy_of_block(200.0, &falls);
    assert_true(still < 1e-4 * moving);
    assert_true(stands.iterations >= 1 && falls.iterations >= 1);
}

static void check_refused(const sim_scene* scene, const char* word) {
    treacle_context* ctx = make_context(1);
    treacle_sim* sim = NULL;
    assert_int_equal(treacle_sim_create(ctx, &scene->def, &sim), TREACLE_ERR_SCENE);
    assert_non_null(strstr(treacle_context_error(ctx), word));
    assert_null(sim);
    treacle_context_destroy(ctx);
}

static void test_absurd_materials_are_refused(void** state) {
    (void)state;
    const double bad[] = {-1.0, 1e30, NAN, INFINITY};
    for (int k = 0; k < 4; ++k) {
        sim_scene scene;
        fill_flat(&scene);
        scene.materials[0].viscosity = bad[k];
        check_refused(&scene, "viscosity");
        fill_flat(&scene);
        scene.materials[0].rheology.yield_stress = bad[k];
        check_refused(&scene, "yield_stress");
        fill_flat(&scene);
        scene.materials[0].rheology.law = TREACLE_RHEOLOGY_POWER_LAW;
        scene.materials[0].rheology.exponent = k == 0 ? 0.0 : bad[k];
        check_refused(&scene, "exponent");
    }
    sim_scene scene;
    fill_flat(&scene);
    scene.materials[0].density = 0.0;
    check_refused(&scene, "density");
    fill_flat(&scene);
    scene.def.flow = TREACLE_FLOW_UNIFIED;
    scene.def.viscosity_solve.method = TREACLE_VISCOSITY_EXPLICIT;
    check_refused(&scene, "split");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sauce_is_the_same_on_all_threads_and_instruction_sets),
        cmocka_unit_test(test_restoring_sauce_equals_an_uninterrupted_run),
        cmocka_unit_test(test_failing_memory_leaves_sauce_as_it_was),
        cmocka_unit_test(test_comparators_are_the_same_on_all_threads_and_instruction_sets),
        cmocka_unit_test(test_failing_memory_leaves_comparators_as_they_were),
        cmocka_unit_test(test_water_and_rock_need_no_substeps),
        cmocka_unit_test(test_the_mean_between_viscosities_shows),
        cmocka_unit_test(test_a_block_stands_on_its_yield_stress),
        cmocka_unit_test(test_absurd_materials_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
