// Facts about the unified flow in a simulation, and about walls in its stress.
#include "sim_checks.h"

#include "grid_fixture.h"

#include "phys/slip_stress.h"
#include "treacle/scene.h"
#include "treacle/unstable/stages.h"

static void fill_thick(sim_scene* scene) {
    sim_scene_fill(scene);
    scene->def.flow = TREACLE_FLOW_UNIFIED;
    scene->def.transfer = TREACLE_TRANSFER_APIC;
    scene->def.domain.cell = 1.0 / 16;
    scene->materials[0].viscosity = 1000.0;
    scene->materials[1].viscosity = 0.1;
}

static void test_restoring_at_every_step_equals_an_uninterrupted_run(void** state) {
    (void)state;
    sim_scene scene;
    fill_thick(&scene);
    check_restore(&scene, 3);
}

enum { SIDE = 16, DEPTH = 10 };

// A level pool in a box of slip walls, in 2D, at rest but for the push of gravity.
static double pool_pressure(treacle_flow flow, int below) {
    treacle_context* ctx = context_with(1);
    treacle_material_def syrup = treacle_material_def_default();
    syrup.density = 1200.0;
    syrup.viscosity = 50.0;
    treacle_sim_def def = treacle_sim_def_default();
    def.domain.size[0] = def.domain.size[1] = 1.6;
    def.domain.size[2] = 0.0;
    def.domain.cell = 0.1;
    def.flow = flow;
    def.pressure.tolerance = 1e-7;
    def.material_count = 1;
    def.materials = &syrup;
    treacle_sim* sim = NULL;
    assert_int_equal(treacle_sim_create(ctx, &def, &sim), TREACLE_OK);
    float distance[SIDE * SIDE], pressure[SIDE * SIDE] = {0};
    float u[(SIDE + 1) * (SIDE + 1)] = {0}, v[(SIDE + 1) * (SIDE + 1)];
    for (int i = 0; i < SIDE * SIDE; ++i) {
        distance[i] = (float)(i / SIDE) + 0.5f - DEPTH - 0.3f;
    }
    const double dt = 0.01, g = 9.81;
    for (int i = 0; i < (SIDE + 1) * (SIDE + 1); ++i) {
        v[i] = (float)(-g * dt);
    }
    treacle_stages_liquid liquid = {.distance = distance,
                                    .velocity = {u, v, NULL},
                                    .pressure = pressure,
                                    .dt = dt,
                                    .push = g * dt};
    treacle_step_stats stats;
    assert_int_equal(treacle_stages_flow(sim, &liquid, &stats), TREACLE_OK);
    treacle_sim_destroy(sim);
    treacle_context_destroy(ctx);
    return (double)pressure[(DEPTH - below) * SIDE + SIDE / 2];
}

static void test_pressure_of_a_pool_is_its_weight_in_every_flow(void** state) {
    (void)state;
    for (int below = 1; below < DEPTH; below += 3) {
        double weight = 1200.0 * 9.81 * 0.1 * (below - 0.5 + 0.3);
        assert_close(pool_pressure(TREACLE_FLOW_UNIFIED, below), weight, 1e-3 * weight);
        assert_close(pool_pressure(TREACLE_FLOW_PRESSURE, below), weight, 1e-3 * weight);
    }
}

static void test_absurd_viscosity_and_steps_stay_finite(void** state) {
    (void)state;
    const double viscosities[] = {1e-30, 1e12, 1e30};
    for (int i = 0; i < 3; ++i) {
        sim_scene scene;
        fill_thick(&scene);
        scene.materials[0].viscosity = viscosities[i];
        scene.def.step.max_dt = 1.0;
        treacle_context* ctx = context_with(1);
        treacle_sim* sim = NULL;
        treacle_step_stats stats = {0};
        treacle_status status = treacle_sim_create(ctx, &scene.def, &sim);
        for (int n = 0; n < 2 && status == TREACLE_OK; ++n) {
            status = treacle_sim_step(sim, 1.0, &stats);
            assert_true(status != TREACLE_OK || isfinite(stats.kinetic_energy));
        }
        treacle_sim_destroy(sim);
        treacle_context_destroy(ctx);
    }
}

static void test_planes_cut_boxes_exactly(void** state) {
    (void)state;
    double area, root = sqrt(0.5);
    assert_close(slip_box_fraction((const double[]){0.0, 1.0, 0.0}, 0.25, &area), 0.75, 2e-3);
    assert_close(area, 1.0, 2e-3);
    assert_close(slip_box_fraction((const double[]){root, -root, 0.0}, 0.0, &area), 0.5, 1e-9);
    assert_close(area, sqrt(2.0), 2e-3);
    assert_close(slip_box_fraction((const double[]){root, root, 0.0}, -0.25 * sqrt(2.0), &area),
                 0.125, 2e-3);
    assert_close(area, root, 2e-3);
    assert_close(slip_box_fraction((const double[]){0.0, 0.0, 1.0}, 0.6, &area), 1.0, 0.0);
    assert_close(area, 0.0, 0.0);
}

static void test_a_wall_between_faces_stiffens_the_stress(void** state) {
    (void)state;
    slip_block block;
    grid_domain domain = {.is_active = {true, true, true}};
    static const int side = BLOCK_SIDE(1, 1);
    for (int i = 0; i < BLOCK_VALUES(1, 1); ++i) {
        block.phi[i] = (float)(i / side % side) - 4.25f; // level at a quarter above a cell's middle
    }
    int at = BLOCK_INDEX(1, 1, 3, 3, 3); // 0.25 below the wall
    slip_kind stuck = {TREACLE_WALL_NO_SLIP, 0.0}, sliding = {TREACLE_WALL_SLIP, 0.0};
    slip_effect above = slip_stress(&block, at + side, &domain, &stuck);
    assert_close(above.edge[2], 1.0 / 0.75, 1e-5); // u_x at 0.75 above, and 0.25 below
    assert_false(above.is_behind[0]);
    assert_true(slip_stress(&block, at, &domain, &stuck).is_behind[0]);
    slip_effect free = slip_stress(&block, at, &domain, &sliding);
    assert_true(free.is_free);
    assert_close(free.cell, 0.25, 2e-3);
}

// [stokes.7]
static void test_a_cube_that_falls_asks_for_no_solver_until_it_lands(void** state) {
    (void)state;
    static const char text[] =
        "domain: {size: [1, 1, 1], resolution: 16, sides: {all: slip, bottom: no-slip}}\n"
        "materials: {goo: {density: 1000, viscosity: 150000}}\n"
        "liquids: [{shape: {box: {size: [0.4, 0.4, 0.4], centre: [0.5, 0.6, 0.5]}}}]\n";
    const double dt = 0.01;
    treacle_context* ctx = context_with(1);
    treacle_scene* scene = NULL;
    treacle_sim* sim = NULL;
    treacle_step_stats stats;
    assert_int_equal(treacle_scene_parse(ctx, "cube.yaml", text, strlen(text), 0, NULL, &scene),
                     TREACLE_OK);
    assert_int_equal(treacle_sim_create(ctx, treacle_scene_sim(scene), &sim), TREACLE_OK);
    for (int n = 0; n < 35; ++n) {
        assert_int_equal(treacle_sim_step(sim, dt, &stats), TREACLE_OK);
        assert_true(stats.flow.converged);
        if (n < 20) { // it has 0.4 m to fall, 28 steps
            assert_string_equal(stats.flow.regime, "free");
            assert_int_equal(stats.flow.iterations, 0);
            assert_close(stats.max_speed, 9.81 * dt * (n + 1), 1e-4);
            assert_true(fabs(stats.energy.error) < 1e-6 * stats.energy.kinetic);
        }
    }
    assert_string_not_equal(stats.flow.regime, "free");
    assert_true(stats.flow.iterations > 0 && stats.max_speed < 1.0);
    treacle_sim_destroy(sim);
    treacle_scene_destroy(scene);
    treacle_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_restoring_at_every_step_equals_an_uninterrupted_run),
        cmocka_unit_test(test_pressure_of_a_pool_is_its_weight_in_every_flow),
        cmocka_unit_test(test_absurd_viscosity_and_steps_stay_finite),
        cmocka_unit_test(test_planes_cut_boxes_exactly),
        cmocka_unit_test(test_a_wall_between_faces_stiffens_the_stress),
        cmocka_unit_test(test_a_cube_that_falls_asks_for_no_solver_until_it_lands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
