#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "conform/viscosity_fixture.h"
#include "solve/stokes_internal.h"
#include "solve/stokes_solver.h"
#include "unit/alloc_failure.h"

typedef struct stokes_fixture {
    fixture base;
    float behind; // fraction of their stress that cells behind the floor have; 0: all
    float specks; // so much stiffer are single cells and pairs here and there; 0: none
    bool is_open; // no solid covers a part of any face
    float* opening[AXES];
    float* volume;
    stokes_solver* solver;
    stokes_vectors v;
    size_t faces, cells; // lengths of vectors
} stokes_fixture;

// Cells behind the floor have one open face, in it, and little stress.
static void thin_out(stokes_fixture* f) {
    FOR_EACH_CELL(&f->base, at) {
        f->base.cell[cell_at(&f->base, at)] *= at[1] == 3 && f->behind > 0.0f ? f->behind : 1.0f;
    }
}

static bool is_speck(const int at[AXES]) {
    return at[0] % 7 == 3 && at[1] % 5 == 2 && at[2] % 9 < 1 + at[0] % 2;
}

// Weights at edges are geometric means of the four cells around them.
static void add_specks(stokes_fixture* f) {
    FOR_EACH_CELL(&f->base, at) {
        size_t i = cell_at(&f->base, at);
        f->base.cell[i] *= is_speck(at) && f->specks > 0.0f ? f->specks : 1.0f;
        for (int a = 0; a < AXES && f->specks > 0.0f; ++a) {
            int count = 0;
            for (int n = 0; n < 4; ++n) {
                int near[AXES] = {at[0], at[1], at[2]};
                near[(a + 1) % AXES] -= n & 1;
                near[(a + 2) % AXES] -= n >> 1;
                count += is_speck(near);
            }
            f->base.edge[a][i] *= powf(f->specks, 0.25f * (float)count);
        }
    }
}

static treacle_status stokes_build(stokes_fixture* f, const fixture_def* def) {
    TREACLE_TRY(fixture_build(&f->base, def));
    const tile_map* map = &f->base.map;
    f->cells = ((size_t)map->count + 1) * TILE_CELLS;
    f->faces = AXES * f->cells;
    f->volume = array_create(map, sizeof(float));
    for (int a = 0; a < AXES; ++a) {
        f->opening[a] = array_create(map, sizeof(float));
        for (size_t i = 0; i < f->cells - TILE_CELLS; ++i) {
            float open = 0.75f + 0.25f * (float)conform_random(3 * i + (size_t)a);
            f->opening[a][i] = f->is_open ? 1.0f : open;
        }
    }
    for (size_t i = 0; i < f->cells; ++i) {
        f->volume[i] = f->base.cell[i] / (float)def->r;
    }
    thin_out(f);
    add_specks(f);
    stokes_system system = {.domain = &f->base.domain,
                            .map = map,
                            .weights = f->base.system.weights,
                            .opening = {f->opening[0], f->opening[1], f->opening[2]},
                            .volume = f->volume};
    f->v = (stokes_vectors){calloc(f->faces, sizeof(double)), calloc(f->cells, sizeof(double)),
                            calloc(f->faces, sizeof(double)), calloc(f->cells, sizeof(double))};
    return stokes_solver_create(f->base.ctx, &system, &f->solver);
}

static void stokes_clear(stokes_fixture* f) {
    stokes_solver_destroy(f->solver);
    for (int a = 0; a < AXES; ++a) {
        free(f->opening[a]);
    }
    free(f->volume);
    free(f->v.f);
    free(f->v.h);
    free(f->v.u);
    free(f->v.p);
    fixture_clear(&f->base);
}

static void stokes_open(stokes_fixture* f, const fixture_def* def) {
    *f = (stokes_fixture){.behind = f->behind, .specks = f->specks, .is_open = f->is_open};
    treacle_context_def context_def = treacle_context_def_default();
    context_def.threads = def->threads > 0 ? def->threads : 1;
    context_def.isa = def->isa;
    assert_int_equal(treacle_context_create(&context_def, &f->base.ctx), TREACLE_OK);
    assert_int_equal(stokes_build(f, def), TREACLE_OK);
}

static void stokes_close(stokes_fixture* f) {
    stokes_clear(f);
    treacle_context_destroy(f->base.ctx);
}

// A random momentum in f, as masses times velocities.
static void fill_momentum(stokes_fixture* f) {
    for (size_t i = 0; i < f->faces - VISCOSITY_BLOCK; ++i) {
        size_t t = i / VISCOSITY_BLOCK, a = i % VISCOSITY_BLOCK / TILE_CELLS, q = i % TILE_CELLS;
        f->v.f[i] = conform_random(i) * (double)f->base.mass[a][t * TILE_CELLS + q];
    }
}

static double dot(size_t n, const double* x, const double* y) {
    double sum = 0.0;
    for (size_t i = 0; i < n; ++i) {
        sum += x[i] * y[i];
    }
    return sum;
}

static const fixture_def domains[] = {
    {.cells = {24, 33, 40}, .has_floor = true, .r = 100.0},
    {.cells = {50, 40, 1}, .has_floor = true, .r = 1.0},
    {.cells = {40, 40, 40}, .margin = 4, .r = 1e4},
    {.cells = {32, 32, 32}, .has_floor = true, .r = 0.1},
    {.cells = {48, 24, 32}, .is_periodic = {true, false, true}, .has_floor = true, .r = 1e3},
};
enum { DOMAINS = sizeof(domains) / sizeof(domains[0]) };

static void test_gradient_is_the_transpose_of_divergence(void** state) {
    (void)state;
    for (int n = 0; n < DOMAINS; ++n) {
        stokes_fixture f = {0};
        stokes_open(&f, &domains[n]);
        linop a = viscosity_solver_linop(f.base.solver);
        double *u = conform_random_vector(&a, 3), *zero = calloc(f.faces, sizeof(double));
        double *p = calloc(f.cells, sizeof(double)), *y_u = calloc(f.faces, sizeof(double));
        double *y_p = calloc(f.cells, sizeof(double)), *bu = calloc(f.cells, sizeof(double));
        for (size_t i = 0; i < f.cells - TILE_CELLS; ++i) {
            p[i] = (double)f.volume[i] >= 0.02 ? conform_random(i) : 0.0;
        }
        stokes_apply(f.solver, u, p, y_u, bu);
        stokes_apply(f.solver, zero, p, y_u, y_p);
        double down = dot(f.faces, u, y_u), up = dot(f.cells, p, bu);
        assert_true(fabs(down - up) < 1e-11 * (1.0 + fabs(up)));
        vec_destroy(a.space, u);
        free(zero);
        free(p);
        free(y_u);
        free(y_p);
        free(bu);
        stokes_close(&f);
    }
}

// |b - A x| / |b| from scratch.
static double true_residual(const stokes_fixture* f, const double* b) {
    double *y_u = calloc(f->faces, sizeof(double)), *y_p = calloc(f->cells, sizeof(double));
    double missed = 0.0, whole = dot(f->faces, b, b);
    stokes_apply(f->solver, f->v.u, f->v.p, y_u, y_p);
    for (size_t i = 0; i < f->faces; ++i) {
        missed += (b[i] - y_u[i]) * (b[i] - y_u[i]);
    }
    missed += dot(f->cells, y_p, y_p);
    free(y_u);
    free(y_p);
    return sqrt(missed / whole);
}

// Solves for a random momentum in all domains, to a residual of params->relative.
static void check_residuals(const stokes_params* params) {
    for (int n = 0; n < DOMAINS; ++n) {
        stokes_fixture f = {0};
        stokes_open(&f, &domains[n]);
        stokes_stats stats;
        fill_momentum(&f);
        double* b = calloc(f.faces, sizeof(double));
        memcpy(b, f.v.f, f.faces * sizeof(double));
        assert_int_equal(stokes_solve(f.solver, &f.v, params, &stats), TREACLE_OK);
        assert_true(stats.is_converged);
        assert_true(stats.iterations <= params->max_iterations);
        assert_true(true_residual(&f, b) < 1.2 * params->relative);
        free(b);
        stokes_close(&f);
    }
}

static void test_solution_meets_the_equations(void** state) {
    (void)state;
    stokes_params params = stokes_params_default();
    params.relative = 1e-6;
    params.energy = INFINITY;
    params.max_iterations = 60;
    check_residuals(&params);
}

// Cycles of many directions, whose images are in float, bring residuals as far down as short ones.
static void test_long_memory_reaches_small_residuals(void** state) {
    (void)state;
    stokes_params params = stokes_params_default();
    params.relative = 1e-11;
    params.energy = INFINITY;
    params.restart = 60;
    params.max_iterations = 150;
    check_residuals(&params);
}

static void test_energy_estimate_is_near_the_true_error(void** state) {
    (void)state;
    stokes_fixture f = {0};
    stokes_open(&f, &domains[0]);
    linop a = viscosity_solver_linop(f.base.solver);
    stokes_params params = stokes_params_default();
    stokes_stats stats;
    double *exact = calloc(f.faces, sizeof(double)), *y = calloc(f.faces, sizeof(double));
    params.energy = 1e-6;
    fill_momentum(&f);
    assert_int_equal(stokes_solve(f.solver, &f.v, &params, &stats), TREACLE_OK);
    memcpy(exact, f.v.u, f.faces * sizeof(double));
    double whole = a.apply(a.data, exact, y);
    params.energy = 1e-2;
    memset(f.v.f, 0, f.faces * sizeof(double));
    memset(f.v.h, 0, f.cells * sizeof(double));
    fill_momentum(&f);
    assert_int_equal(stokes_solve(f.solver, &f.v, &params, &stats), TREACLE_OK);
    for (size_t i = 0; i < f.faces; ++i) {
        exact[i] -= f.v.u[i];
    }
    double error = sqrt(a.apply(a.data, exact, y) / whole);
    assert_true(error < 3.0 * stats.energy && error > 0.1 * stats.energy);
    free(exact);
    free(y);
    stokes_close(&f);
}

static void test_warm_start_from_the_solution_ends_at_once(void** state) {
    (void)state;
    stokes_fixture f = {0};
    stokes_open(&f, &domains[0]);
    stokes_params params = stokes_params_default();
    stokes_stats stats;
    params.energy = 1e-5;
    fill_momentum(&f);
    assert_int_equal(stokes_solve(f.solver, &f.v, &params, &stats), TREACLE_OK);
    assert_true(stats.iterations > 5);
    params.energy = 2e-5;
    params.is_warm = true;
    memset(f.v.h, 0, f.cells * sizeof(double));
    fill_momentum(&f);
    assert_int_equal(stokes_solve(f.solver, &f.v, &params, &stats), TREACLE_OK);
    assert_true(stats.is_converged && stats.iterations == 0);
    stokes_close(&f);
}

static void test_bits_depend_neither_on_threads_nor_on_the_instruction_set(void** state) {
    (void)state;
    double* want = NULL;
    for (int n = 0; n < 3; ++n) {
        fixture_def def = domains[2];
        def.threads = n == 0 ? 1 : 3;
        def.isa = n == 1 ? TREACLE_ISA_SSE2 : TREACLE_ISA_AUTO;
        stokes_fixture f = {0};
        stokes_open(&f, &def);
        stokes_params params = stokes_params_default();
        stokes_stats stats;
        params.max_iterations = 8;
        fill_momentum(&f);
        assert_int_equal(stokes_solve(f.solver, &f.v, &params, &stats), TREACLE_OK);
        if (n == 0) {
            want = calloc(f.faces, sizeof(double));
            memcpy(want, f.v.u, f.faces * sizeof(double));
        } else {
            assert_memory_equal(want, f.v.u, f.faces * sizeof(double));
        }
        stokes_close(&f);
    }
    free(want);
}

static treacle_status build_and_solve(treacle_context* ctx, void* data) {
    stokes_fixture f = {.base = {.ctx = ctx}};
    stokes_params params = stokes_params_default();
    stokes_stats stats;
    params.max_iterations = 2;
    treacle_status status = stokes_build(&f, data);
    if (status == TREACLE_OK) {
        fill_momentum(&f);
        status = stokes_solve(f.solver, &f.v, &params, &stats);
    }
    stokes_clear(&f);
    return status;
}

// One block of liquid is one region: what flows into it in all, over its volume.
static void test_net_flow_meets_its_target(void** state) {
    (void)state;
    stokes_fixture f = {0};
    stokes_open(&f, &domains[2]);
    stokes_params params = stokes_params_default();
    stokes_stats stats;
    double net = 0.0, volume = 0.0;
    params.energy = INFINITY;
    params.net = 1e-7;
    fill_momentum(&f);
    assert_int_equal(stokes_solve(f.solver, &f.v, &params, &stats), TREACLE_OK);
    assert_true(stats.is_converged && stats.net <= 1e-7);
    for (size_t i = 0; i < f.cells - TILE_CELLS; ++i) {
        net += f.v.h[i];
        volume += (double)f.volume[i] >= 0.02 ? (double)f.volume[i] : 0.0;
    }
    assert_true(fabs(net) / volume < 1.5e-7);
    stokes_close(&f);
}

// Solves for a random momentum; the fixture says what is special about its weights.
static void check_iterations(stokes_fixture f, const fixture_def* def, int most) {
    stokes_params params = stokes_params_default();
    stokes_stats stats;
    stokes_open(&f, def);
    params.divergence = 1e-4;
    fill_momentum(&f);
    assert_int_equal(stokes_solve(f.solver, &f.v, &params, &stats), TREACLE_OK);
    assert_true(stats.is_converged);
    assert_in_range(stats.iterations, 1, most);
    stokes_close(&f);
}

// Such a cell's divergence holds its one face, however little its stress resists.
static void test_cells_behind_a_wall_do_not_hold_the_solve_up(void** state) {
    (void)state;
    static const float behind[] = {1.0f, 0.03f, 0.001f};
    for (int n = 0; n < 3; ++n) {
        check_iterations((stokes_fixture){.behind = behind[n]}, &domains[0], 30);
    }
}

// Each moves as one, held by nothing but the thin liquid around it; where solids cover different
// fractions of its faces it cannot move without a divergence, and is harder to find.
static void test_stiff_specks_in_thin_liquid_do_not_hold_the_solve_up(void** state) {
    (void)state;
    check_iterations((stokes_fixture){.specks = 1.0f}, &domains[3], 15);
    check_iterations((stokes_fixture){.specks = 1e3f}, &domains[3], 25);
    check_iterations((stokes_fixture){.specks = 1e4f}, &domains[3], 60);
    check_iterations((stokes_fixture){.specks = 1e4f, .is_open = true}, &domains[3], 25);
    check_iterations((stokes_fixture){.specks = 1e5f, .is_open = true}, &domains[3], 40);
}

// Liquid at rest without any force, of which a flow is asked for: the first direction, a pressure
// alone, brings nothing.
static void test_flow_without_forces_is_found(void** state) {
    (void)state;
    for (int n = 0; n < DOMAINS; ++n) {
        stokes_fixture f = {0};
        stokes_open(&f, &domains[n]);
        stokes_params params = stokes_params_default();
        params.relative = INFINITY;
        params.energy = 1e-4;
        params.divergence = 1e-2;
        params.max_iterations = 60;
        params.restart = 60;
        stokes_stats stats;
        for (size_t i = 0; i < f.cells - TILE_CELLS; ++i) {
            f.v.h[i] = f.volume[i] > 0.5f ? conform_random(i) - 0.5 : 0.0;
        }
        assert_int_equal(stokes_solve(f.solver, &f.v, &params, &stats), TREACLE_OK);
        assert_true(stats.is_converged);
        assert_true(dot(f.faces, f.v.u, f.v.u) > 0.0);
        stokes_close(&f);
    }
}

static void test_failing_allocations_leave_nothing_behind(void** state) {
    (void)state;
    fixture_def def = {.cells = {9, 16, 9}, .margin = 2, .r = 100.0};
    ALLOC_FAILURE_CHECK(build_and_solve, &def);
}

// A solver of both is valid if those of velocity and of pressure are, and its loop has directions.
static void test_a_broken_solver_is_seen(void** state) {
    (void)state;
    stokes_fixture f = {0};
    stokes_open(&f, &domains[1]);
    assert_true(stokes_solver_is_valid(f.solver));
    const solve_policy* good = f.solver->policy;
    solve_policy bad = *good;
    bad.krylov.restart = 0;
    f.solver->policy = &bad;
    assert_false(stokes_solver_is_valid(f.solver));
    bad.krylov.restart = good->krylov.restart;
    bad.krylov.restart_long = STOKES_MAX_RESTART + 1;
    assert_false(stokes_solver_is_valid(f.solver));
    f.solver->policy = good;
    float* inverse[2] = {f.solver->faces->inverse, f.solver->cells->inverse};
    const tile_ix t[2] = {f.solver->faces->active[0], f.solver->cells->active[0]};
    for (int i = 0; i < 2; ++i) {
        float* first = inverse[i] + (size_t)t[i] * (i == 0 ? VISCOSITY_BLOCK : TILE_CELLS);
        float before = *first;
        *first = NAN;
        assert_false(stokes_solver_is_valid(f.solver));
        *first = before;
    }
    assert_true(stokes_solver_is_valid(f.solver));
    stokes_close(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gradient_is_the_transpose_of_divergence),
        cmocka_unit_test(test_solution_meets_the_equations),
        cmocka_unit_test(test_long_memory_reaches_small_residuals),
        cmocka_unit_test(test_energy_estimate_is_near_the_true_error),
        cmocka_unit_test(test_warm_start_from_the_solution_ends_at_once),
        cmocka_unit_test(test_bits_depend_neither_on_threads_nor_on_the_instruction_set),
        cmocka_unit_test(test_net_flow_meets_its_target),
        cmocka_unit_test(test_cells_behind_a_wall_do_not_hold_the_solve_up),
        cmocka_unit_test(test_stiff_specks_in_thin_liquid_do_not_hold_the_solve_up),
        cmocka_unit_test(test_flow_without_forces_is_found),
        cmocka_unit_test(test_failing_allocations_leave_nothing_behind),
        cmocka_unit_test(test_a_broken_solver_is_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
