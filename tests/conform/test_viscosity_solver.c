#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "conform/viscosity_fixture.h"
#include "unit/alloc_failure.h"

static const fixture_def domains[] = {
    {.cells = {13, 21, 9}, .is_patchy = true, .r = 10.0},
    {.cells = {24, 33, 40}, .is_patchy = true, .has_floor = true, .r = 100.0},
    {.cells = {50, 40, 1}, .is_patchy = true, .r = 10.0},
    {.cells = {1, 40, 50}, .has_floor = true, .r = 1e4},
    {.cells = {48, 24, 32}, .is_periodic = {true, false, true}, .has_floor = true, .r = 1e3},
    {.cells = {24, 33, 26}, .is_patchy = true, .has_floor = true, .has_sheet = true, .r = 100.0},
    {.cells = {50, 40, 1}, .is_patchy = true, .has_sheet = true, .r = 10.0},
    {.cells = {48, 24, 32}, .is_periodic = {true, false, true}, .has_sheet = true, .r = 1e3},
};
enum { DOMAINS = sizeof(domains) / sizeof(domains[0]) };

static void test_operator_conforms(void** state) {
    (void)state;
    for (int i = 0; i < DOMAINS; ++i) {
        fixture f;
        fixture_open(&f, &domains[i]);
        linop op = viscosity_solver_linop(f.solver);
        conform_is_symmetric(&op);
        conform_rounded_agrees(&op);
        conform_is_positive(&op);
        conform_diagonal_agrees(&op);
        fixture_close(&f);
    }
}

static void test_preconditioner_is_symmetric_positive(void** state) {
    (void)state;
    // Low weights: no rigid motions are taken out. That correction is symmetric only for residuals
    // that have no part in them, as those of a solve.
    for (int i = 0; i < DOMAINS; ++i) {
        fixture_def def = domains[i];
        def.r = 3.0;
        fixture f;
        fixture_open(&f, &def);
        linop op = viscosity_solver_linop(f.solver);
        assert_false(op.is_flexible);
        conform_preconditioner_is_symmetric_positive(&op, 1e-5);
        fixture_close(&f);
    }
}

static double face(const fixture* f, const double* u, const int at[AXES], int a) {
    size_t i = cell_at(f, at);
    return u[i / TILE_CELLS * VISCOSITY_BLOCK + (size_t)a * TILE_CELLS + i % TILE_CELLS];
}

static void move(const int at[AXES], int axis, int by, int to[AXES]) {
    memcpy(to, at, AXES * sizeof(int));
    to[axis] += by;
}

static bool is_unknown(const fixture* f, const int at[AXES], int a) {
    size_t i = cell_at(f, at);
    return i < (size_t)f->map.count * TILE_CELLS && (f->fixed[i] >> a & 1) == 0;
}

// Twice the energy of plain differences at the edge along a.
static double sheet_energy(const fixture* f, const double* u, const int at[AXES], int a) {
    int b = (a + 1) % AXES, c = (a + 2) % AXES;
    double sum = 0.0;
    for (int n = 0; n < 2 && f->sheet[a][n] != NULL; ++n) {
        int along = n == 0 ? b : c, low[AXES];
        move(at, n == 0 ? c : b, -1, low);
        double change = face(f, u, at, along) - face(f, u, low, along);
        bool counts = is_unknown(f, at, along) && is_unknown(f, low, along);
        sum += counts ? (double)f->sheet[a][n][cell_at(f, at)] * change * change : 0.0;
    }
    return sum;
}

// Twice the energy: the sum of its terms one by one.
static double energy_of(const fixture* f, const double* u) {
    double sum = 0.0;
    FOR_EACH_CELL(f, at) {
        size_t i = cell_at(f, at);
        bool is_repeat = false;
        for (int a = 0; a < AXES; ++a) {
            is_repeat = is_repeat || (f->domain.is_periodic[a] && at[a] == f->domain.cells[a]);
        }
        for (int a = 0; a < AXES && !is_repeat; ++a) {
            int b = (a + 1) % AXES, c = (a + 2) % AXES, up[AXES], b_low[AXES], c_low[AXES];
            move(at, a, 1, up);
            move(at, b, -1, b_low);
            move(at, c, -1, c_low);
            double own = face(f, u, at, a), stretch = face(f, u, up, a) - own;
            double shear = (face(f, u, at, b) - face(f, u, c_low, b)) +
                           (face(f, u, at, c) - face(f, u, b_low, c));
            sum += (double)f->mass[a][i] * own * own;
            sum += 2.0 * (double)f->cell[i] * stretch * stretch;
            sum += (double)f->edge[a][i] * shear * shear + sheet_energy(f, u, at, a);
        }
    }
    return sum;
}

static void test_apply_is_the_gradient_of_the_energy(void** state) {
    (void)state;
    for (int i = 0; i < DOMAINS; ++i) {
        fixture f;
        fixture_open(&f, &domains[i]);
        linop op = viscosity_solver_linop(f.solver);
        double *u = conform_random_vector(&op, 1), *v = conform_random_vector(&op, 2);
        double* au = conform_vector(&op);
        double uu = op.apply(op.data, u, au), uv = vec_dot(op.space, v, au);
        double want = energy_of(&f, u);
        assert_true(fabs(uu - want) < 1e-6 * want);
        vec_add_scaled(op.space, 1.0, v, u);
        double both = energy_of(&f, u), alone = energy_of(&f, v);
        assert_true(fabs(2.0 * uv - (both - want - alone)) < 1e-6 * want);
        vec_destroy(op.space, u);
        vec_destroy(op.space, v);
        vec_destroy(op.space, au);
        fixture_close(&f);
    }
}

// Rigid motion n at face a of cell I of level l, in units of the finest cells.
static double rigid(int n, int a, const int32_t* tile, int q, double h) {
    double p[AXES] = {8 * tile[0] + (q & 7), 8 * tile[1] + (q >> 3 & 7), 8 * tile[2] + (q >> 6)};
    for (int b = 0; b < AXES; ++b) {
        p[b] = h * (p[b] + (b == a ? 0.0 : 0.5));
    }
    if (n < AXES) {
        return n == a ? 1.0 : 0.0;
    }
    int c = n - AXES; // about axis c
    return a == (c + 1) % AXES ? -p[(c + 2) % AXES] : a == (c + 2) % AXES ? p[(c + 1) % AXES] : 0.0;
}

// The largest stress force of a rigid motion, in units of weight times motion.
static double stress_of_rigid(const viscosity_level* level, int n, double h) {
    double *u = NULL, *y = NULL, most = 0.0, size = 0.0;
    assert_int_equal(vec_create(&level->space, "u", &u), TREACLE_OK);
    assert_int_equal(vec_create(&level->space, "y", &y), TREACLE_OK);
    for (tile_ix t = 0; t < level->map->count; ++t) {
        for (int k = 0; k < VISCOSITY_BLOCK; ++k) {
            u[t * VISCOSITY_BLOCK + k] =
                rigid(n, k / TILE_CELLS, level->map->coord[t].at, k % TILE_CELLS, h);
        }
    }
    viscosity_level_apply(level, u, y);
    for (tile_ix t = 0; t < level->map->count; ++t) {
        for (int k = 0; k < VISCOSITY_BLOCK; ++k) {
            size_t i = (size_t)t * VISCOSITY_BLOCK + (size_t)k;
            if (level->inverse[i] > 0.0f) {
                const float* mass = level->weights.mass[k / TILE_CELLS];
                double force = y[i] - (double)mass[t * TILE_CELLS + k % TILE_CELLS] * u[i];
                most = fmax(most, fabs(force) * (double)level->inverse[i]);
                size = fmax(size, fabs(u[i]));
            }
        }
    }
    vec_destroy(&level->space, u);
    vec_destroy(&level->space, y);
    return most / size;
}

static void test_rigid_motion_is_free_on_every_level(void** state) {
    (void)state;
    fixture_def def = {.cells = {60, 44, 52}, .is_patchy = true, .margin = 8, .r = 1e6};
    fixture f;
    fixture_open(&f, &def);
    viscosity_level level[3];
    assert_int_equal(viscosity_level_create(f.ctx, &f.domain, &f.map, &f.system.weights, &level[0]),
                     TREACLE_OK);
    for (int l = 0; l < 3; ++l) {
        for (int n = 0; n < 6; ++n) {
            assert_true(stress_of_rigid(&level[l], n, 1 << l) < 1e-12);
        }
        assert_true(stress_of_rigid(&level[l], 3, 1.0) < 1e-12);
        if (l < 2) {
            assert_int_equal(viscosity_level_coarsen(&level[l], &level[l + 1]), TREACLE_OK);
        }
    }
    for (int l = 2; l >= 0; --l) {
        viscosity_level_destroy(&level[l]);
    }
    fixture_close(&f);
}

static double total_mass(const viscosity_level* level, int a) {
    double sum = 0.0;
    for (int64_t i = 0; i < (int64_t)level->map->count * TILE_CELLS; ++i) {
        sum += (double)level->weights.mass[a][i];
    }
    return sum;
}

static void test_coarse_levels_keep_the_mass(void** state) {
    (void)state;
    fixture_def def = {.cells = {30, 44, 28}, .is_patchy = true, .r = 1.0};
    fixture f;
    fixture_open(&f, &def);
    viscosity_level fine, coarse;
    assert_int_equal(viscosity_level_create(f.ctx, &f.domain, &f.map, &f.system.weights, &fine),
                     TREACLE_OK);
    assert_int_equal(viscosity_level_coarsen(&fine, &coarse), TREACLE_OK);
    for (int a = 0; a < AXES; ++a) {
        double want = total_mass(&fine, a);
        assert_true(fabs(total_mass(&coarse, a) - want) < 1e-5 * want);
    }
    viscosity_level_destroy(&coarse);
    viscosity_level_destroy(&fine);
    fixture_close(&f);
}

static double true_residual(const linop* op, const double* b, const double* x) {
    double* y = conform_vector(op);
    op->apply(op->data, x, y);
    vec_add_scaled(op->space, -1.0, b, y);
    double fraction = sqrt(vec_measure(op->space, y).square / vec_measure(op->space, b).square);
    vec_destroy(op->space, y);
    return fraction;
}

static void test_solution_meets_the_equations(void** state) {
    (void)state;
    for (int i = 0; i < DOMAINS; ++i) {
        fixture_def def = domains[i];
        def.is_patchy = false;
        fixture f;
        fixture_open(&f, &def);
        linop op = viscosity_solver_linop(f.solver);
        double *b = random_momentum(&f, &op, 31), *r = conform_vector(&op);
        double* x = conform_vector(&op);
        vec_copy(op.space, b, r);
        solve_params params = solve_params_default();
        params.relative = 1e-9;
        solve_stats stats;
        assert_int_equal(viscosity_solve(f.solver, r, x, &params, &stats), TREACLE_OK);
        assert_true(stats.is_converged);
        assert_true(stats.factor < 0.5);
        assert_true(true_residual(&op, b, x) < 1.1e-9);
        vec_destroy(op.space, b);
        vec_destroy(op.space, r);
        vec_destroy(op.space, x);
        fixture_close(&f);
    }
}

static void test_a_moving_wall_drags_everything_along(void** state) {
    (void)state;
    // Fixed faces all move with velocity 1 along x; so does the liquid, which starts with it.
    fixture_def def = {.cells = {20, 24, 20}, .has_floor = true, .r = 50.0};
    fixture f;
    fixture_open(&f, &def);
    linop op = viscosity_solver_linop(f.solver);
    double *wall = conform_vector(&op), *rhs = conform_vector(&op), *u = conform_vector(&op);
    for (tile_ix t = 0; t < f.map.count; ++t) {
        for (int q = 0; q < TILE_CELLS; ++q) {
            size_t at = (size_t)t * TILE_CELLS + (size_t)q, slot = (size_t)t * VISCOSITY_BLOCK;
            bool is_fixed = (f.fixed[at] & 1) != 0;
            wall[slot + (size_t)q] = is_fixed ? 1.0 : 0.0;
            rhs[slot + (size_t)q] = is_fixed ? 0.0 : (double)f.mass[0][at];
        }
    }
    solve_params params = solve_params_default();
    params.relative = 1e-10;
    solve_stats stats;
    assert_int_equal(viscosity_add_fixed(f.solver, wall, rhs), TREACLE_OK);
    assert_int_equal(viscosity_solve(f.solver, rhs, u, &params, &stats), TREACLE_OK);
    assert_true(stats.is_converged);
    double* d = conform_vector(&op);
    op.diagonal(op.data, d);
    for (size_t i = 0; i < vec_length(op.space); ++i) {
        bool is_x = i % VISCOSITY_BLOCK < TILE_CELLS;
        assert_true(fabs(u[i] - (d[i] > 0.0 && is_x ? 1.0 : 0.0)) < 1e-7);
    }
    vec_destroy(op.space, d);
    vec_destroy(op.space, wall);
    vec_destroy(op.space, rhs);
    vec_destroy(op.space, u);
    fixture_close(&f);
}

static solve_stats solve_random(const fixture_def* def, const solve_params* params, double** out,
                                size_t* bytes) {
    fixture f;
    fixture_open(&f, def);
    linop op = viscosity_solver_linop(f.solver);
    double *r = random_momentum(&f, &op, 51), *x = conform_vector(&op);
    solve_stats stats;
    assert_int_equal(viscosity_solve(f.solver, r, x, params, &stats), TREACLE_OK);
    *bytes = vec_length(op.space) * sizeof(double);
    *out = malloc(*bytes);
    memcpy(*out, x, *bytes);
    vec_destroy(op.space, r);
    vec_destroy(op.space, x);
    fixture_close(&f);
    return stats;
}

static void test_bits_depend_neither_on_threads_nor_on_the_instruction_set(void** state) {
    (void)state;
    for (int i = 1; i < DOMAINS; i += 3) {
        fixture_def def = domains[i];
        solve_params params = {.relative = 1e-5, .max_iterations = 12};
        double *want = NULL, *got = NULL;
        size_t bytes = 0;
        solve_random(&def, &params, &want, &bytes);
        for (int n = 0; n < 4; ++n) {
            def.threads = n % 2 == 0 ? 2 : 5;
            def.isa = n < 2 ? TREACLE_ISA_SSE2 : TREACLE_ISA_AUTO;
            solve_random(&def, &params, &got, &bytes);
            assert_memory_equal(got, want, bytes);
            free(got);
        }
        free(want);
    }
}

static void test_free_bodies_are_as_easy_as_held_ones(void** state) {
    (void)state;
    for (int n = 0; n < 2; ++n) {
        fixture_def def = {.cells = {48, 48, n == 0 ? 48 : 1}, .margin = 5, .r = 1e6};
        fixture f;
        fixture_open(&f, &def);
        linop op = viscosity_solver_linop(f.solver);
        assert_true(op.is_flexible);
        double *b = random_momentum(&f, &op, 81), *r = conform_vector(&op);
        double* x = conform_vector(&op);
        vec_copy(op.space, b, r);
        solve_params params = solve_params_default();
        solve_stats stats;
        assert_int_equal(viscosity_solve(f.solver, r, x, &params, &stats), TREACLE_OK);
        assert_true(stats.is_converged);
        assert_true(stats.iterations <= 18);
        assert_true(true_residual(&op, b, x) < 1.5e-6);
        vec_destroy(op.space, b);
        vec_destroy(op.space, r);
        vec_destroy(op.space, x);
        fixture_close(&f);
    }
}

// A lump is told from what it swims in, though another be a thousand times as stiff.
static void test_stiff_lumps_swim_freely(void** state) {
    (void)state;
    fixture_def def = {.cells = {40, 40, 40}, .has_lumps = true, .has_floor = true, .r = 1.0};
    solve_params params = solve_params_default();
    double* x = NULL;
    size_t bytes = 0;
    solve_stats stats = solve_random(&def, &params, &x, &bytes);
    assert_true(stats.is_converged);
    assert_true(stats.iterations <= 30);
    free(x);
}

static void test_threads_switch_the_space_of_aggregates_on(void** state) {
    (void)state;
    // A beam of 6 x 6 cells, 20 times as long, held at its low end.
    fixture_def def = {.cells = {16, 136, 16}, .margin = 5, .has_floor = true, .r = 1e6};
    fixture f;
    fixture_open(&f, &def);
    linop op = viscosity_solver_linop(f.solver);
    double *b = random_momentum(&f, &op, 91), *r = conform_vector(&op), *x = conform_vector(&op);
    vec_copy(op.space, b, r);
    solve_params params = solve_params_default();
    solve_stats stats;
    assert_int_equal(viscosity_solve(f.solver, r, x, &params, &stats), TREACLE_OK);
    op = viscosity_solver_linop(f.solver);
    assert_true(op.is_flexible);
    assert_true(stats.is_converged);
    assert_true(stats.iterations <= 60);
    assert_true(stats.history_count == stats.iterations + 1);
    assert_true(true_residual(&op, b, x) < 1.5e-6);
    vec_destroy(op.space, b);
    vec_destroy(op.space, r);
    vec_destroy(op.space, x);
    fixture_close(&f);
}

// As it falls, thick liquid that a floor has just stopped is a guess worse than none.
static void test_guesses_worse_than_none_are_not_used(void** state) {
    (void)state;
    fixture_def def = {.cells = {24, 33, 24}, .has_floor = true, .r = 1e4};
    int iterations[2];
    for (int is_warm = 0; is_warm < 2; ++is_warm) {
        fixture f;
        fixture_open(&f, &def);
        linop op = viscosity_solver_linop(f.solver);
        double *r = random_momentum(&f, &op, 91), *x = conform_vector(&op);
        for (size_t i = 0; i < vec_length(op.space); ++i) {
            x[i] = i / TILE_CELLS % AXES == 1 ? -1.0 : 0.0;
        }
        solve_params params = solve_params_default();
        params.is_warm = is_warm != 0;
        solve_stats stats;
        assert_int_equal(viscosity_solve(f.solver, r, x, &params, &stats), TREACLE_OK);
        assert_true(stats.is_converged);
        iterations[is_warm] = stats.iterations;
        vec_destroy(op.space, r);
        vec_destroy(op.space, x);
        fixture_close(&f);
    }
    assert_int_equal(iterations[0], iterations[1]);
}

static treacle_status build_and_solve(treacle_context* ctx, void* data) {
    fixture f = {.ctx = ctx};
    solve_params params = {.relative = 1e-6, .max_iterations = 40};
    solve_stats stats;
    treacle_status status = fixture_build(&f, data);
    size_t length = ((size_t)f.map.count + 1) * VISCOSITY_BLOCK;
    double *r = calloc(length, sizeof(double)), *x = calloc(length, sizeof(double));
    if (status == TREACLE_OK) {
        for (size_t i = 0; i < length - VISCOSITY_BLOCK; ++i) {
            size_t a = i % VISCOSITY_BLOCK / TILE_CELLS, t = i / VISCOSITY_BLOCK;
            r[i] = conform_random(i) * (double)f.mass[a][t * TILE_CELLS + i % TILE_CELLS];
        }
        status = viscosity_solve(f.solver, r, x, &params, &stats);
    }
    if (status == TREACLE_OK) {
        status = viscosity_add_fixed(f.solver, x, r);
    }
    free(r);
    free(x);
    fixture_clear(&f);
    return status;
}

static void test_failing_allocations_leave_nothing_behind(void** state) {
    (void)state;
    // A free bar that is slender enough for the space of aggregates.
    fixture_def def = {.cells = {9, 72, 9}, .margin = 2, .r = 1e6};
    ALLOC_FAILURE_CHECK(build_and_solve, &def);
}

// What a broken level does to the predicates that the solver asks in builds with assertions.
static void test_broken_levels_are_seen(void** state) {
    (void)state;
    fixture f;
    fixture_open(&f, &domains[0]);
    assert_true(viscosity_solver_is_valid(f.solver));
    viscosity_level* level = (viscosity_level*)viscosity_solver_finest(f.solver);
    assert_true(viscosity_level_is_valid(level));
    int64_t slot = (int64_t)level->active[0] * VISCOSITY_BLOCK;
    while (!(level->inverse[slot] > 0.0f)) {
        slot += 1;
    }
    // A diagonal that is no number, or negative.
    const float bad[] = {NAN, INFINITY, -1.0f};
    float inverse = level->inverse[slot];
    for (int i = 0; i < 3; ++i) {
        level->inverse[slot] = bad[i];
        assert_false(viscosity_level_is_valid(level));
        assert_false(viscosity_solver_is_valid(f.solver));
    }
    level->inverse[slot] = inverse;
    // A mask that leaves out a row with an unknown: sweeps would skip it.
    int a = (int)(slot % VISCOSITY_BLOCK) / TILE_CELLS, row = (int)(slot % TILE_CELLS) / TILE_SIZE;
    level->rows[level->active[0]][a] ^= (uint64_t)1 << row;
    assert_false(viscosity_level_is_valid(level));
    level->rows[level->active[0]][a] ^= (uint64_t)1 << row;
    // A tile that is never swept.
    uint8_t repeats = level->repeats[level->active[0]];
    level->repeats[level->active[0]] = 0;
    assert_false(viscosity_level_is_valid(level));
    level->repeats[level->active[0]] = repeats;
    // A list that is not in order, or leads beyond the map.
    tile_ix last = level->active[1];
    level->active[1] = level->active[0];
    assert_false(viscosity_level_is_valid(level));
    level->active[1] = level->map->count;
    assert_false(viscosity_level_is_valid(level));
    level->active[1] = last;
    assert_true(viscosity_solver_is_valid(f.solver));
    fixture_close(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_operator_conforms),
        cmocka_unit_test(test_preconditioner_is_symmetric_positive),
        cmocka_unit_test(test_apply_is_the_gradient_of_the_energy),
        cmocka_unit_test(test_rigid_motion_is_free_on_every_level),
        cmocka_unit_test(test_coarse_levels_keep_the_mass),
        cmocka_unit_test(test_solution_meets_the_equations),
        cmocka_unit_test(test_free_bodies_are_as_easy_as_held_ones),
        cmocka_unit_test(test_stiff_lumps_swim_freely),
        cmocka_unit_test(test_threads_switch_the_space_of_aggregates_on),
        cmocka_unit_test(test_guesses_worse_than_none_are_not_used),
        cmocka_unit_test(test_a_moving_wall_drags_everything_along),
        cmocka_unit_test(test_bits_depend_neither_on_threads_nor_on_the_instruction_set),
        cmocka_unit_test(test_failing_allocations_leave_nothing_behind),
        cmocka_unit_test(test_broken_levels_are_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
