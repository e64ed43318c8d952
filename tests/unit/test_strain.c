// The law of elastic strain in homogeneous flow, against closed forms.
#include <math.h>

#include "unit.h"

#include "phys/strain.h"

static const double pi = 3.14159265358979323846;

// Simple shear u = (rate y, 0, 0).
static strain_motion shear_of(double rate) {
    return (strain_motion){.stretch = {[5] = 0.5 * rate}, .spin = {0.0, 0.0, -0.5 * rate}};
}

static strain_law law_of(treacle_strain_rate rate, double decay, double yield) {
    return (strain_law){.modulus = 2.0,
                        .decay = decay,
                        .yield = yield,
                        .rate = rate,
                        .decays_whole = rate == TREACLE_STRAIN_CONVECTED};
}

static void advance(const strain_law* law, double dt, const strain_motion* motion,
                    double eps[STRAIN_PARTS]) {
    strain_step step = strain_begin(law, dt);
    strain_advance(&step, motion, eps);
}

typedef struct start_up {
    double stress, first_difference, largest, largest_at; // in units of G = modulus / 2
} start_up;

// Shear from rest, Wi = rate / alpha, for a time in units of 1 / alpha.
static start_up start(treacle_strain_rate kind, double wi, double time, double step) {
    strain_law law = law_of(kind, 1.0, 0.0);
    strain_motion motion = shear_of(wi);
    double eps[STRAIN_PARTS] = {0};
    start_up out = {0};
    for (int i = 0; i < (int)lround(time / step); ++i) {
        advance(&law, step, &motion, eps);
        out.stress = 2.0 * eps[5];
        out.first_difference = 2.0 * (eps[0] - eps[1]);
        if (out.stress > out.largest) {
            out.largest = out.stress;
            out.largest_at = (i + 1) * step;
        }
    }
    return out;
}

// SUITE 9a, alpha dt = 0.01.
static void test_start_up_of_corotational_shear(void** state) {
    (void)state;
    const double cases[][3] = {{1.0, 0.60393, 1.56}, {2.0, 0.76472, 0.78}};
    for (int i = 0; i < 2; ++i) {
        double wi = cases[i][0];
        for (double t = 0.1; t < 4.0; t += 0.3) {
            double exact = wi / (1 + wi * wi) * (1 - exp(-t) * (cos(wi * t) - wi * sin(wi * t)));
            assert_close(start(TREACLE_STRAIN_COROTATIONAL, wi, t, 0.01).stress, exact, 1e-4);
        }
        start_up to_end = start(TREACLE_STRAIN_COROTATIONAL, wi, 20.0, 0.01);
        assert_close(to_end.largest, cases[i][1], 1e-4);
        assert_close(to_end.largest_at, cases[i][2], 0.011);
        assert_close(to_end.first_difference, 2 * wi * wi / (1 + wi * wi), 1e-4);
    }
}

static void test_start_up_of_upper_convected_shear(void** state) {
    (void)state;
    for (double wi = 0.5; wi <= 2.0; wi += 0.5) {
        for (double t = 0.2; t < 4.0; t += 0.4) {
            start_up at = start(TREACLE_STRAIN_CONVECTED, wi, t, 0.01);
            assert_close(at.stress, wi * (1 - exp(-t)), 1e-4);
            assert_close(at.first_difference, 2 * wi * wi * (1 - exp(-t) * (1 + t)), 1e-4);
        }
    }
}

static void test_steady_stress_does_not_depend_on_the_step(void** state) {
    (void)state;
    const double steps[] = {0.01, 1.0, 100.0}; // alpha dt
    const treacle_strain_rate kinds[] = {TREACLE_STRAIN_FIXED, TREACLE_STRAIN_CONVECTED};
    for (int i = 0; i < 3; ++i) {
        for (int k = 0; k < 2; ++k) {
            double wi = 0.001; // slow: a step of 100 must not turn the strain
            assert_close(start(kinds[k], wi, 2000.0, steps[i]).stress / wi, 1.0, 1e-3);
        }
    }
}

// SUITE 9b: exp(-alpha t), and with a yield point until |eps'| = gamma.
static void test_relaxation_ends_at_the_yield_point(void** state) {
    (void)state;
    const strain_motion rest = {0};
    double free[STRAIN_PARTS] = {[5] = 0.3}, held[STRAIN_PARTS] = {[5] = 0.3};
    strain_law maxwell = law_of(TREACLE_STRAIN_COROTATIONAL, 5.0, 0.0);
    strain_law plastic = law_of(TREACLE_STRAIN_COROTATIONAL, 5.0, 0.1);
    for (int i = 0; i < 200; ++i) {
        advance(&maxwell, 0.05, &rest, free);
        advance(&plastic, 0.05, &rest, held);
        double t = 0.05 * (i + 1), start = 0.3 * sqrt(2.0);
        assert_close(free[5], 0.3 * exp(-5.0 * t), 1e-12);
        assert_close(strain_norm(held), 0.1 + (start - 0.1) * exp(-5.0 * t), 1e-12);
    }
    assert_close(held[5], 0.1 / sqrt(2.0), 1e-12); // stress tau_y = modulus gamma / sqrt 2
}

static void test_steady_yielding_flow_is_bingham(void** state) {
    (void)state;
    const double steps[] = {0.01, 1.0, 100.0};
    strain_law law = law_of(TREACLE_STRAIN_FIXED, 10.0, 0.2);
    double rate = 3.0;
    for (int i = 0; i < 3; ++i) {
        strain_motion motion = shear_of(rate);
        double eps[STRAIN_PARTS] = {0};
        for (int n = 0; n < 4000; ++n) {
            advance(&law, steps[i] / 10.0, &motion, eps);
        }
        double stress = law.modulus * eps[5];
        assert_close(stress, 2.0 * 0.2 / sqrt(2.0) + 2.0 / (2.0 * 10.0) * rate, 1e-3 * stress);
    }
}

static void test_instant_decay_is_perfect_plasticity(void** state) {
    (void)state;
    strain_law law = law_of(TREACLE_STRAIN_FIXED, INFINITY, 0.05);
    strain_motion motion = shear_of(2.0);
    double eps[STRAIN_PARTS] = {0};
    for (int i = 0; i < 100; ++i) {
        advance(&law, 0.01, &motion, eps);
    }
    assert_close(strain_norm(eps), 0.05, 1e-12);
}

static void test_without_yield_strain_is_kept(void** state) {
    (void)state;
    strain_law law = law_of(TREACLE_STRAIN_FIXED, 100.0, INFINITY);
    strain_motion motion = shear_of(1.0);
    double eps[STRAIN_PARTS] = {0};
    for (int i = 0; i < 300; ++i) {
        advance(&law, 0.01, &motion, eps);
    }
    assert_close(eps[5], 1.5, 1e-9);
}

// SUITE 9c: G' and G'' of a Maxwell fluid at De = 1, by projection on sin and cos.
static void test_oscillating_shear_stores_and_loses(void** state) {
    (void)state;
    enum { PERIODS = 12, STEPS = 2000 };
    strain_law law = law_of(TREACLE_STRAIN_COROTATIONAL, 1.0, 0.0);
    double eps[STRAIN_PARTS] = {0}, in_phase = 0.0, out_of_phase = 0.0, dt = 2.0 * pi / STEPS;
    double amplitude = 1e-3;
    for (int i = 0; i < PERIODS * STEPS; ++i) {
        strain_motion motion = shear_of(amplitude * cos((i + 0.5) * dt)); // strain: sin
        advance(&law, dt, &motion, eps);
        if (i >= (PERIODS - 1) * STEPS) {
            in_phase += 2.0 * eps[5] * sin((i + 1) * dt) * 2.0 / STEPS / amplitude;
            out_of_phase += 2.0 * eps[5] * cos((i + 1) * dt) * 2.0 / STEPS / amplitude;
        }
    }
    assert_close(in_phase, 0.5, 1e-3);
    assert_close(out_of_phase, 0.5, 1e-3);
}

// SUITE 9d: a turn in steps of a degree.
static void test_rotation_turns_strain_and_keeps_its_size(void** state) {
    (void)state;
    strain_law law = law_of(TREACLE_STRAIN_COROTATIONAL, 0.0, INFINITY);
    strain_motion motion = {.spin = {0.0, 0.0, pi / 180.0}};
    double eps[STRAIN_PARTS] = {0.01, -0.01};
    for (int degree = 1; degree <= 360; ++degree) {
        advance(&law, 1.0, &motion, eps);
        double angle = degree * pi / 180.0;
        assert_close(eps[0], 0.01 * cos(2.0 * angle), 1e-5);
        assert_close(eps[5], 0.01 * sin(2.0 * angle), 1e-5);
        assert_close(strain_norm(eps), 0.01 * sqrt(2.0), 1e-12);
    }
}

static void test_without_turning_rotation_goes_unnoticed(void** state) {
    (void)state;
    strain_law law = law_of(TREACLE_STRAIN_FIXED, 0.0, INFINITY);
    strain_motion motion = {.spin = {0.0, 0.0, pi / 180.0}};
    double eps[STRAIN_PARTS] = {0.01, -0.01};
    for (int degree = 1; degree <= 90; ++degree) {
        advance(&law, 1.0, &motion, eps);
    }
    assert_close(eps[0], 0.01, 1e-15); // should be -0.01: the stress has the wrong sign
}

// Strong compression in one long step: eps may not fall below -1/2.
static void test_convected_strain_stays_positive_definite(void** state) {
    (void)state;
    strain_law law = law_of(TREACLE_STRAIN_CONVECTED, 1.0, 0.0);
    for (double step = 0.01; step < 20.0; step *= 1.7) {
        strain_motion motion = {.stretch = {1.0, -1.0, 0.0, 0.1, -0.2, 0.3}, .spin = {1, -2, 0.5}};
        double eps[STRAIN_PARTS] = {0};
        for (int i = 0; i < 50; ++i) {
            advance(&law, step, &motion, eps);
            double xx = eps[0] + 0.5, yy = eps[1] + 0.5, zz = eps[2] + 0.5;
            double minor = xx * yy - eps[5] * eps[5];
            double whole = xx * (yy * zz - eps[3] * eps[3]) -
                           eps[5] * (eps[5] * zz - eps[3] * eps[4]) +
                           eps[4] * (eps[5] * eps[3] - yy * eps[4]);
            assert_true(xx > 0.0 && minor > 0.0 && whole > 0.0);
        }
    }
}

// 0 <= keep <= gain <= 1, whatever comes in.
// Entries that no stretch has become the nearest that one has; all others stay as they are.
static void test_strain_is_kept_whole(void** state) {
    (void)state;
    double sound[STRAIN_PARTS] = {2.0, -0.3, 0.1, 0.05, -0.1, 0.2}, same[STRAIN_PARTS];
    memcpy(same, sound, sizeof(same));
    strain_keep_whole(same);
    assert_memory_equal(same, sound, sizeof(same));
    // c = [[2, 3], [3, 2]] has eigenvalues 5 and -1; without the last 2.5 is left in all entries.
    double torn[STRAIN_PARTS] = {0.5, 0.5, 0.0, 0.0, 0.0, 1.5};
    strain_keep_whole(torn);
    assert_close(torn[0], 0.75, 1e-12);
    assert_close(torn[1], 0.75, 1e-12);
    assert_close(torn[2], 0.0, 1e-12);
    assert_close(torn[5], 1.25, 1e-12);
    double far[STRAIN_PARTS] = {400.0, 0.0, 0.0, 0.0, 0.0, 0.0};
    strain_keep_whole(far);
    assert_close(far[0], 0.5 * (STRAIN_LONGEST * STRAIN_LONGEST - 1.0), 1e-9);
    assert_close(far[1], 0.0, 1e-12);
}

static void test_what_freezes_has_no_strain(void** state) {
    (void)state;
    float eps[STRAIN_PARTS] = {0.4f, -0.2f, -0.2f, 0.1f, 0.0f, 0.3f};
    strain_melt(0.0, 0.75, eps); // what is solid keeps its own
    assert_true(eps[0] == 0.4f);
    strain_melt(0.75, 0.5, eps); // half of the solid is new
    assert_close((double)eps[0], 0.2, 1e-7);
    assert_close((double)eps[5], 0.15, 1e-7);
    strain_melt(0.5, 1.0, eps);
    strain_melt(1.0, 0.0, eps);
    for (int i = 0; i < STRAIN_PARTS; ++i) {
        assert_true(eps[i] == 0.0f);
    }
}

static void test_factors_keep_their_order(void** state) {
    (void)state;
    const double sizes[] = {0.0, 1e-9, 0.01, 0.3, 10.0, 1e6};
    const double decays[] = {0.0, 1e-6, 1.0, 1e6, INFINITY};
    const double yields[] = {0.0, 0.1, INFINITY};
    for (int i = 0; i < 6 * 6 * 5 * 3; ++i) {
        strain_law law = law_of(TREACLE_STRAIN_FIXED, decays[i / 36 % 5], yields[i / 180]);
        double eps[STRAIN_PARTS] = {[5] = sizes[i % 6]};
        double rate[STRAIN_PARTS] = {[0] = sizes[i / 6 % 6], [1] = -sizes[i / 6 % 6]};
        strain_step step = strain_begin(&law, 0.01);
        strain_factors k = strain_yield(&step, eps, rate);
        assert_true(k.keep >= 0.0 && k.keep <= k.gain + 1e-15 && k.gain <= 1.0 + 1e-15);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_start_up_of_corotational_shear),
        cmocka_unit_test(test_start_up_of_upper_convected_shear),
        cmocka_unit_test(test_steady_stress_does_not_depend_on_the_step),
        cmocka_unit_test(test_relaxation_ends_at_the_yield_point),
        cmocka_unit_test(test_steady_yielding_flow_is_bingham),
        cmocka_unit_test(test_instant_decay_is_perfect_plasticity),
        cmocka_unit_test(test_without_yield_strain_is_kept),
        cmocka_unit_test(test_oscillating_shear_stores_and_loses),
        cmocka_unit_test(test_rotation_turns_strain_and_keeps_its_size),
        cmocka_unit_test(test_without_turning_rotation_goes_unnoticed),
        cmocka_unit_test(test_convected_strain_stays_positive_definite),
        cmocka_unit_test(test_strain_is_kept_whole),
        cmocka_unit_test(test_what_freezes_has_no_strain),
        cmocka_unit_test(test_factors_keep_their_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
