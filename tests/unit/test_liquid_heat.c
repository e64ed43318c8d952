// Heat in a simulation: what is the same whatever runs it.
#include <stdlib.h>

#include "alloc_failure.h"
#include "treacle/treacle.h"

static const char scene[] =
    "domain: {size: [0.16, 0.16], cell: 0.01, sides: no-slip}\n"
    "step: {max_dt: 0.02}\n"
    "particles: {per_cell: 4}\n"
    "heat: {air: 290 K, loss: 50, emissivity: 0.9}\n"
    "materials:\n"
    "  wax: {density: 800, viscosity: 1, heat_capacity: 2000, conductivity: 20,\n"
    "        latent_heat: 50 kJ/kg, solidus: 320 K, liquidus: 330 K, freezing_liquidus: 325 K,\n"
    "        freezing_solidus: 315 K,\n"
    "        viscosity_law: {kind: linear, from: 320 K, to: 330 K, low: 100, high: 1}}\n"
    "heat_sources:\n"
    "  - {place: [0.16, 0.16, 0], power: 5 kW}\n"
    "  - {shape: {sphere: {radius: 0.03, centre: [0.06, 0.04, 0]}}, power: 200 W}\n"
    "  - {shape: {sphere: {radius: 0.02, centre: [0.12, 0.04, 0]}}, temperature: 350 K}\n"
    "heat_walls: [{side: bottom, flux: 1000}, {side: left, temperature: 300 K}]\n"
    "liquids:\n"
    "  - {shape: {box: {min: [0.03, 0, -1], max: [0.13, 0.08, 1]}}, temperature: 316 K}\n";

static treacle_status make(treacle_context* ctx, treacle_sim** out) {
    treacle_scene* s = NULL;
    treacle_status status =
        treacle_scene_parse(ctx, "test.yaml", scene, strlen(scene), 0, NULL, &s);
    if (status == TREACLE_OK) {
        status = treacle_sim_create(ctx, treacle_scene_sim(s), out);
    }
    treacle_scene_destroy(s);
    return status;
}

static uint64_t hash_after(int threads, int steps) {
    treacle_context* ctx = unit_context(threads);
    treacle_sim* sim = NULL;
    assert_int_equal(make(ctx, &sim), TREACLE_OK);
    for (int i = 0; i < steps; ++i) {
        treacle_step_stats stats;
        assert_int_equal(treacle_sim_step(sim, 0.02, &stats), TREACLE_OK);
    }
    uint64_t hash = treacle_sim_hash(sim);
    treacle_sim_destroy(sim);
    treacle_context_destroy(ctx);
    return hash;
}

static void test_bits_do_not_depend_on_threads(void** state) {
    (void)state;
    uint64_t one = hash_after(1, 4);
    assert_true(hash_after(3, 4) == one);
}

static void test_a_restored_state_goes_on_the_same(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    treacle_sim *sim = NULL, *other = NULL;
    treacle_step_stats stats;
    treacle_frame frame;
    assert_int_equal(make(ctx, &sim), TREACLE_OK);
    assert_int_equal(make(ctx, &other), TREACLE_OK);
    assert_int_equal(treacle_sim_step(sim, 0.02, &stats), TREACLE_OK);
    assert_int_equal(treacle_sim_step(sim, 0.02, &stats), TREACLE_OK);
    assert_int_equal(treacle_sim_view(sim, TREACLE_FRAME_STATE, 1, &frame), TREACLE_OK);
    assert_int_equal(treacle_sim_restore(other, &frame), TREACLE_OK);
    assert_true(treacle_sim_hash(other) == treacle_sim_hash(sim));
    assert_int_equal(treacle_sim_step(sim, 0.02, &stats), TREACLE_OK);
    assert_int_equal(treacle_sim_step(other, 0.02, &stats), TREACLE_OK);
    assert_true(treacle_sim_hash(other) == treacle_sim_hash(sim));
    treacle_sim_destroy(sim);
    treacle_sim_destroy(other);
    unit_context_end(ctx);
}

static void test_heat_that_comes_in_is_stored(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    treacle_sim* sim = NULL;
    treacle_step_stats stats;
    assert_int_equal(make(ctx, &sim), TREACLE_OK);
    assert_int_equal(treacle_sim_step(sim, 0.02, &stats), TREACLE_OK);
    double before = stats.enthalpy, came = 0.0;
    for (int i = 0; i < 5; ++i) {
        assert_int_equal(treacle_sim_step(sim, 0.02, &stats), TREACLE_OK);
        came += stats.heat_in;
    }
    assert_true(came > 1.0);
    assert_close(stats.enthalpy - before, came, 1e-5 * came);
    treacle_sim_destroy(sim);
    unit_context_end(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bits_do_not_depend_on_threads),
        cmocka_unit_test(test_a_restored_state_goes_on_the_same),
        cmocka_unit_test(test_heat_that_comes_in_is_stored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
