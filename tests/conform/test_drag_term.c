// Bodies in the viscosity solver.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "conform/balls_fixture.h"
#include "unit/alloc_failure.h"

static const fixture_def boxes[] = {
    {.cells = {24, 24, 24}, .r = 100.0},
    {.cells = {24, 32, 24}, .has_floor = true, .r = 1e4},
    {.cells = {40, 40, 1}, .has_floor = true, .r = 3.0},
};
enum { BOXES = sizeof(boxes) / sizeof(boxes[0]) };

static void test_operator_conforms(void** state) {
    (void)state;
    for (int i = 0; i < BOXES; ++i) {
        balls s;
        balls_open(&s, &boxes[i], 0.5);
        linop op = viscosity_solver_linop(s.f.solver);
        conform_is_symmetric(&op);
        conform_rounded_agrees(&op);
        conform_is_positive(&op);
        conform_diagonal_agrees(&op);
        conform_preconditioner_is_symmetric_positive(&op, 1e-3);
        balls_close(&s);
    }
}

// The whole: faces of bodies as unknowns of an operator of their own, with u = row . y there.
static void test_operator_is_that_of_all_faces_seen_through_the_motions(void** state) {
    (void)state;
    for (int i = 0; i < BOXES; ++i) {
        balls s;
        balls_open(&s, &boxes[i], 0.5);
        linop op = viscosity_solver_linop(s.f.solver);
        double *x = conform_random_vector(&op, 5), *y = conform_vector(&op);
        op.apply(op.data, x, y);
        for (int n = 0; n < BODIES; ++n) {
            for (int64_t k = 0; k < s.count[n]; ++k) {
                int64_t slot = s.slot[n][k], t = slot / VISCOSITY_BLOCK;
                int a = (int)(slot % VISCOSITY_BLOCK) / TILE_CELLS;
                s.f.fixed[t * TILE_CELLS + slot % TILE_CELLS] &= (uint8_t) ~(1 << a);
            }
        }
        viscosity_solver* whole = NULL;
        viscosity_system plain = s.f.system;
        plain.body_count = 0;
        memset(plain.weights.owner, 0, sizeof(plain.weights.owner));
        assert_int_equal(viscosity_solver_create(s.f.ctx, &plain, &whole), TREACLE_OK);
        linop all = viscosity_solver_linop(whole);
        size_t tail = vec_length(all.space);
        double *u = conform_vector(&all), *au = conform_vector(&all);
        memcpy(u, x, tail * sizeof(double));
        for (int n = 0; n < BODIES; ++n) {
            for (int64_t k = 0; k < s.count[n]; ++k) {
                u[s.slot[n][k]] = mat6_dot(s.row[n][k], x + tail + n * BODY_MOTIONS);
            }
        }
        all.apply(all.data, u, au);
        double size = vec_measure(all.space, au).max;
        for (int n = 0; n < BODIES; ++n) {
            double sum[BODY_MOTIONS];
            mat6_multiply((const double(*)[BODY_MOTIONS])s.body[n].mass,
                          x + tail + n * BODY_MOTIONS, sum);
            for (int64_t k = 0; k < s.count[n]; ++k) {
                for (int m = 0; m < BODY_MOTIONS; ++m) {
                    sum[m] += s.row[n][k][m] * au[s.slot[n][k]];
                }
                au[s.slot[n][k]] = 0.0;
            }
            for (int m = 0; m < BODY_MOTIONS; ++m) {
                assert_true(fabs(sum[m] - y[tail + (size_t)(n * BODY_MOTIONS + m)]) < 1e-9 * size);
            }
        }
        for (size_t k = 0; k < tail; ++k) {
            assert_true(fabs(au[k] - y[k]) < 1e-10 * size);
        }
        vec_destroy(op.space, x);
        vec_destroy(op.space, y);
        vec_destroy(all.space, u);
        vec_destroy(all.space, au);
        viscosity_solver_destroy(whole);
        balls_close(&s);
    }
}

static solve_stats solve_random(const fixture_def* def, double mass, double** out) {
    balls s;
    balls_open(&s, def, mass);
    linop op = viscosity_solver_linop(s.f.solver);
    double *r = conform_random_vector(&op, 31), *x = conform_vector(&op), *b = conform_vector(&op);
    vec_copy(op.space, r, b);
    solve_params params = solve_params_default();
    solve_stats stats;
    assert_int_equal(viscosity_solve(s.f.solver, r, x, &params, &stats), TREACLE_OK);
    assert_true(stats.is_converged);
    double* y = conform_vector(&op);
    op.apply(op.data, x, y);
    vec_add_scaled(op.space, -1.0, b, y);
    assert_true(vec_measure(op.space, y).square <= 4e-12 * vec_measure(op.space, b).square);
    if (out != NULL) {
        *out = malloc(vec_length(op.space) * sizeof(double));
        memcpy(*out, x, vec_length(op.space) * sizeof(double));
    }
    vec_destroy(op.space, r);
    vec_destroy(op.space, x);
    vec_destroy(op.space, y);
    vec_destroy(op.space, b);
    balls_close(&s);
    return stats;
}

static int iterations_without_bodies(const fixture_def* def) {
    fixture f;
    fixture_open(&f, def);
    linop op = viscosity_solver_linop(f.solver);
    double *r = conform_random_vector(&op, 31), *x = conform_vector(&op);
    solve_params params = solve_params_default();
    solve_stats stats;
    assert_int_equal(viscosity_solve(f.solver, r, x, &params, &stats), TREACLE_OK);
    vec_destroy(op.space, r);
    vec_destroy(op.space, x);
    fixture_close(&f);
    return stats.iterations;
}

static void test_bodies_of_any_mass_cost_few_iterations(void** state) {
    (void)state;
    static const double r[] = {0.1, 1.0, 100.0, 1e4}, mass[] = {1e-3, 1.0, 100.0};
    for (int i = 0; i < 8; ++i) {
        fixture_def def = {.cells = {32, 32, 32}, .has_floor = i < 4, .r = r[i % 4]};
        int plain = iterations_without_bodies(&def);
        for (int k = 0; k < 3; ++k) {
            int with = solve_random(&def, mass[k], NULL).iterations;
            assert_true(with <= plain + 4);
        }
    }
}

static void test_bits_depend_neither_on_threads_nor_on_the_instruction_set(void** state) {
    (void)state;
    fixture_def def = boxes[1];
    double *want = NULL, *got = NULL;
    solve_random(&def, 1.0, &want);
    def.threads = 3;
    def.isa = TREACLE_ISA_SSE2;
    solve_random(&def, 1.0, &got);
    assert_memory_equal(got, want, 4096 * sizeof(double));
    free(want);
    free(got);
}

static treacle_status make_solver(treacle_context* ctx, void* data) {
    const balls* s = data;
    viscosity_solver* solver = NULL;
    TREACLE_TRY(viscosity_solver_create(ctx, &s->f.system, &solver));
    viscosity_solver_destroy(solver);
    return TREACLE_OK;
}

static void test_failing_allocations_leave_nothing_behind(void** state) {
    (void)state;
    balls s;
    balls_open(&s, &boxes[2], 1.0);
    ALLOC_FAILURE_CHECK(make_solver, &s);
    balls_close(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_operator_conforms),
        cmocka_unit_test(test_operator_is_that_of_all_faces_seen_through_the_motions),
        cmocka_unit_test(test_bodies_of_any_mass_cost_few_iterations),
        cmocka_unit_test(test_bits_depend_neither_on_threads_nor_on_the_instruction_set),
        cmocka_unit_test(test_failing_allocations_leave_nothing_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
