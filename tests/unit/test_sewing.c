// The classifier of patterns on belts sees the geometrical model [Brun15], with noise, before it
// sees any simulation.
//
// Lengths in coil radii, times in radius over speed of the thread, v = V/U; the contact point is at
// (x, z) as seen from the nozzle and the thread comes to lie in the direction theta:
//
//     x' = cos theta + v,  z' = sin theta,  theta' = sqrt(r) (1 + A r) sin phi,
//     phi = theta - psi,  A = b^2 cos phi / (1 - b cos phi),  b = 0.715.
#include "treacle/sewing.h"

#include "alloc_failure.h"
#include "unit.h"

enum { SAMPLES = 512, STEPS = 20 };
static const double pi = 3.14159265358979323846;

typedef struct model {
    double x, z, theta;
} model;

static model slope_of(model m, double v) {
    const double b = 0.715;
    double r = hypot(m.x, m.z), phi = m.theta - atan2(m.z, m.x);
    double a = b * b * cos(phi) / (1.0 - b * cos(phi));
    return (model){cos(m.theta) + v, sin(m.theta), sqrt(r) * (1.0 + a * r) * sin(phi)};
}

static model ahead(model m, model slope, double dt) {
    return (model){m.x + dt * slope.x, m.z + dt * slope.z, m.theta + dt * slope.theta};
}

static model advance(model m, double v, double dt) {
    model a = slope_of(m, v), b = slope_of(ahead(m, a, 0.5 * dt), v);
    model c = slope_of(ahead(m, b, 0.5 * dt), v), d = slope_of(ahead(m, c, dt), v);
    m = ahead(ahead(m, a, dt / 6.0), d, dt / 6.0);
    return ahead(ahead(m, b, dt / 3.0), c, dt / 3.0);
}

// Evenly spread from -1 to 1; a hash, so that every machine has the same.
static double noise_of(unsigned* state) {
    *state = *state * 1664525u + 1013904223u;
    return (double)(*state >> 8) / (1 << 23) - 1.0;
}

// About `turns` turns of the model, after it has found its pattern.
static void draw(double v, model m, double turns, double noise, treacle_contact* out) {
    double step = 2.0 * pi * turns / SAMPLES, dt = step / STEPS;
    unsigned state = 7;
    for (double t = 0.0; t < 120.0; t += 0.02) {
        m = advance(m, v, 0.02);
    }
    for (int i = 0; i < SAMPLES; ++i) {
        out[i] = (treacle_contact){step * i, m.x + noise * noise_of(&state),
                                   m.z + noise * noise_of(&state)};
        for (int k = 0; k < STEPS; ++k) {
            m = advance(m, v, dt);
        }
    }
}

static treacle_sewing classified(const treacle_contact* contacts) {
    treacle_context* ctx = unit_context(1);
    treacle_sewing out;
    assert_int_equal(treacle_sewing_classify(ctx, 1.0, SAMPLES, contacts, &out), TREACLE_OK);
    unit_context_end(ctx);
    return out;
}

static const model usual = {0.5, 0.3, 2.0};

typedef struct known {
    double v;
    model from;
    treacle_pattern pattern;
    double frequency; // in that of a coil on a belt at rest
} known;

static const known patterns[] = {
    {0.02, {0.5, 0.3, 2.0}, TREACLE_PATTERN_TRANSLATED_COILING, 1.0},
    {0.10, {0.5, 0.3, 2.0}, TREACLE_PATTERN_TRANSLATED_COILING, 0.982},
    {0.20, {0.5, 0.3, 2.0}, TREACLE_PATTERN_TRANSLATED_COILING, 0.929},
    {0.32, {0.5, 0.3, 2.0}, TREACLE_PATTERN_ALTERNATING_LOOPS, 0.95},
    {0.40, {0.5, 0.3, 2.0}, TREACLE_PATTERN_ALTERNATING_LOOPS, 0.975},
    {0.50, {0.5, 0.3, 2.0}, TREACLE_PATTERN_ALTERNATING_LOOPS, 0.91},
    {0.53, {0.5, 0.3, 2.0}, TREACLE_PATTERN_ALTERNATING_LOOPS, 0.87},
    {0.57, {1.2, 0.0, 0.5}, TREACLE_PATTERN_W, 0.96},
    {0.60, {1.2, 0.0, 0.5}, TREACLE_PATTERN_W, 0.97},
    {0.60, {0.5, 0.3, 2.0}, TREACLE_PATTERN_MEANDERS, 0.87},
    {0.64, {0.5, 0.3, 2.0}, TREACLE_PATTERN_MEANDERS, 0.90},
    {0.76, {0.5, 0.3, 2.0}, TREACLE_PATTERN_MEANDERS, 1.0},
    {0.85, {0.5, 0.3, 2.0}, TREACLE_PATTERN_MEANDERS, 1.12},
    {0.95, {0.5, 0.3, 2.0}, TREACLE_PATTERN_MEANDERS, 1.37},
};

static void check_patterns(double turns, double noise, double tolerance) {
    static treacle_contact contacts[SAMPLES];
    for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); ++i) {
        const known* k = &patterns[i];
        draw(k->v, k->from, turns, noise, contacts);
        treacle_sewing found = classified(contacts);
        double frequency = 2.0 * pi * found.frequency;
        if (found.pattern != k->pattern || !(fabs(frequency / k->frequency - 1.0) < tolerance)) {
            fail_msg("v = %g over %g turns with noise %g: %s at %g, expected %s at %g", k->v, turns,
                     noise, treacle_pattern_name(found.pattern), frequency,
                     treacle_pattern_name(k->pattern), k->frequency);
        }
    }
}

static void test_every_pattern_of_the_model_is_known(void** state) {
    (void)state;
    check_patterns(24.0, 0.0, 0.02);
}

static void test_noise_does_not_hide_it(void** state) {
    (void)state;
    check_patterns(24.0, 0.25, 0.02);
}

static void test_ten_turns_are_enough(void** state) {
    (void)state;
    check_patterns(10.0, 0.1, 0.05);
}

static void test_a_fast_belt_draws_it_straight(void** state) {
    (void)state;
    static treacle_contact contacts[SAMPLES];
    unsigned noise = 3;
    for (int i = 0; i < SAMPLES; ++i) { // the model has no place at rest there
        contacts[i] = (treacle_contact){0.1 * i, 3.0 + 0.05 * noise_of(&noise),
                                        0.02 * i + 0.1 * noise_of(&noise)};
    }
    assert_int_equal(classified(contacts).pattern, TREACLE_PATTERN_STRAIGHT);
}

// Two coils of unlike size in turn: the model has none.
static void test_double_coils_are_told_from_single_ones(void** state) {
    (void)state;
    static treacle_contact contacts[SAMPLES];
    unsigned noise = 5;
    for (int i = 0; i < SAMPLES; ++i) {
        double t = 24.0 * i / SAMPLES, w = 2.0 * pi * t;
        contacts[i] = (treacle_contact){t, cos(w) + 0.3 * cos(0.5 * w) + 0.1 * noise_of(&noise),
                                        sin(w) + 0.3 * sin(0.5 * w + 0.4) + 0.1 * noise_of(&noise)};
    }
    treacle_sewing found = classified(contacts);
    assert_int_equal(found.pattern, TREACLE_PATTERN_DOUBLE_COILING);
    assert_true(fabs(found.frequency - 1.0) < 0.02);
}

static treacle_status classify_all(treacle_context* ctx, void* data) {
    treacle_sewing out;
    return treacle_sewing_classify(ctx, 1.0, SAMPLES, data, &out);
}

static void test_what_cannot_be_classified_is_refused(void** state) {
    (void)state;
    static treacle_contact contacts[SAMPLES];
    treacle_context* ctx = unit_context(1);
    treacle_sewing out;
    draw(0.7, usual, 10.0, 0.0, contacts);
    ALLOC_FAILURE_CHECK(classify_all, contacts);
    assert_int_equal(treacle_sewing_classify(ctx, 1.0, 8, contacts, &out), TREACLE_ERR_USAGE);
    assert_int_equal(treacle_sewing_classify(ctx, 0.0, SAMPLES, contacts, &out), TREACLE_ERR_USAGE);
    contacts[100].time += 0.2;
    assert_int_equal(treacle_sewing_classify(ctx, 1.0, SAMPLES, contacts, &out), TREACLE_ERR_USAGE);
    assert_string_equal(treacle_pattern_name(TREACLE_PATTERN_W), "W");
    assert_string_equal(treacle_pattern_name((treacle_pattern)-1), "unknown");
    unit_context_end(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_pattern_of_the_model_is_known),
        cmocka_unit_test(test_noise_does_not_hide_it),
        cmocka_unit_test(test_ten_turns_are_enough),
        cmocka_unit_test(test_a_fast_belt_draws_it_straight),
        cmocka_unit_test(test_double_coils_are_told_from_single_ones),
        cmocka_unit_test(test_what_cannot_be_classified_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
