// Bodies in the viscosity solver.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "conform/viscosity_fixture.h"
#include "math/vec3.h"
#include "solve/drag_term.h"
#include "unit/alloc_failure.h"

enum { BODIES = 2 };

// Two balls in the liquid of a fixture: their faces are fixed, and move with them.
typedef struct balls {
    fixture f;
    uint8_t* plain; // what is fixed without them
    int64_t* slot[BODIES];
    double (*row[BODIES])[BODY_MOTIONS];
    drag_body body[BODIES];
} balls;

static bool is_in_ball(const fixture* f, int n, int a, const int at[AXES], vec3* arm) {
    double square = 0.0;
    for (int b = 0; b < AXES; ++b) {
        double share = n == 0 ? 0.35 : 0.68;
        double x = at[b] + (b == a ? 0.0 : 0.5) - share * f->domain.cells[b];
        arm->at[b] = f->domain.is_active[b] ? x : 0.0;
        square += arm->at[b] * arm->at[b];
    }
    return square < (n == 0 ? 4.2 * 4.2 : 3.1 * 3.1);
}

static void add_face(balls* s, int n, int a, size_t i, vec3 arm) {
    int64_t at = s->body[n].count++;
    int b = (a + 1) % AXES, c = (a + 2) % AXES;
    s->slot[n][at] =
        (int64_t)(i / TILE_CELLS) * VISCOSITY_BLOCK + a * TILE_CELLS + (int64_t)(i % TILE_CELLS);
    s->row[n][at][a] = 1.0;
    s->row[n][at][AXES + b] = arm.at[c];
    s->row[n][at][AXES + c] = -arm.at[b];
    s->f.fixed[i] |= (uint8_t)(1 << a);
    s->f.mass[a][i] = 0.0f;
}

static void fill_balls(balls* s, double mass) {
    size_t room = ((size_t)s->f.map.count + 1) * TILE_CELLS;
    s->plain = malloc(room);
    for (int n = 0; n < BODIES; ++n) {
        s->slot[n] = calloc(4096, sizeof(int64_t));
        s->row[n] = calloc(4096, sizeof(*s->row[n]));
    }
    FOR_EACH_CELL(&s->f, at) {
        size_t i = cell_at(&s->f, at);
        for (int k = 0; k < AXES * BODIES && is_within(&s->f, at); ++k) {
            vec3 arm;
            int a = k % AXES, n = k / AXES;
            bool is_free = s->f.domain.is_active[a] && at[a] > 0 && !(s->f.fixed[i] >> a & 1);
            if (is_free && is_in_ball(&s->f, n, a, at, &arm)) {
                add_face(s, n, a, i, arm);
            }
        }
    }
    for (int n = 0; n < BODIES; ++n) {
        s->body[n].slot = s->slot[n];
        s->body[n].row = (const double(*)[BODY_MOTIONS])s->row[n];
        for (int i = 0; i < BODY_MOTIONS; ++i) {
            s->body[n].mass[i][i] = mass * (i < AXES ? 100.0 : 900.0);
        }
    }
}

static void balls_open(balls* s, const fixture_def* def, double mass) {
    memset(s, 0, sizeof(*s));
    fixture_open(&s->f, def);
    fill_balls(s, mass);
    viscosity_solver_destroy(s->f.solver);
    s->f.solver = NULL;
    assert_int_equal(viscosity_solver_create(s->f.ctx, &s->f.system, &s->f.solver), TREACLE_OK);
    assert_int_equal(viscosity_solver_add_bodies(s->f.solver, BODIES, s->body), TREACLE_OK);
}

static void balls_close(balls* s) {
    free(s->plain);
    for (int n = 0; n < BODIES; ++n) {
        free(s->slot[n]);
        free(s->row[n]);
    }
    fixture_close(&s->f);
}

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
            for (int64_t k = 0; k < s.body[n].count; ++k) {
                int64_t slot = s.slot[n][k], t = slot / VISCOSITY_BLOCK;
                int a = (int)(slot % VISCOSITY_BLOCK) / TILE_CELLS;
                s.f.fixed[t * TILE_CELLS + slot % TILE_CELLS] &= (uint8_t) ~(1 << a);
            }
        }
        viscosity_solver* whole = NULL;
        assert_int_equal(viscosity_solver_create(s.f.ctx, &s.f.system, &whole), TREACLE_OK);
        linop all = viscosity_solver_linop(whole);
        size_t tail = vec_length(all.space);
        double *u = conform_vector(&all), *au = conform_vector(&all);
        memcpy(u, x, tail * sizeof(double));
        for (int n = 0; n < BODIES; ++n) {
            for (int64_t k = 0; k < s.body[n].count; ++k) {
                u[s.slot[n][k]] = six_dot(s.row[n][k], x + tail + n * BODY_MOTIONS);
            }
        }
        all.apply(all.data, u, au);
        double size = vec_measure(all.space, au).max;
        for (int n = 0; n < BODIES; ++n) {
            double sum[BODY_MOTIONS];
            six_multiply((const double(*)[BODY_MOTIONS])s.body[n].mass, x + tail + n * BODY_MOTIONS,
                         sum);
            for (int64_t k = 0; k < s.body[n].count; ++k) {
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

static void test_iterations_are_bounded_for_every_mass_and_viscosity(void** state) {
    (void)state;
    static const double r[] = {0.1, 1.0, 100.0, 1e4}, mass[] = {1e-3, 1.0, 100.0};
    for (int i = 0; i < 12; ++i) {
        fixture_def def = {.cells = {32, 32, 32}, .has_floor = true, .r = r[i % 4]};
        solve_stats stats = solve_random(&def, mass[i / 4], NULL);
        assert_true(stats.iterations <= 60);
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
    treacle_status status = viscosity_solver_add_bodies(solver, BODIES, s->body);
    viscosity_solver_destroy(solver);
    return status;
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
        cmocka_unit_test(test_iterations_are_bounded_for_every_mass_and_viscosity),
        cmocka_unit_test(test_bits_depend_neither_on_threads_nor_on_the_instruction_set),
        cmocka_unit_test(test_failing_allocations_leave_nothing_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
