// What `treacle check` says that heat will do: the laws against solutions that are known, and whole
// scenes.
#include <math.h>

#include "alloc_failure.h"
#include "scene/melt_time.h"
#include "treacle/scene.h"

// Of Stefan's problem: a body at its melting point; and one that is half as far below.
static void test_fronts_go_as_stefan_and_neumann_say(void** state) {
    (void)state;
    static const double cases[][3] = {
        {0.1, 0.0, 0.220016}, {0.5, 0.0, 0.464786}, {1.0, 0.0, 0.620063}, {1.0, 50.0, 0.469851}};
    for (int k = 0; k < 4; ++k) {
        melt_body body = {.density = 1.0,
                          .capacity = 1.0,
                          .latent = 100.0 / cases[k][0],
                          .conductivity = 1.0,
                          .start = 300.0 - cases[k][1],
                          .target = 300.0};
        assert_close(melt_time_lambda(&body, 400.0), cases[k][2], 1e-6);
        body.start = 300.0 + cases[k][1]; // it sets
        assert_close(melt_time_lambda(&body, 200.0), cases[k][2], 1e-6);
    }
}

static void test_without_latent_heat_the_front_is_an_isotherm(void** state) {
    (void)state;
    melt_body body = {.density = 2.0, .capacity = 3.0, .conductivity = 6.0, .start = 300.0};
    body.target = 350.0;
    assert_close(melt_time_lambda(&body, 400.0), 0.476936, 1e-6); // erfcinv(1/2)
    assert_close(melt_time_held(&body, 2.0, 400.0, INFINITY), 1.0 / (0.476936 * 0.476936), 1e-4);
    double slow = melt_time_held(&body, 2.0, 400.0, 4.0);
    // 2 * 2 m * 3 * 50 K / (4 * 50 K) more.
    assert_close(slow - melt_time_held(&body, 2.0, 400.0, INFINITY), 3.0, 1e-9);
}

static void test_what_is_not_reached_never_comes(void** state) {
    (void)state;
    melt_body body = {.density = 1.0,
                      .capacity = 1.0,
                      .latent = 10.0,
                      .conductivity = 1.0,
                      .start = 300.0,
                      .target = 350.0};
    assert_true(isinf(melt_time_held(&body, 1.0, 340.0, INFINITY)));
    assert_true(isinf(melt_time_held(&body, 1.0, 400.0, 0.0)));
    assert_true(isinf(melt_time_powered(&body, 1.0, -5.0)));
    assert_close(melt_time_powered(&body, 2.0, 5.0), 24.0, 1e-12);
    body.conductivity = 0.0;
    assert_true(isinf(melt_time_held(&body, 1.0, 400.0, INFINITY)));
}

// A slab of wax on a hot plate, 1 cm high; a quarter of a second of film.
static const char slab[] =
    "frames: 7\n"
    "fps: 24\n"
    "domain: {size: [8 cm, 4 cm], cell: 2 mm}\n"
    "materials:\n"
    "  wax: {density: 800, viscosity: 1, heat_capacity: 2000, conductivity: 0.2,\n"
    "        latent_heat: 100 kJ/kg, solidus: 320 K, liquidus: 330 K,\n"
    "        freezing_liquidus: 325 K, freezing_solidus: 315 K}\n"
    "liquids: [{shape: {box: {min: [0, 0], max: [8 cm, 1 cm]}}, temperature: 300 K}]\n";

static treacle_status ask(treacle_context* ctx, int count, const char* const* sets,
                          treacle_heat_estimate* out) {
    treacle_scene* scene = NULL;
    treacle_status status =
        treacle_scene_parse(ctx, "a.yaml", slab, strlen(slab), count, sets, &scene);
    if (status == TREACLE_OK) {
        status = treacle_scene_heat(scene, 0, out);
    } else if (scene != NULL) {
        print_message("%s", treacle_scene_report(scene));
    }
    treacle_scene_destroy(scene);
    return status;
}

static void test_of_all_that_heats_the_fastest_is_told(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    treacle_heat_estimate found;
    const char* const nothing[] = {"fps=24"};
    assert_int_equal(ask(ctx, 1, nothing, &found), TREACLE_OK);
    assert_true(isinf(found.seconds));
    const char* const sets[] = {"heat_walls=[{side: bottom, temperature: 400 K}]", "heat.loss=10",
                                "heat.air=340 K", "heat.speed=60"};
    assert_int_equal(ask(ctx, 1, sets, &found), TREACLE_OK);
    melt_body wax = {800.0, 2000.0, 1e5, 0.2, 300.0, 325.0};
    double seconds = melt_time_held(&wax, 0.01, 400.0, INFINITY);
    assert_close(found.seconds, seconds, 1e-9 * seconds);
    assert_true(found.turns && found.melts);
    assert_string_equal(found.by, "the bottom side");
    assert_close(found.stefan, 2000.0 * 75.0 / 1e5, 1e-9);
    assert_close(found.fourier, 0.2 / 1.6e6 * 0.25 / 1e-4, 1e-12);
    assert_int_equal(ask(ctx, 4, sets, &found), TREACLE_OK);
    assert_close(found.seconds, seconds, 1e-9 * seconds); // the air is slower
    assert_close(found.fourier, 60.0 * 0.2 / 1.6e6 * 0.25 / 1e-4, 1e-11);
    unit_context_end(ctx);
}

static void test_powers_solids_and_air_are_told(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    treacle_heat_estimate found;
    // 8 cm x 1 cm x 2 mm of wax.
    double joules = 800.0 * 1.6e-6 * (2000.0 * 25.0 + 1e5);
    const char* const power[] = {
        "heat_sources=[{shape: {sphere: {radius: 5 mm, centre: [2 cm, 5 mm]}}, power: 40 W}]"};
    assert_int_equal(ask(ctx, 1, power, &found), TREACLE_OK);
    assert_close(found.seconds, joules / 40.0, 0.02 * joules / 40.0);
    assert_string_equal(found.by, "heat source 1");
    const char* const elsewhere[] = {
        "heat_sources=[{shape: {sphere: {radius: 5 mm, centre: [2 cm, 3 cm]}}, power: 40 W}]"};
    assert_int_equal(ask(ctx, 1, elsewhere, &found), TREACLE_OK);
    assert_true(isinf(found.seconds));
    const char* const flux[] = {"heat_walls=[{side: bottom, flux: 1e5}]"};
    assert_int_equal(ask(ctx, 1, flux, &found), TREACLE_OK);
    assert_close(found.seconds, joules / 16.0, 0.02 * joules / 16.0);
    const char* const solid[] = {"solids={plate: {shape: {box: {min: [0, -1, -1], max: [1, 0, 1]}},"
                                 " temperature: 400 K}}"};
    assert_int_equal(ask(ctx, 1, solid, &found), TREACLE_OK);
    assert_string_equal(found.by, "solid plate");
    const char* const cold[] = {"liquids[0].temperature=350 K", "heat={loss: 50, air: 280 K}"};
    assert_int_equal(ask(ctx, 2, cold, &found), TREACLE_OK);
    assert_true(found.turns && !found.melts);
    assert_close(found.target, 320.0, 1e-9); // between the temperatures of freezing
    assert_close(found.length, 0.005, 1e-9);
    assert_string_equal(found.by, "the air");
    unit_context_end(ctx);
}

static void test_a_liquid_that_does_not_turn_comes_half_way(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    treacle_heat_estimate found;
    const char* const sets[] = {"materials.wax.latent_heat=0",
                                "heat_walls=[{side: bottom, temperature: 400 K}]"};
    assert_int_equal(ask(ctx, 2, sets, &found), TREACLE_OK);
    assert_false(found.turns);
    assert_close(found.target, 350.0, 1e-9);
    unit_context_end(ctx);
}

static treacle_status ask_all(treacle_context* ctx, void* data) {
    (void)data;
    treacle_heat_estimate found;
    const char* const sets[] = {
        "heat_sources=[{shape: {sphere: {radius: 5 mm, centre: [2 cm, 5 mm]}}, power: 40 W}]"};
    return ask(ctx, 1, sets, &found);
}

static void test_asking_survives_every_failed_allocation(void** state) {
    (void)state;
    ALLOC_FAILURE_CHECK(ask_all, NULL);
}

static void test_there_are_no_other_liquids(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    treacle_scene* scene = NULL;
    treacle_heat_estimate found;
    assert_int_equal(treacle_scene_parse(ctx, "a.yaml", slab, strlen(slab), 0, NULL, &scene),
                     TREACLE_OK);
    assert_int_equal(treacle_scene_heat(scene, 1, &found), TREACLE_ERR_USAGE);
    assert_int_equal(treacle_scene_heat(scene, -1, &found), TREACLE_ERR_USAGE);
    treacle_scene_destroy(scene);
    unit_context_end(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fronts_go_as_stefan_and_neumann_say),
        cmocka_unit_test(test_without_latent_heat_the_front_is_an_isotherm),
        cmocka_unit_test(test_what_is_not_reached_never_comes),
        cmocka_unit_test(test_of_all_that_heats_the_fastest_is_told),
        cmocka_unit_test(test_powers_solids_and_air_are_told),
        cmocka_unit_test(test_a_liquid_that_does_not_turn_comes_half_way),
        cmocka_unit_test(test_asking_survives_every_failed_allocation),
        cmocka_unit_test(test_there_are_no_other_liquids),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
