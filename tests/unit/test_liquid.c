// What holds for liquid on the grid, on a scene with two densities, an emitter, a sink, walls, open
// and periodic sides.
#include "sim_checks.h"

static void fill_liquid(sim_scene* scene, treacle_transfer transfer) {
    sim_scene_fill(scene);
    scene->def.flow = TREACLE_FLOW_PRESSURE;
    scene->def.transfer = transfer;
    scene->def.domain.cell = 1.0 / 16;
}

static void test_state_is_the_same_on_all_threads_and_instruction_sets(void** state) {
    (void)state;
    for (int transfer = TREACLE_TRANSFER_FLIP; transfer <= TREACLE_TRANSFER_APIC; ++transfer) {
        sim_scene scene;
        fill_liquid(&scene, (treacle_transfer)transfer);
        check_threads_and_sets(&scene, 8);
    }
}

static void fill_thick(sim_scene* scene) {
    fill_liquid(scene, TREACLE_TRANSFER_APIC);
    scene->def.flow = TREACLE_FLOW_AUTO;
    scene->materials[0].viscosity = 1000.0;
    scene->materials[1].viscosity = 0.1;
}

static void test_thick_liquid_is_the_same_on_all_threads_and_instruction_sets(void** state) {
    (void)state;
    sim_scene scene;
    fill_thick(&scene);
    check_threads_and_sets(&scene, 4);
}

static void test_failing_memory_leaves_thick_liquid_as_it_was(void** state) {
    (void)state;
    sim_scene scene;
    fill_thick(&scene);
    scene.def.particles.per_cell = 1;
    scene.def.domain.size[1] = 0.5;
    scene.def.domain.origin[1] = 0.5;
    ALLOC_FAILURE_CHECK(check_create_and_step, &scene);
}

static void test_restoring_at_every_step_equals_an_uninterrupted_run(void** state) {
    (void)state;
    sim_scene scene;
    fill_liquid(&scene, TREACLE_TRANSFER_APIC);
    check_restore(&scene, 6);
}

static void test_failing_memory_leaves_the_state_as_it_was(void** state) {
    (void)state;
    sim_scene scene;
    fill_liquid(&scene, TREACLE_TRANSFER_FLIP);
    scene.def.particles.per_cell = 1;
    scene.def.domain.size[1] = 0.5;
    scene.def.domain.origin[1] = 0.5;
    ALLOC_FAILURE_CHECK(check_create_and_step, &scene);
}

static void test_flat_domains_run_along_every_plane(void** state) {
    (void)state;
    uint64_t seen[3];
    for (int flat = 0; flat < 3; ++flat) {
        sim_scene scene;
        fill_liquid(&scene, TREACLE_TRANSFER_APIC);
        scene.def.emitter_count = 0; // its nozzle is not in every plane
        scene.def.domain.size[flat] = 0.0;
        scene.def.domain.origin[flat] = 0.5 - 0.5 / 16;
        treacle_context* ctx = make_context(2);
        treacle_sim* sim = check_make_sim(ctx, &scene.def);
        treacle_step_stats stats;
        for (int i = 0; i < 10; ++i) {
            check_step(ctx, sim, 0.01, &stats);
        }
        assert_true(stats.particles > 100);
        assert_true(stats.pressure.converged && stats.pressure.iterations > 0);
        seen[flat] = treacle_sim_hash(sim);
        treacle_sim_destroy(sim);
        treacle_context_destroy(ctx);
    }
    assert_true(seen[0] != seen[1] && seen[1] != seen[2]);
}

// A jittered pool at rest, 2D.
static void fill_pool(sim_scene* scene) {
    fill_liquid(scene, TREACLE_TRANSFER_APIC);
    scene->def.domain = treacle_sim_def_default().domain;
    scene->def.domain.cell = 1.0 / 32;
    scene->def.domain.size[2] = 0.0;
    scene->def.particles = (treacle_particles_def){.per_cell = 4, .jitter = 1.0};
    scene->def.emitter_count = scene->def.sink_count = 0;
    scene->def.liquid_count = 1;
    scene->box = shape_at(TREACLE_SHAPE_BOX, 0.5, 0.0, 0.0);
    scene->box.size[0] = 2.0;
    scene->box.size[1] = 1.0;
    scene->liquids[0] = treacle_liquid_def_default();
    scene->liquids[0].shape = &scene->box;
}

static void test_density_correction_evens_particles_out(void** state) {
    (void)state;
    sim_scene scene;
    fill_pool(&scene);
    treacle_context* ctx = make_context(1);
    treacle_sim* sim = check_make_sim(ctx, &scene.def);
    treacle_step_stats first, last;
    check_step(ctx, sim, 0.01, &first);
    for (int i = 0; i < 20; ++i) {
        check_step(ctx, sim, 0.01, &last);
    }
    assert_true(first.density_spread > 0.05);
    assert_true(last.density_spread < 0.2 * first.density_spread);
    assert_true(fabs(last.surface_volume / first.surface_volume - 1.0) < 0.01);
    treacle_sim_destroy(sim);
    treacle_context_destroy(ctx);
}

// An emitter in a pool at rest pushes what is inside it: that is its work, and no step is refused
// for it, however short [energy.7].
static void test_an_emitter_in_a_pool_does_work(void** state) {
    (void)state;
    static const treacle_flow flows[] = {TREACLE_FLOW_PRESSURE, TREACLE_FLOW_UNIFIED};
    static const treacle_key speed = {.value = {1.0}};
    const double radius = 0.15, pi = 3.14159265358979;
    for (int i = 0; i < 2; ++i) {
        sim_scene scene;
        fill_pool(&scene);
        scene.def.flow = flows[i];
        scene.def.emitter_count = 1;
        scene.nozzle = shape_at(TREACLE_SHAPE_SPHERE, 0.5, 0.25, 0.0);
        scene.nozzle.radius = radius;
        scene.emitter.direction[1] = 0.0;
        scene.emitter.speed = (treacle_curve){1, &speed};
        double mass = scene.materials[0].density * pi * radius * radius * scene.def.domain.cell;
        treacle_context* ctx = make_context(1);
        treacle_sim* sim = check_make_sim(ctx, &scene.def);
        treacle_step_stats stats;
        check_step(ctx, sim, 1e-4, &stats);
        assert_true(stats.energy.solids > 0.9 * (0.5 * mass));
        assert_true(stats.energy.kinetic > 0.9 * (0.5 * mass));
        assert_true(stats.energy.gain < 0.05 * stats.energy.kinetic);
        treacle_sim_destroy(sim);
        treacle_context_destroy(ctx);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_state_is_the_same_on_all_threads_and_instruction_sets),
        cmocka_unit_test(test_thick_liquid_is_the_same_on_all_threads_and_instruction_sets),
        cmocka_unit_test(test_failing_memory_leaves_thick_liquid_as_it_was),
        cmocka_unit_test(test_restoring_at_every_step_equals_an_uninterrupted_run),
        cmocka_unit_test(test_failing_memory_leaves_the_state_as_it_was),
        cmocka_unit_test(test_flat_domains_run_along_every_plane),
        cmocka_unit_test(test_density_correction_evens_particles_out),
        cmocka_unit_test(test_an_emitter_in_a_pool_does_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
