#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "conform/body_fixture.h"
#include "unit/alloc_failure.h"

// Light and heavy bodies, apart and in touch, in space and in the plane.
static const body_fixture_def boxes[] = {
    {.cells = {19, 21, 17}, .body_count = 1, .across = {1, 1, 1}, .radius = 5, .density = {1, 1}},
    {.cells = {40, 33, 24},
     .body_count = 8,
     .across = {2, 2, 2},
     .radius = 6.3,
     .density = {1e-3, 100}},
    {.cells = {24, 24, 24},
     .is_closed = true,
     .body_count = 2,
     .across = {2, 1, 1},
     .radius = 6.5,
     .density = {1e-3, 10}},
    {.cells = {64, 40, 1}, .body_count = 6, .across = {3, 2, 1}, .radius = 7, .density = {1e-3, 8}},
};
enum { BOXES = sizeof(boxes) / sizeof(boxes[0]) };

static void test_operator_conforms(void** state) {
    (void)state;
    for (int i = 0; i < BOXES; ++i) {
        body_fixture f;
        body_fixture_open(&f, &boxes[i]);
        linop op = pressure_solver_linop(f.solver);
        conform_is_symmetric(&op);
        conform_rounded_agrees(&op);
        conform_is_positive(&op);
        conform_diagonal_agrees(&op);
        body_fixture_close(&f);
    }
}

static void test_preconditioner_is_symmetric_positive(void** state) {
    (void)state;
    for (int i = 0; i < BOXES; ++i) {
        body_fixture f;
        body_fixture_open(&f, &boxes[i]);
        linop op = pressure_solver_linop(f.solver);
        conform_preconditioner_is_symmetric_positive(&op, 0.05);
        body_fixture_close(&f);
    }
}

// Adds J^T C J x of one body, from its rows as they were given.
static void add_body(const solve_body* body, const double* x, const double* diagonal, double* y) {
    double sum[BODY_MOTIONS] = {0};
    for (int64_t n = 0; n < body->row_count; ++n) {
        for (int k = 0; k < BODY_MOTIONS; ++k) {
            sum[k] += body->row[n][k] * x[body->slot[n]];
        }
    }
    for (int64_t n = 0; n < body->row_count; ++n) {
        bool is_unknown = diagonal[body->slot[n]] > 0.0;
        for (int k = 0; k < BODY_MOTIONS * BODY_MOTIONS && is_unknown; ++k) {
            int i = k / BODY_MOTIONS, j = k % BODY_MOTIONS;
            y[body->slot[n]] += body->row[n][i] * body->inverse_mass[i][j] * sum[j];
        }
    }
}

static void test_apply_matches_bodies_one_by_one(void** state) {
    (void)state;
    for (int i = 0; i < BOXES; ++i) {
        body_fixture f;
        body_fixture_open(&f, &boxes[i]);
        linop op = pressure_solver_linop(f.solver);
        double *x = conform_random_vector(&op, 21), *y = conform_vector(&op);
        double *want = conform_vector(&op), *d = conform_vector(&op);
        op.diagonal(op.data, d);
        op.apply(op.data, x, y);
        body_fixture_def bare = boxes[i];
        bare.body_count = 0;
        pressure_system system = body_fixture_system(&f, &bare);
        pressure_solver* links = NULL;
        assert_int_equal(pressure_solver_create(f.ctx, &system, &links), TREACLE_OK);
        linop links_op = pressure_solver_linop(links);
        links_op.apply(links_op.data, x, want);
        for (int b = 0; b < boxes[i].body_count; ++b) {
            add_body(&f.bodies[b], x, d, want);
        }
        double largest = vec_measure(op.space, want).max;
        for (size_t n = 0; n < vec_length(op.space); ++n) {
            assert_true(fabs(y[n] - want[n]) < 1e-12 * largest);
        }
        pressure_solver_destroy(links);
        vec_destroy(op.space, x);
        vec_destroy(op.space, y);
        vec_destroy(op.space, d);
        vec_destroy(op.space, want);
        body_fixture_close(&f);
    }
}

static solve_stats solve_random(const body_fixture_def* def, double relative, double** out) {
    body_fixture f;
    body_fixture_open(&f, def);
    linop op = pressure_solver_linop(f.solver);
    double *r = conform_random_vector(&op, 51), *x = conform_vector(&op), *b = conform_vector(&op);
    solve_params params = solve_params_default();
    params.relative = relative;
    solve_stats stats;
    assert_int_equal(pressure_solver_project(f.solver, r), TREACLE_OK);
    vec_copy(op.space, r, b);
    assert_int_equal(pressure_solve(f.solver, r, x, &params, &stats), TREACLE_OK);
    assert_true(stats.is_converged);
    double* y = conform_vector(&op);
    op.apply(op.data, x, y);
    vec_add_scaled(op.space, -1.0, b, y);
    double fraction = sqrt(vec_measure(op.space, y).square / vec_measure(op.space, b).square);
    assert_true(fraction <= 1.2 * relative);
    if (out != NULL) {
        *out = malloc(vec_length(op.space) * sizeof(double));
        memcpy(*out, x, vec_length(op.space) * sizeof(double));
    }
    vec_destroy(op.space, r);
    vec_destroy(op.space, x);
    vec_destroy(op.space, y);
    vec_destroy(op.space, b);
    body_fixture_close(&f);
    return stats;
}

// Walls that let go beside bodies change the diagonal there: the solver follows.
static void test_refreshed_diagonals_count_beside_bodies(void** state) {
    (void)state;
    for (int i = 0; i < BOXES; ++i) {
        body_fixture f;
        body_fixture_open(&f, &boxes[i]);
        linop before = pressure_solver_linop(f.solver);
        for (size_t n = 0; n < vec_length(before.space); n += 7) {
            f.extra[n] += f.link[0][n] > 0.0f ? 20.0f : 0.0f;
        }
        assert_int_equal(pressure_solver_refresh(f.solver), TREACLE_OK);
        linop op = pressure_solver_linop(f.solver);
        conform_preconditioner_is_symmetric_positive(&op, 0.05);
        double *r = conform_random_vector(&op, 51), *x = conform_vector(&op);
        solve_params params = solve_params_default();
        solve_stats stats;
        params.relative = 1e-8;
        assert_int_equal(pressure_solve(f.solver, r, x, &params, &stats), TREACLE_OK);
        assert_true(stats.is_converged);
        assert_true(stats.iterations <= 25);
        vec_destroy(op.space, r);
        vec_destroy(op.space, x);
        body_fixture_close(&f);
    }
}

static void test_iterations_hardly_depend_on_bodies_and_their_masses(void** state) {
    (void)state;
    static const double densities[] = {1e-3, 0.1, 10.0};
    for (int i = 0; i < 3; ++i) {
        body_fixture_def def = {.cells = {64, 64, 64},
                                .body_count = 10,
                                .across = {3, 2, 2},
                                .radius = 6,
                                .density = {densities[i], densities[i]}};
        assert_true(solve_random(&def, 1e-6, NULL).iterations <= (i == 0 ? 15 : 10));
    }
    body_fixture_def full = {.cells = {64, 64, 64},
                             .is_closed = true,
                             .body_count = 10,
                             .across = {3, 2, 2},
                             .radius = 6,
                             .density = {1e-3, 1e-3}};
    assert_true(solve_random(&full, 1e-6, NULL).iterations <= 16);
    body_fixture_def many = {.cells = {64, 64, 64},
                             .body_count = 100,
                             .across = {5, 5, 4},
                             .radius = 5,
                             .density = {0.1, 10}};
    assert_true(solve_random(&many, 1e-6, NULL).iterations <= 11);
}

static void test_solution_meets_the_equations(void** state) {
    (void)state;
    for (int i = 0; i < BOXES; ++i) {
        // Light bodies that overlap each other and the walls are the worst there is.
        assert_true(solve_random(&boxes[i], 1e-10, NULL).factor < (i == 2 ? 0.9 : 0.5));
    }
}

static void test_bits_depend_neither_on_threads_nor_on_the_instruction_set(void** state) {
    (void)state;
    for (int i = 1; i < BOXES; i += 2) {
        body_fixture_def def = boxes[i];
        double* want = NULL;
        solve_random(&def, 1e-6, &want);
        for (int n = 0; n < 2; ++n) {
            double* got = NULL;
            def.threads = n == 0 ? 2 : 5;
            def.isa = n == 0 ? TREACLE_ISA_SSE2 : TREACLE_ISA_AUTO;
            solve_random(&def, 1e-6, &got);
            size_t cells = (size_t)def.cells[0] * (size_t)def.cells[1] * (size_t)def.cells[2];
            assert_memory_equal(got, want, cells / TILE_CELLS * TILE_CELLS * sizeof(double));
            free(got);
        }
        free(want);
    }
}

// A wall across a full box that can slide: two closed regions, and one pressure that it holds up.
static void test_body_between_closed_regions_holds_their_difference(void** state) {
    (void)state;
    body_fixture f;
    body_fixture_def def = {.cells = {24, 8, 8}, .is_closed = true, .across = {1, 1, 1}};
    body_fixture_open(&f, &def);
    int64_t slot[128];
    double row[128][BODY_MOTIONS] = {{0}};
    BODY_FIXTURE_CELLS(&f, at) {
        size_t i = body_fixture_cell(&f, at);
        f.link[0][i] = at[0] == 10 ? 0.0f : f.link[0][i];
    }
    int64_t n = 0;
    for (size_t i = 0; i < (size_t)f.map.count * TILE_CELLS; ++i) {
        int x = (int)(i % 8) + 8 * f.map.coord[i / TILE_CELLS].at[0];
        if (x == 9 || x == 10) {
            slot[n] = (int64_t)i;
            row[n++][0] = x == 9 ? 1.0 : -1.0;
        }
    }
    assert_int_equal(n, 128);
    solve_body body = {.row_count = n, .slot = slot, .row = (const double(*)[BODY_MOTIONS])row};
    for (int i = 0; i < BODY_MOTIONS; ++i) {
        body.inverse_mass[i][i] = 1.0 / 640.0;
    }
    def.body_count = 1;
    f.bodies[0] = body;
    pressure_system system = body_fixture_system(&f, &def);
    pressure_solver_destroy(f.solver);
    assert_int_equal(pressure_solver_create(f.ctx, &system, &f.solver), TREACLE_OK);
    assert_int_equal(pressure_solver_closed_count(f.solver), 2);
    f.bodies[0] = (solve_body){0};
    linop op = pressure_solver_linop(f.solver);
    double *r = conform_vector(&op), *x = conform_vector(&op);
    // Push the wall with force 1 in units of its mass: J^T v at the cells beside it.
    for (int64_t i = 0; i < n; ++i) {
        r[slot[i]] = row[i][0];
    }
    solve_params params = solve_params_default();
    solve_stats stats;
    params.relative = 1e-10;
    assert_int_equal(pressure_solve(f.solver, r, x, &params, &stats), TREACLE_OK);
    assert_true(stats.is_converged);
    // It cannot move: the pressures take all of it, J x / m = 1, and only their mean is free.
    const int low[AXES] = {2, 3, 4}, high[AXES] = {20, 3, 4};
    double difference = x[body_fixture_cell(&f, low)] - x[body_fixture_cell(&f, high)];
    assert_true(fabs(difference * 64.0 / 640.0 - 1.0) < 1e-8);
    vec_destroy(op.space, r);
    vec_destroy(op.space, x);
    body_fixture_close(&f);
}

static treacle_status make_solver(treacle_context* ctx, void* data) {
    const body_fixture* f = data;
    pressure_system system = body_fixture_system(f, &boxes[2]);
    system.map = &f->map;
    pressure_solver* solver = NULL;
    treacle_status status = pressure_solver_create(ctx, &system, &solver);
    pressure_solver_destroy(solver);
    return status;
}

static void test_failing_allocations_leave_nothing_behind(void** state) {
    (void)state;
    body_fixture f;
    body_fixture_open(&f, &boxes[2]);
    ALLOC_FAILURE_CHECK(make_solver, &f);
    body_fixture_close(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_operator_conforms),
        cmocka_unit_test(test_preconditioner_is_symmetric_positive),
        cmocka_unit_test(test_apply_matches_bodies_one_by_one),
        cmocka_unit_test(test_refreshed_diagonals_count_beside_bodies),
        cmocka_unit_test(test_iterations_hardly_depend_on_bodies_and_their_masses),
        cmocka_unit_test(test_solution_meets_the_equations),
        cmocka_unit_test(test_bits_depend_neither_on_threads_nor_on_the_instruction_set),
        cmocka_unit_test(test_body_between_closed_regions_holds_their_difference),
        cmocka_unit_test(test_failing_allocations_leave_nothing_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
