// Bodies in the Stokes solver.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "conform/balls_fixture.h"
#include "solve/stokes_solver.h"
#include "unit/alloc_failure.h"

typedef struct flow_fixture {
    balls s;
    float* opening;
    float* volume;
    int64_t* cell[BODIES];
    double (*row[BODIES])[BODY_MOTIONS];
    stokes_system system;
    stokes_solver* solver;
    stokes_vectors v;
    size_t faces, cells, tail; // lengths of vectors, and where bodies begin
} flow_fixture;

static bool is_owned(const balls* s, int n, int a, const int at[AXES]) {
    size_t i = cell_at(&s->f, at);
    return i < (size_t)s->f.map.count * TILE_CELLS && s->owner[a][i] == n + 1;
}

// What a ball displaces in a cell: the flow through those of its faces that it has.
static bool make_row(const balls* s, int n, const int at[AXES], double row[BODY_MOTIONS]) {
    bool is_any = false;
    memset(row, 0, BODY_MOTIONS * sizeof(double));
    for (int k = 0; k < 2 * AXES; ++k) {
        int a = k % AXES, face[AXES] = {at[0], at[1], at[2]};
        double place[AXES], w[BODY_MOTIONS];
        face[a] += k / AXES;
        for (int b = 0; b < AXES; ++b) {
            place[b] = face[b] + (b == a ? 0.0 : 0.5);
        }
        if (is_owned(s, n, a, face)) {
            drag_body_row(&s->body[n], &s->f.domain, a, place, w);
            for (int i = 0; i < BODY_MOTIONS; ++i) {
                row[i] += k < AXES ? -w[i] : w[i];
            }
            is_any = true;
        }
    }
    return is_any;
}

static void fill_flows(flow_fixture* f) {
    for (int n = 0; n < BODIES; ++n) {
        f->cell[n] = calloc(4096, sizeof(int64_t));
        f->row[n] = calloc(4096, sizeof(*f->row[n]));
        f->s.body[n].slot = f->cell[n];
        f->s.body[n].row = (const double(*)[BODY_MOTIONS])f->row[n];
        mat6_invert((const double(*)[BODY_MOTIONS])f->s.body[n].mass, f->s.body[n].inverse_mass);
    }
    for (size_t i = 0; i < f->cells - TILE_CELLS; ++i) {
        int at[AXES];
        tile_cell_at(&f->s.f.map, (tile_ix)(i / TILE_CELLS), (int)(i % TILE_CELLS), at);
        for (int n = 0; n < BODIES && is_within(&f->s.f, at); ++n) {
            double row[BODY_MOTIONS];
            if (make_row(&f->s, n, at, row)) {
                int64_t k = f->s.body[n].row_count++;
                f->cell[n][k] = (int64_t)i;
                memcpy(f->row[n][k], row, sizeof(row));
            }
        }
    }
}

static void flow_open(flow_fixture* f, const fixture_def* def, double mass) {
    memset(f, 0, sizeof(*f));
    balls_open(&f->s, def, mass);
    const tile_map* map = &f->s.f.map;
    f->cells = ((size_t)map->count + 1) * TILE_CELLS;
    f->tail = AXES * f->cells;
    f->faces = f->tail + 16;
    f->volume = array_create(map, sizeof(float));
    f->opening = array_create(map, sizeof(float));
    for (size_t i = 0; i < f->cells - TILE_CELLS; ++i) {
        f->volume[i] = f->s.f.cell[i] / (float)def->r;
        f->opening[i] = 1.0f;
    }
    fill_flows(f);
    f->system = (stokes_system){.domain = &f->s.f.domain,
                                .map = map,
                                .weights = f->s.f.system.weights,
                                .opening = {f->opening, f->opening, f->opening},
                                .volume = f->volume,
                                .body_count = BODIES,
                                .bodies = f->s.body};
    f->v = (stokes_vectors){calloc(f->faces, sizeof(double)), calloc(f->cells, sizeof(double)),
                            calloc(f->faces, sizeof(double)), calloc(f->cells, sizeof(double))};
    assert_int_equal(stokes_solver_create(f->s.f.ctx, &f->system, &f->solver), TREACLE_OK);
}

static void flow_close(flow_fixture* f) {
    stokes_solver_destroy(f->solver);
    for (int n = 0; n < BODIES; ++n) {
        free(f->cell[n]);
        free(f->row[n]);
    }
    free(f->opening);
    free(f->volume);
    free(f->v.f);
    free(f->v.h);
    free(f->v.u);
    free(f->v.p);
    balls_close(&f->s);
}

// A random momentum of the liquid and of bodies.
static void fill_momentum(flow_fixture* f) {
    for (size_t i = 0; i < f->tail - VISCOSITY_BLOCK; ++i) {
        size_t t = i / VISCOSITY_BLOCK, a = i % VISCOSITY_BLOCK / TILE_CELLS, q = i % TILE_CELLS;
        double u = 1.0 + conform_random(i);
        f->v.f[i] = u * (double)f->s.f.mass[a][t * TILE_CELLS + q];
    }
    for (int n = 0; n < BODIES; ++n) {
        double motion[BODY_MOTIONS] = {0.3, -1.0, 0.7, 0.02, 0.01, -0.05};
        bool is_flat = !f->s.f.domain.is_active[2];
        motion[2] = is_flat ? 0.0 : motion[2];
        motion[3] = is_flat ? 0.0 : motion[3];
        motion[4] = is_flat ? 0.0 : motion[4];
        mat6_multiply((const double(*)[BODY_MOTIONS])f->s.body[n].mass, motion,
                      f->v.f + f->tail + n * BODY_MOTIONS);
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
    {.cells = {32, 32, 32}, .has_floor = true, .r = 100.0},
    {.cells = {50, 40, 1}, .has_floor = true, .r = 1.0},
    {.cells = {32, 32, 32}, .r = 1e4},
    {.cells = {32, 32, 32}, .has_floor = true, .r = 0.1},
};
enum { DOMAINS = sizeof(domains) / sizeof(domains[0]) };

static void test_bodies_leave_the_system_symmetric(void** state) {
    (void)state;
    for (int n = 0; n < DOMAINS; ++n) {
        flow_fixture f;
        flow_open(&f, &domains[n], 0.3);
        linop a = viscosity_solver_linop(f.s.f.solver);
        double *u[2], *p[2], *au[2], *bu[2];
        for (size_t k = 0; k < 2; ++k) {
            u[k] = conform_random_vector(&a, 3 + (uint64_t)k);
            p[k] = calloc(f.cells, sizeof(double));
            au[k] = calloc(f.faces, sizeof(double));
            bu[k] = calloc(f.cells, sizeof(double));
            for (size_t i = 0; i < f.cells - TILE_CELLS; ++i) {
                p[k][i] = (double)f.volume[i] >= 0.02 ? conform_random(7 * i + k) : 0.0;
            }
            stokes_apply(f.solver, u[k], p[k], au[k], bu[k]);
        }
        double there = dot(f.faces, u[0], au[1]) + dot(f.cells, p[0], bu[1]);
        double back = dot(f.faces, u[1], au[0]) + dot(f.cells, p[1], bu[0]);
        assert_true(fabs(there - back) < 1e-11 * (1.0 + dot(f.faces, u[0], au[0])));
        for (int k = 0; k < 2; ++k) {
            vec_destroy(a.space, u[k]);
            free(p[k]);
            free(au[k]);
            free(bu[k]);
        }
        flow_close(&f);
    }
}

// |b - A x| / |b| from scratch.
static double true_residual(const flow_fixture* f, const double* b) {
    double *y_u = calloc(f->faces, sizeof(double)), *y_p = calloc(f->cells, sizeof(double));
    double missed = 0.0;
    stokes_apply(f->solver, f->v.u, f->v.p, y_u, y_p);
    for (size_t i = 0; i < f->faces; ++i) {
        missed += (b[i] - y_u[i]) * (b[i] - y_u[i]);
    }
    missed += dot(f->cells, y_p, y_p);
    free(y_u);
    free(y_p);
    return sqrt(missed / dot(f->faces, b, b));
}

static void test_solution_meets_the_equations(void** state) {
    (void)state;
    for (int n = 0; n < DOMAINS; ++n) {
        flow_fixture f;
        flow_open(&f, &domains[n], 0.3);
        fill_momentum(&f);
        double* b = malloc(f.faces * sizeof(double));
        memcpy(b, f.v.f, f.faces * sizeof(double));
        stokes_params params = stokes_params_default();
        params.energy = INFINITY;
        params.relative = 1e-6;
        stokes_stats stats;
        assert_int_equal(stokes_solve(f.solver, &f.v, &params, &stats), TREACLE_OK);
        assert_true(stats.is_converged);
        assert_true(true_residual(&f, b) < 1.2e-6);
        free(b);
        flow_close(&f);
    }
}

// Opens f for a cold solve, whose vectors it then holds. The caller closes it.
static stokes_stats solve_momentum(const fixture_def* def, double mass, flow_fixture* f) {
    flow_open(f, def, mass);
    fill_momentum(f);
    stokes_params params = stokes_params_default();
    stokes_stats stats;
    assert_int_equal(stokes_solve(f->solver, &f->v, &params, &stats), TREACLE_OK);
    assert_true(stats.is_converged);
    return stats;
}

static int iterations_without_bodies(const fixture_def* def) {
    fixture f;
    fixture_open(&f, def);
    size_t cells = ((size_t)f.map.count + 1) * TILE_CELLS;
    float *volume = array_create(&f.map, sizeof(float)),
          *opening = array_create(&f.map, sizeof(float));
    stokes_vectors v = {calloc(AXES * cells, sizeof(double)), calloc(cells, sizeof(double)),
                        calloc(AXES * cells, sizeof(double)), calloc(cells, sizeof(double))};
    for (size_t i = 0; i < cells - TILE_CELLS; ++i) {
        volume[i] = f.cell[i] / (float)def->r;
        opening[i] = 1.0f;
    }
    for (size_t i = 0; i < AXES * (cells - TILE_CELLS); ++i) {
        size_t t = i / VISCOSITY_BLOCK, a = i % VISCOSITY_BLOCK / TILE_CELLS, q = i % TILE_CELLS;
        v.f[i] = (1.0 + conform_random(i)) * (double)f.mass[a][t * TILE_CELLS + q];
    }
    stokes_system system = {.domain = &f.domain,
                            .map = &f.map,
                            .weights = f.system.weights,
                            .opening = {opening, opening, opening},
                            .volume = volume};
    stokes_solver* solver = NULL;
    stokes_params params = stokes_params_default();
    stokes_stats stats;
    assert_int_equal(stokes_solver_create(f.ctx, &system, &solver), TREACLE_OK);
    assert_int_equal(stokes_solve(solver, &v, &params, &stats), TREACLE_OK);
    stokes_solver_destroy(solver);
    free(volume);
    free(opening);
    free(v.f);
    free(v.h);
    free(v.u);
    free(v.p);
    fixture_close(&f);
    return stats.iterations;
}

static void test_bodies_of_any_mass_cost_few_iterations(void** state) {
    (void)state;
    static const double r[] = {0.1, 1.0, 100.0, 1e4}, mass[] = {1e-3, 1.0, 100.0};
    for (int i = 0; i < 4; ++i) {
        fixture_def def = {.cells = {32, 32, 32}, .has_floor = true, .r = r[i]};
        int plain = iterations_without_bodies(&def);
        for (int k = 0; k < 3; ++k) {
            flow_fixture f;
            int count = solve_momentum(&def, mass[k], &f).iterations;
            flow_close(&f);
            print_message("r %g mass %g: %d, without bodies %d\n", def.r, mass[k], count, plain);
            assert_true(count <= plain + 3);
        }
    }
}

// Momentum along y and spin about z through the origin, of liquid and bodies.
static void sum_momentum(const flow_fixture* f, bool is_impulse, double out[2]) {
    const balls* s = &f->s;
    out[0] = out[1] = 0.0;
    for (size_t i = 0; i < f->tail - VISCOSITY_BLOCK; ++i) {
        size_t t = i / VISCOSITY_BLOCK;
        int a = (int)(i % VISCOSITY_BLOCK) / TILE_CELLS, q = (int)(i % TILE_CELLS), at[AXES];
        double mass = (double)s->f.mass[a][t * TILE_CELLS + (size_t)q];
        double push = is_impulse ? f->v.f[i] : mass * f->v.u[i];
        tile_cell_at(&s->f.map, (tile_ix)t, q, at);
        out[0] += a == 1 ? push : 0.0;
        out[1] += a == 1 ? push * (at[0] + 0.5) : a == 0 ? -push * (at[1] + 0.5) : 0.0;
    }
    for (int n = 0; n < BODIES; ++n) {
        double push[BODY_MOTIONS];
        mat6_multiply((const double(*)[BODY_MOTIONS])s->body[n].mass,
                      f->v.u + f->tail + n * BODY_MOTIONS, push);
        if (is_impulse) {
            memcpy(push, f->v.f + f->tail + n * BODY_MOTIONS, sizeof(push));
        }
        out[0] += push[1];
        out[1] += push[5] + push[1] * s->body[n].pivot[0] - push[0] * s->body[n].pivot[1];
    }
}

static void test_free_liquid_with_bodies_keeps_its_momentum(void** state) {
    (void)state;
    static const double mass[] = {1e-2, 1.0, 30.0};
    for (int k = 0; k < 3; ++k) {
        fixture_def def = {.cells = {32, 32, 32}, .r = 1e4};
        flow_fixture f;
        double before[2], after[2];
        flow_open(&f, &def, mass[k]);
        fill_momentum(&f);
        sum_momentum(&f, true, before);
        flow_close(&f);
        solve_momentum(&def, mass[k], &f);
        sum_momentum(&f, false, after);
        assert_true(fabs(after[0] - before[0]) < 1e-9 * fabs(before[0]));
        assert_true(fabs(after[1] - before[1]) < 1e-9 * fabs(before[1]));
        flow_close(&f);
    }
}

// A hinge: of the first body only a turn about z is left.
static void test_bound_body_moves_as_its_joint_lets_it(void** state) {
    (void)state;
    flow_fixture f;
    flow_open(&f, &domains[0], 0.3);
    f.s.body[0].is_bound = true;
    f.s.body[0].free_motion[5] = 1.0;
    stokes_solver_destroy(f.solver);
    f.solver = NULL;
    double energy = f.s.body[0].mass[5][5];
    memset(f.s.body[0].inverse_mass, 0, sizeof(f.s.body[0].inverse_mass));
    f.s.body[0].inverse_mass[5][5] = 1.0 / energy;
    assert_int_equal(stokes_solver_create(f.s.f.ctx, &f.system, &f.solver), TREACLE_OK);
    fill_momentum(&f);
    memset(f.v.f + f.tail, 0, BODY_MOTIONS * sizeof(double));
    f.v.f[f.tail] = energy * 3.0;
    double* b = malloc(f.faces * sizeof(double));
    memcpy(b, f.v.f, f.faces * sizeof(double));
    stokes_params params = stokes_params_default();
    stokes_stats stats;
    params.relative = 1e-6;
    assert_int_equal(stokes_solve(f.solver, &f.v, &params, &stats), TREACLE_OK);
    assert_true(stats.is_converged);
    assert_true(true_residual(&f, b) < 1.2e-6);
    assert_true(f.v.u[f.tail] != 0.0);
    for (int i = 1; i < BODY_MOTIONS; ++i) {
        assert_true(f.v.u[f.tail + (size_t)i] == 0.0);
    }
    free(b);
    flow_close(&f);
}

// A pull of the liquid beside a body, as of a wall with a slip length.
static void test_pull_is_shared_by_liquid_and_body(void** state) {
    (void)state;
    flow_fixture f;
    flow_open(&f, &domains[0], 0.3);
    int at[AXES] = {5, 11, 11};
    size_t i = cell_at(&f.s.f, at);
    int64_t t = (int64_t)(i / TILE_CELLS), q = (int64_t)(i % TILE_CELLS);
    body_pull pull = {t * VISCOSITY_BLOCK + TILE_CELLS + q, 40.0};
    f.s.f.mass[1][i] += 40.0f;
    f.s.body[0].pull_count = 1;
    f.s.body[0].pull = &pull;
    stokes_solver_destroy(f.solver);
    f.solver = NULL;
    assert_int_equal(stokes_solver_create(f.s.f.ctx, &f.system, &f.solver), TREACLE_OK);
    double *zero = calloc(f.cells, sizeof(double)), *y = calloc(f.cells, sizeof(double));
    double row[BODY_MOTIONS], place[AXES] = {at[0] + 0.5, at[1], at[2] + 0.5};
    drag_body_row(&f.s.body[0], &f.s.f.domain, 1, place, row);
    f.v.u[pull.slot] = 2.0;
    stokes_apply(f.solver, f.v.u, zero, f.v.f, y);
    double alone = f.v.f[pull.slot], body = f.v.f[f.tail + 1];
    f.v.u[f.tail + 1] = 2.0;
    stokes_apply(f.solver, f.v.u, zero, f.v.f, y);
    // It no longer holds the face back.
    assert_true(fabs(alone - f.v.f[pull.slot] - 80.0) < 1e-9);
    assert_true(fabs(body + 80.0 * row[1]) < 1e-9);
    free(zero);
    free(y);
    flow_close(&f);
}

static void test_bits_depend_neither_on_threads_nor_on_the_instruction_set(void** state) {
    (void)state;
    fixture_def def = domains[0];
    flow_fixture want, got;
    solve_momentum(&def, 0.5, &want);
    def.threads = 3;
    def.isa = TREACLE_ISA_SSE2;
    solve_momentum(&def, 0.5, &got);
    assert_memory_equal(got.v.u, want.v.u, want.faces * sizeof(double));
    assert_memory_equal(got.v.p, want.v.p, want.cells * sizeof(double));
    flow_close(&want);
    flow_close(&got);
}

static treacle_status make_solver(treacle_context* ctx, void* data) {
    const flow_fixture* f = data;
    stokes_solver* solver = NULL;
    TREACLE_TRY(stokes_solver_create(ctx, &f->system, &solver));
    stokes_solver_destroy(solver);
    return TREACLE_OK;
}

static void test_failing_allocations_leave_nothing_behind(void** state) {
    (void)state;
    flow_fixture f;
    flow_open(&f, &domains[1], 1.0);
    ALLOC_FAILURE_CHECK(make_solver, &f);
    flow_close(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bodies_leave_the_system_symmetric),
        cmocka_unit_test(test_solution_meets_the_equations),
        cmocka_unit_test(test_bodies_of_any_mass_cost_few_iterations),
        cmocka_unit_test(test_free_liquid_with_bodies_keeps_its_momentum),
        cmocka_unit_test(test_bound_body_moves_as_its_joint_lets_it),
        cmocka_unit_test(test_pull_is_shared_by_liquid_and_body),
        cmocka_unit_test(test_bits_depend_neither_on_threads_nor_on_the_instruction_set),
        cmocka_unit_test(test_failing_allocations_leave_nothing_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
