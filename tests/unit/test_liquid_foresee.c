// What particles carry with steps of second order.
#include "sim_checks.h"

enum { STEPS = 25 };
static const double dt = 0.02;
static const treacle_key no_gravity = {0}, down = {.value = {0.0, -9.81, 0.0}};

// A disk of thick liquid in 2D that turns by a radian a second.
static void fill_disk(sim_scene* scene) {
    sim_scene_fill(scene);
    scene->def.flow = TREACLE_FLOW_AUTO;
    scene->def.transfer = TREACLE_TRANSFER_APIC;
    scene->def.domain.size[2] = 0.0;
    memset(scene->def.domain.sides, 0, sizeof(scene->def.domain.sides));
    scene->def.particles = (treacle_particles_def){.per_cell = 4};
    scene->def.gravity = (treacle_curve){1, &no_gravity};
    scene->materials[0].viscosity = 1000.0;
    scene->def.emitter_count = scene->def.sink_count = 0;
    scene->def.liquid_count = 1;
    scene->ball = shape_at(TREACLE_SHAPE_SPHERE, 0.51, 0.48, 0.0);
    scene->ball.radius = 0.3;
    scene->liquids[0] = treacle_liquid_def_default();
    scene->liquids[0].shape = &scene->ball;
    scene->liquids[0].spin[2] = 1.0;
    scene->liquids[0].spin_centre[0] = 0.51;
    scene->liquids[0].spin_centre[1] = 0.48;
    scene->def.step.splitting = TREACLE_SPLITTING_SECOND;
}

// What the steps leave of the energy that the first one has.
static double energy_left(const sim_scene* scene, uint64_t* hash) {
    treacle_context* ctx = make_context(1);
    treacle_sim* sim = check_make_sim(ctx, &scene->def);
    treacle_step_stats first, stats;
    check_step(ctx, sim, dt, &first);
    for (int i = 0; i < STEPS; ++i) {
        check_step(ctx, sim, dt, &stats);
    }
    *hash = treacle_sim_hash(sim);
    treacle_sim_destroy(sim);
    unit_context_end(ctx);
    return stats.kinetic_energy / first.kinetic_energy;
}

static void test_rotation_keeps_its_energy(void** state) {
    (void)state;
    sim_scene scene;
    uint64_t hash;
    fill_disk(&scene);
    double second = energy_left(&scene, &hash);
    scene.def.step.splitting = TREACLE_SPLITTING_FIRST;
    double first = energy_left(&scene, &hash);
    assert_close(first, pow(cos(dt), 2 * STEPS), 2e-3);
    assert_close(second, 1.0, 5e-4);
}

// Nothing turns in free fall: not a bit differs from steps of first order.
static void test_free_fall_is_not_touched(void** state) {
    (void)state;
    sim_scene scene;
    uint64_t second, first;
    fill_disk(&scene);
    scene.liquids[0].spin[2] = 0.0;
    scene.def.flow = TREACLE_FLOW_PRESSURE;
    scene.def.domain.size[1] = 4.0;
    scene.def.domain.origin[1] = -3.0;
    scene.def.gravity = (treacle_curve){1, &down};
    energy_left(&scene, &second);
    scene.def.step.splitting = TREACLE_SPLITTING_FIRST;
    energy_left(&scene, &first);
    assert_true(first == second);
}

static void test_a_state_can_be_restored(void** state) {
    (void)state;
    sim_scene scene;
    fill_disk(&scene);
    check_restore(&scene, 6);
}

static void test_threads_and_instruction_sets_do_not_show(void** state) {
    (void)state;
    sim_scene scene;
    fill_disk(&scene);
    check_threads_and_sets(&scene, 4);
}

static void test_failing_memory_leaves_the_state_as_it_was(void** state) {
    (void)state;
    sim_scene scene;
    fill_disk(&scene);
    scene.def.domain.cell = 1.0 / 8;
    scene.def.particles.per_cell = 1;
    ALLOC_FAILURE_CHECK(check_create_and_step, &scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rotation_keeps_its_energy),
        cmocka_unit_test(test_free_fall_is_not_touched),
        cmocka_unit_test(test_a_state_can_be_restored),
        cmocka_unit_test(test_threads_and_instruction_sets_do_not_show),
        cmocka_unit_test(test_failing_memory_leaves_the_state_as_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
