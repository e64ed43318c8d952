// The law of cracks at one bit of material [crack.1 to crack.5].
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <math.h>

#include "phys/fracture.h"

static const strain_law gel = {.modulus = 1e4};

// What is carried along x at a strain, after the largest so far.
static double stress_at(const crack_law* law, double e, double* damage) {
    const double eps[STRAIN_PARTS] = {e};
    *damage = fracture_damage(law, eps, *damage);
    return fracture_kept(*damage, eps) * gel.modulus * e;
}

static void test_stress_rises_to_the_strength_and_falls(void** state) {
    (void)state;
    crack_law law = fracture_law_of(&gel, 50.0, 0.02, 0.005);
    double damage = 0.0;
    assert_true(fabs(law.first - 0.005) < 1e-15 && fabs(law.last - 0.08) < 1e-15);
    assert_true(fabs(stress_at(&law, 0.0049, &damage) - 49.0) < 1e-9 && damage == 0.0);
    double middle = 0.5 * (law.first + law.last);
    assert_true(fabs(stress_at(&law, middle, &damage) - 25.0) < 1e-9);
    assert_true(fabs(stress_at(&law, 0.5 * middle, &damage) - 12.5) < 1e-9); // along the secant
    assert_true(stress_at(&law, 0.081, &damage) == 0.0 && damage == 1.0);
    assert_true(stress_at(&law, 0.001, &damage) == 0.0);               // it stays broken
    assert_true(fabs(stress_at(&law, -0.001, &damage) + 10.0) < 1e-9); // closed, it presses
}

// The area below the curve is the energy over the width of the band, and so is what is booked.
static void test_energy_does_not_depend_on_the_cell(void** state) {
    (void)state;
    const double cells[] = {0.04, 0.01, 0.0025};
    for (int i = 0; i < 3; ++i) {
        crack_law law = fracture_law_of(&gel, 50.0, 0.02, cells[i]);
        enum { STEPS = 20000 };
        double damage = 0.0, area = 0.0, booked = 0.0, before = 0.0, step = law.last / STEPS;
        for (int n = 1; n <= STEPS; ++n) {
            double was = damage, now = stress_at(&law, n * step, &damage);
            area += 0.5 * (before + now) * step;
            booked += gel.modulus * fracture_released(&law, was, damage);
            before = now;
        }
        assert_true(fabs(area * 2.0 * cells[i] / 0.02 - 1.0) < 1e-3);
        assert_true(fabs(booked * 2.0 * cells[i] / 0.02 - 1.0) < 1e-3);
    }
    crack_law wide = fracture_law_of(&gel, 50.0, 0.0001, 0.04); // too wide for its strength
    assert_true(wide.last == 1.2 * wide.first && gel.modulus * wide.first < 50.0);
}

static void test_strengths_differ_by_a_hundredth(void** state) {
    (void)state;
    crack_law law = fracture_law_of(&gel, 50.0, 0.02, 0.005);
    double least = 1.0, most = 0.0;
    for (uint64_t id = 0; id < 1000; ++id) {
        crack_law own = fracture_law_at(&law, 7, id);
        least = fmin(least, own.first / law.first);
        most = fmax(most, own.first / law.first);
        assert_true(fabs(own.first * own.last - law.first * law.last) < 1e-15); // the same energy
    }
    assert_true(least >= 0.99 && least < 0.9905 && most <= 1.0 && most > 0.9995);
    assert_true(fracture_law_of(&gel, 0.0, 1.0, 0.01).last == 0.0);
}

// A crack sees tension in any direction, and an open one forgets what is pressed in it.
static void test_direction_does_not_matter(void** state) {
    (void)state;
    crack_law law = fracture_law_of(&gel, 50.0, 0.02, 0.005);
    const double along[STRAIN_PARTS] = {0.02, -0.01};
    double turned[STRAIN_PARTS] = {0.005, 0.005, 0.0, 0.0, 0.0, 0.015};
    double damage = fracture_damage(&law, along, 0.0);
    assert_true(damage > 0.5 && fabs(fracture_damage(&law, turned, 0.0) - damage) < 1e-12);
    float eps[STRAIN_PARTS];
    for (int i = 0; i < STRAIN_PARTS; ++i) {
        eps[i] = (float)turned[i];
    }
    strain_forget_pressed(0.0, eps);
    assert_true(fabsf(eps[0] - 0.01f) < 1e-7f && fabsf(eps[5] - 0.01f) < 1e-7f);
    float pressed[STRAIN_PARTS] = {-0.01f, -0.02f};
    strain_forget_pressed(0.0, pressed);
    assert_true(pressed[0] == -0.01f && pressed[1] == -0.02f); // closed: nothing is forgotten
}

static void test_melting_heals(void** state) {
    (void)state;
    assert_true(fracture_heal(0.8f, 0.5, 1.0) == 0.0f);
    assert_true(fabsf(fracture_heal(0.8f, 0.5, 0.0) - 0.4f) < 1e-6f); // what freezes is whole
    assert_true(fracture_heal(0.8f, 0.0, 0.5) == 0.8f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stress_rises_to_the_strength_and_falls),
        cmocka_unit_test(test_energy_does_not_depend_on_the_cell),
        cmocka_unit_test(test_strengths_differ_by_a_hundredth),
        cmocka_unit_test(test_direction_does_not_matter),
        cmocka_unit_test(test_melting_heals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
