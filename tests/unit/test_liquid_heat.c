// Heat in a simulation: what is the same whatever runs it.
#include <math.h>
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
    "        marker_diffusivity: 1e-4 m^2/s, marker_rate: 0.1, marker_target: 1,\n"
    "        latent_heat: 50 kJ/kg, solidus: 320 K, liquidus: 330 K, freezing_liquidus: 325 K,\n"
    "        freezing_solidus: 315 K,\n"
    "        viscosity_law: {kind: linear, from: 320 K, to: 330 K, low: 100, high: 1}}\n"
    "heat_sources:\n"
    "  - {place: [0.16, 0.16, 0], power: 5 kW}\n"
    "  - {shape: {sphere: {radius: 0.03, centre: [0.06, 0.04, 0]}}, power: 200 W}\n"
    "  - {shape: {sphere: {radius: 0.02, centre: [0.12, 0.04, 0]}}, temperature: 350 K}\n"
    "heat_walls: [{side: bottom, flux: 1000}, {side: left, temperature: 300 K}]\n"
    "solids:\n"
    "  plate: {shape: {box: {min: [0.05, -1, -1], max: [0.07, 0.033, 1]}}, temperature: 340 K,\n"
    "          contact: 500}\n"
    "  stove: {shape: {sphere: {radius: 0.02, centre: [0.1, 0.02, 0]}}, flux: 2000}\n"
    "marker: {air: 0.1, loss: 1 mm/s}\n"
    "marker_sources:\n"
    "  - {shape: {sphere: {radius: 0.02, centre: [0.09, 0.06, 0]}}, rate: 2}\n"
    "  - {shape: {sphere: {radius: 0.02, centre: [0.05, 0.06, 0]}}, value: 0.8}\n"
    "drops:\n"
    "  - {shape: {sphere: {radius: 0.01}}, temperature: 340 K, marker: 0.3,\n"
    "     places: [[0, [0.08, 0.12, 0]], [0.015, [0.1, 0.12, 0]]]}\n"
    "liquids:\n"
    "  - {shape: {box: {min: [0.03, 0, -1], max: [0.13, 0.08, 1]}}, temperature: 316 K,\n"
    "     marker: 0.5, colour: [\"10*x\", 0.2, 0.3]}\n";

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

static treacle_sim* create(treacle_context* ctx, const char* text) {
    treacle_scene* s = NULL;
    treacle_sim* sim = NULL;
    assert_int_equal(treacle_scene_parse(ctx, "test.yaml", text, strlen(text), 0, NULL, &s),
                     TREACLE_OK);
    assert_int_equal(treacle_sim_create(ctx, treacle_scene_sim(s), &sim), TREACLE_OK);
    treacle_scene_destroy(s);
    return sim;
}

#define STILL                                                                                      \
    "domain: {size: [0.16, 0.16], cell: 0.01, sides: slip}\n"                                      \
    "gravity: [0, 0, 0]\n"                                                                         \
    "density_correction: false\n"                                                                  \
    "particles: {per_cell: 4}\n"                                                                   \
    "flow: pressure\n"

// Everything that heats and cools, on liquid that lies still: its heat after `steps` of dt.
static double heat_after(const char* speed, double dt, int steps) {
    char text[2000];
    treacle_context* ctx = unit_context(1);
    treacle_step_stats stats = {0};
    double came = 0.0, first = 0.0;
    snprintf(text, sizeof(text),
             STILL "step: {max_dt: 100}\n"
                   "heat: {air: 290 K, loss: 50, emissivity: 0.9, speed: %s}\n"
                   "materials:\n"
                   "  wax: {density: 800, heat_capacity: 2000, conductivity: 2,\n"
                   "        latent_heat: 50 kJ/kg, solidus: 320 K, liquidus: 330 K}\n"
                   "heat_sources:\n"
                   "  - {place: [0.16, 0.16, 0], power: 500 W}\n"
                   "  - {shape: {sphere: {radius: 0.03, centre: [0.06, 0.06, 0]}}, power: 20 W}\n"
                   "heat_walls: [{side: left, temperature: 350 K, contact: 500}]\n"
                   "solids:\n"
                   "  stove: {shape: {sphere: {radius: 0.02, centre: [0.1, 0.02, 0]}}, flux: 200}\n"
                   "liquids: [{shape: {box: {min: [0, 0, -1], max: [0.12, 0.12, 1]}},\n"
                   "           temperature: 316 K}]\n",
             speed);
    treacle_sim* sim = create(ctx, text);
    for (int i = 0; i < steps; ++i) {
        assert_int_equal(treacle_sim_step(sim, dt, &stats), TREACLE_OK);
        first = i == 0 ? stats.enthalpy - stats.heat_in : first;
        came += stats.heat_in;
    }
    // The account is closed at any speed: what came is there.
    assert_close(stats.enthalpy - first, came, 1e-5 * fabs(came));
    treacle_sim_destroy(sim);
    unit_context_end(ctx);
    return came;
}

static void test_heat_that_is_faster_does_the_same_in_less_time(void** state) {
    (void)state;
    double slow = heat_after("1", 6.0, 10), fast = heat_after("60", 0.1, 10);
    assert_true(slow > 100.0);
    assert_close(fast, slow, 1e-6 * slow);
    assert_true(heat_after("1", 0.1, 10) < 0.1 * slow);
}

// The sum of a column times volume over the particles.
static double amount_of(treacle_sim* sim, const char* name) {
    treacle_frame frame;
    assert_int_equal(treacle_sim_view(sim, TREACLE_FRAME_PICTURE, 1, &frame), TREACLE_OK);
    const treacle_array* value = treacle_frame_find(&frame, name);
    const treacle_array* volume = treacle_frame_find(&frame, "volume");
    assert_non_null(value);
    double sum = 0.0;
    for (int64_t i = 0; i < value->count; ++i) {
        sum += (double)((const float*)value->data)[i] * (double)((const float*)volume->data)[i];
    }
    return sum;
}

static void test_what_dries_loses_what_the_statistics_say(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    treacle_sim* sim =
        create(ctx, STILL "marker: {air: 0.05, loss: 5 mm/s}\n"
                          "marker_sources:\n"
                          "  - {shape: {sphere: {radius: 0.03, centre: [0.08, 0.08, 0]}}, rate: "
                          "-0.1}\n"
                          "materials: {clay: {marker_diffusivity: 1e-4 m^2/s}}\n"
                          "liquids: [{shape: {box: {min: [0.04, 0.04, -1], max: [0.12, 0.12, "
                          "1]}}, marker: 0.4}]\n");
    double before = amount_of(sim, "marker"), came = 0.0, volume = before / 0.4;
    treacle_step_stats stats;
    for (int i = 0; i < 20; ++i) {
        assert_int_equal(treacle_sim_step(sim, 0.02, &stats), TREACLE_OK);
        came += stats.marker_in;
    }
    double after = amount_of(sim, "marker");
    assert_true(after < 0.999 * before);
    assert_close(after - before, came, 1e-5 * before);
    assert_true(after > 0.05 * volume);
    treacle_sim_destroy(sim);
    unit_context_end(ctx);
}

static void test_what_cures_nears_its_target_by_the_exponential(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    treacle_sim* sim =
        create(ctx, STILL "materials: {glue: {marker_rate: 0.5, marker_target: 1}}\n"
                          "liquids: [{shape: {box: {min: [0.04, 0.04, -1], max: [0.12, 0.12, "
                          "1]}}, marker: 0.2}]\n");
    double volume = amount_of(sim, "marker") / 0.2;
    treacle_step_stats stats;
    for (int i = 0; i < 100; ++i) {
        assert_int_equal(treacle_sim_step(sim, 0.02, &stats), TREACLE_OK);
    }
    assert_close(amount_of(sim, "marker") / volume, 1.0 - 0.8 * exp(-1.0), 1e-5);
    treacle_sim_destroy(sim);
    unit_context_end(ctx);
}

static void test_a_solid_without_temperature_keeps_heat(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    treacle_sim* sim =
        create(ctx, STILL "materials: {wax: {conductivity: 100}}\n"
                          "solids:\n"
                          "  wall: {shape: {box: {min: [-1, -1, -1], max: [0.08, 1, 1]}}}\n"
                          "  plate: {shape: {sphere: {radius: 0.02, centre: [0.15, 0.15, 0]}}, "
                          "temperature: 400 K}\n"
                          "liquids: [{shape: {box: {min: [0, 0, -1], max: [0.12, 0.16, 1]}},\n"
                          "  temperature: {ramp: {from: [0, 0, 0], to: [0, 0.16, 0], a: 300, b: "
                          "350}}}]\n");
    treacle_step_stats stats;
    for (int i = 0; i < 5; ++i) {
        assert_int_equal(treacle_sim_step(sim, 1.0, &stats), TREACLE_OK);
        assert_true(stats.heat_in == 0.0);
    }
    treacle_sim_destroy(sim);
    unit_context_end(ctx);
}

static treacle_status create_and_step(treacle_context* ctx, void* data) {
    treacle_sim* sim = NULL;
    treacle_step_stats stats;
    treacle_status status = treacle_sim_create(ctx, treacle_scene_sim(data), &sim);
    if (status == TREACLE_OK) {
        status = treacle_sim_step(sim, 0.02, &stats);
    }
    treacle_sim_destroy(sim);
    return status;
}

static void test_heat_survives_any_failing_allocation(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    treacle_scene* s = NULL;
    assert_int_equal(treacle_scene_parse(ctx, "test.yaml", scene, strlen(scene), 0, NULL, &s),
                     TREACLE_OK);
    ALLOC_FAILURE_CHECK(create_and_step, s);
    treacle_scene_destroy(s);
    unit_context_end(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bits_do_not_depend_on_threads),
        cmocka_unit_test(test_a_restored_state_goes_on_the_same),
        cmocka_unit_test(test_heat_that_comes_in_is_stored),
        cmocka_unit_test(test_heat_that_is_faster_does_the_same_in_less_time),
        cmocka_unit_test(test_what_dries_loses_what_the_statistics_say),
        cmocka_unit_test(test_what_cures_nears_its_target_by_the_exponential),
        cmocka_unit_test(test_a_solid_without_temperature_keeps_heat),
        cmocka_unit_test(test_heat_survives_any_failing_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
