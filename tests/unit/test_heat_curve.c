#include "phys/heat_curve.h"

#include "unit.h"

static const heat_curve wax = {.capacity = 2.0,
                               .latent = 100.0,
                               .melt = {320.0, 330.0},
                               .freeze = {310.0, 325.0},
                               .reference = 273.0};
static const heat_curve ice = {.capacity = 2.0,
                               .latent = 100.0,
                               .melt = {300.0, 300.0},
                               .freeze = {300.0, 300.0},
                               .reference = 273.0};

static void test_energy_of_a_state_gives_it_back(void** state) {
    (void)state;
    for (double t = 280.0; t < 360.0; t += 0.7) {
        double melted = heat_curve_melted(&wax, t, 0.0);
        heat_state s = heat_curve_at(&wax, heat_curve_energy(&wax, t, melted), melted);
        assert_close(s.temperature, t, 1e-9);
        assert_close(s.melted, melted, 1e-12);
    }
}

static void test_a_sharp_melting_point_holds_the_temperature(void** state) {
    (void)state;
    double begin = heat_curve_energy(&ice, 300.0, 0.0);
    for (int k = 1; k < 10; ++k) {
        heat_state s = heat_curve_at(&ice, begin + 10.0 * k, 0.0);
        assert_close(s.temperature, 300.0, 1e-12);
        assert_close(s.melted, 0.1 * k, 1e-12);
        assert_close(s.slope, 0.0, 0.0);
    }
    assert_close(heat_curve_at(&ice, begin + 120.0, 0.0).temperature, 310.0, 1e-9);
}

// Heated to 340 K and cooled to 300 K: up along the melting curve, down along the freezing one.
static void test_hysteresis_is_a_loop_that_closes(void** state) {
    (void)state;
    double energy = heat_curve_energy(&wax, 300.0, 0.0), melted = 0.0, up_at_half = 0.0;
    double last = 0.0, down_at_half = 0.0;
    for (int i = 0; i < 180; ++i) {
        energy += 1.0;
        heat_state s = heat_curve_at(&wax, energy, melted);
        assert_true(s.temperature >= last);
        last = s.temperature;
        up_at_half = s.melted < 0.5 ? s.temperature : up_at_half;
        melted = s.melted;
    }
    assert_close(melted, 1.0, 1e-12);
    for (int i = 0; i < 180; ++i) {
        energy -= 1.0;
        heat_state s = heat_curve_at(&wax, energy, melted);
        assert_true(s.temperature <= last);
        last = s.temperature;
        down_at_half = s.melted > 0.5 ? s.temperature : down_at_half;
        melted = s.melted;
    }
    assert_close(melted, 0.0, 1e-12);
    assert_close(last, 300.0, 1e-9);
    assert_close(up_at_half, 325.0, 0.2);
    assert_close(down_at_half, 317.5, 0.2);
}

// Wax at 322 K is solid on the way up and liquid on the way down.
static void test_laws_see_how_far_it_has_melted_and_not_how_warm_it_is(void** state) {
    (void)state;
    assert_close((double)heat_curve_law_temperature(&wax, 322.0f, 0.0f), 320.0, 0.0);
    assert_close((double)heat_curve_law_temperature(&wax, 322.0f, 0.5f), 325.0, 0.0);
    assert_close((double)heat_curve_law_temperature(&wax, 322.0f, 1.0f), 330.0, 0.0);
    assert_close((double)heat_curve_law_temperature(&wax, 300.0f, 0.0f), 300.0, 0.0);
    assert_close((double)heat_curve_law_temperature(&wax, 350.0f, 1.0f), 350.0, 0.0);
    const heat_curve honey = {.capacity = 2.0, .reference = 273.0};
    assert_close((double)heat_curve_law_temperature(&honey, 322.0f, 0.0f), 322.0, 0.0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_energy_of_a_state_gives_it_back),
        cmocka_unit_test(test_a_sharp_melting_point_holds_the_temperature),
        cmocka_unit_test(test_hysteresis_is_a_loop_that_closes),
        cmocka_unit_test(test_laws_see_how_far_it_has_melted_and_not_how_warm_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
