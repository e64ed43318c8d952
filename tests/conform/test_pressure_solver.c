#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/context.h"
#include "conform/linop_conform.h"
#include "solve/pressure_solver.h"
#include "unit/alloc_failure.h"

// A grid with some liquid in it, and the system of its cells.
typedef struct fixture {
    treacle_context* ctx;
    grid_domain domain;
    tile_map map;
    float* link[AXES];
    float* extra;
    pressure_solver* solver;
} fixture;

typedef struct fixture_def {
    int cells[AXES];
    bool is_periodic[AXES];
    int threads;
    treacle_isa isa;
    bool is_closed; // no extras
    bool is_patchy; // cells missing at random, links of random strength
    double fill;    // fraction of the height that is filled
} fixture_def;

static size_t cell_at(const fixture* f, const int at[AXES]) {
    tile_coord tile = {{at[0] >> 3, at[1] >> 3, at[2] >> 3}};
    tile_ix t = tile_map_find(&f->map, tile);
    assert_true(t < f->map.count);
    return (size_t)t * TILE_CELLS + (size_t)((at[2] & 7) * 64 + (at[1] & 7) * 8 + (at[0] & 7));
}

// The cell below along an axis; false if there is none.
static bool step_down(const fixture* f, const int at[AXES], int axis, int below[AXES]) {
    memcpy(below, at, AXES * sizeof(int));
    below[axis] -= 1;
    if (below[axis] < 0 && f->domain.is_periodic[axis]) {
        below[axis] += f->domain.cells[axis];
    }
    return below[axis] >= 0;
}

static bool is_liquid(const fixture_def* def, const int at[AXES]) {
    uint64_t n = (uint64_t)(at[0] + 1000 * (at[1] + 1000 * at[2]));
    return at[1] < def->fill * def->cells[1] && (!def->is_patchy || conform_random(n) < 0.6);
}

#define FOR_EACH_CELL(f, at)                                                                       \
    for (int at[AXES] = {0, 0, 0}; at[2] < (f)->domain.cells[2]; ++at[2])                          \
        for (at[1] = 0; at[1] < (f)->domain.cells[1]; ++at[1])                                     \
            for (at[0] = 0; at[0] < (f)->domain.cells[0]; ++at[0])

static void fill_links(fixture* f, const fixture_def* def) {
    FOR_EACH_CELL(f, at) {
        size_t i = cell_at(f, at);
        bool is_top = at[1] + 1 >= def->fill * def->cells[1];
        f->extra[i] = is_liquid(def, at) && is_top && !def->is_closed ? 2.0f : 0.0f;
        for (int a = 0; a < AXES; ++a) {
            int below[AXES];
            bool has_both =
                step_down(f, at, a, below) && is_liquid(def, at) && is_liquid(def, below);
            double strength =
                def->is_patchy ? 0.55 + 0.45 * conform_random(3 * i + (size_t)a) : 1.0;
            f->link[a][i] = has_both && f->domain.is_active[a] ? (float)strength : 0.0f;
        }
    }
}

static float* field_create(const tile_map* map) {
    float* field = calloc(((size_t)map->count + 1) * TILE_CELLS, sizeof(float));
    assert_non_null(field);
    return field;
}

static treacle_status make_map(fixture* f) {
    tile_coord coords[4096];
    int64_t n = 0;
    for (int z = 0; z < f->domain.tiles[2]; ++z) {
        for (int y = 0; y < f->domain.tiles[1]; ++y) {
            for (int x = 0; x < f->domain.tiles[0]; ++x) {
                coords[n++] = (tile_coord){{x, y, z}};
            }
        }
    }
    return tile_map_create(f->ctx, &f->domain, n, coords, &f->map);
}

static treacle_status fixture_build(fixture* f, const fixture_def* def) {
    treacle_domain_def box = {.cell = 1.0};
    for (int a = 0; a < AXES; ++a) {
        box.size[a] = def->cells[a] > 1 ? def->cells[a] : 0.0;
        box.sides[a][0] = box.sides[a][1] =
            def->is_periodic[a] ? TREACLE_SIDE_PERIODIC : TREACLE_SIDE_SLIP;
    }
    TREACLE_TRY(grid_domain_init(f->ctx, &box, &f->domain));
    TREACLE_TRY(make_map(f));
    for (int a = 0; a < AXES; ++a) {
        f->link[a] = field_create(&f->map);
    }
    f->extra = field_create(&f->map);
    fill_links(f, def);
    pressure_system system = {.domain = &f->domain,
                              .map = &f->map,
                              .link = {f->link[0], f->link[1], f->link[2]},
                              .extra = f->extra};
    return pressure_solver_create(f->ctx, &system, &f->solver);
}

static void fixture_clear(fixture* f) {
    pressure_solver_destroy(f->solver);
    tile_map_destroy(&f->map);
    for (int a = 0; a < AXES; ++a) {
        free(f->link[a]);
    }
    free(f->extra);
}

static void fixture_open(fixture* f, const fixture_def* def) {
    *f = (fixture){0};
    treacle_context_def context_def = treacle_context_def_default();
    context_def.threads = def->threads > 0 ? def->threads : 1;
    context_def.isa = def->isa;
    assert_int_equal(treacle_context_create(&context_def, &f->ctx), TREACLE_OK);
    assert_int_equal(fixture_build(f, def), TREACLE_OK);
}

static void fixture_close(fixture* f) {
    fixture_clear(f);
    treacle_context_destroy(f->ctx);
}

// A few domains of every kind. Periods of 3 tiles on the coarse level need more colours.
static const fixture_def domains[] = {
    {.cells = {13, 21, 9}, .is_patchy = true, .fill = 0.9},
    {.cells = {40, 24, 33}, .is_patchy = true, .fill = 0.8},
    {.cells = {50, 40, 1}, .is_patchy = true, .fill = 0.8},
    {.cells = {1, 40, 50}, .fill = 0.7},
    {.cells = {48, 24, 16}, .is_periodic = {true, false, true}, .is_patchy = true, .fill = 0.9},
    {.cells = {32, 32, 1}, .is_periodic = {true, true, false}, .is_patchy = true, .fill = 0.9},
    {.cells = {32, 16, 64}, .is_periodic = {true, true, true}, .fill = 1.0},
};
enum { DOMAINS = sizeof(domains) / sizeof(domains[0]) };

static void test_operator_conforms(void** state) {
    (void)state;
    for (int i = 0; i < DOMAINS; ++i) {
        fixture f;
        fixture_open(&f, &domains[i]);
        linop op = pressure_solver_linop(f.solver);
        conform_is_symmetric(&op);
        conform_rounded_agrees(&op);
        conform_is_positive(&op);
        conform_diagonal_agrees(&op);
        fixture_close(&f);
    }
}

static void test_preconditioner_is_symmetric_positive(void** state) {
    (void)state;
    // Two levels are a linear cycle; deeper ones have the K-cycle, which is symmetric only nearly.
    for (int i = 0; i < DOMAINS; ++i) {
        fixture f;
        fixture_open(&f, &domains[i]);
        linop op = pressure_solver_linop(f.solver);
        conform_preconditioner_is_symmetric_positive(&op, i == 5 ? 1e-7 : 0.03);
        fixture_close(&f);
    }
}

static void test_apply_matches_links_one_by_one(void** state) {
    (void)state;
    for (int i = 0; i < DOMAINS; ++i) {
        fixture f;
        fixture_open(&f, &domains[i]);
        linop op = pressure_solver_linop(f.solver);
        double *x = conform_random_vector(&op, 21), *y = conform_vector(&op);
        double* want = conform_vector(&op);
        FOR_EACH_CELL(&f, at) {
            size_t here = cell_at(&f, at);
            want[here] += (double)f.extra[here] * x[here];
            for (int a = 0; a < AXES; ++a) {
                int below[AXES];
                if (step_down(&f, at, a, below)) {
                    size_t there = cell_at(&f, below);
                    double flow = (double)f.link[a][here] * (x[here] - x[there]);
                    want[here] += flow;
                    want[there] -= flow;
                }
            }
        }
        op.apply(op.data, x, y);
        for (size_t n = 0; n < vec_length(op.space); ++n) {
            assert_true(fabs(y[n] - want[n]) < 1e-12);
        }
        vec_destroy(op.space, x);
        vec_destroy(op.space, y);
        vec_destroy(op.space, want);
        fixture_close(&f);
    }
}

// Residual of A x = b, from scratch, over |b|, both in the 2-norm.
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
        linop op = pressure_solver_linop(f.solver);
        double *b = conform_random_vector(&op, 31), *r = conform_vector(&op);
        double* x = conform_vector(&op);
        vec_copy(op.space, b, r);
        solve_params params = solve_params_default();
        params.relative = 1e-10;
        solve_stats stats;
        assert_int_equal(pressure_solve(f.solver, r, x, &params, &stats), TREACLE_OK);
        assert_true(stats.is_converged);
        assert_true(stats.factor < 0.35);
        assert_true(true_residual(&op, b, x) < 1.1e-10);
        assert_true(stats.history_count == stats.iterations + 1);
        vec_destroy(op.space, b);
        vec_destroy(op.space, r);
        vec_destroy(op.space, x);
        fixture_close(&f);
    }
}

static void test_closed_regions_lose_their_mean(void** state) {
    (void)state;
    for (int i = 0; i < DOMAINS; ++i) {
        fixture_def def = domains[i];
        def.is_closed = true;
        fixture f;
        fixture_open(&f, &def);
        linop op = pressure_solver_linop(f.solver);
        assert_true(pressure_solver_closed_count(f.solver) >= 1);
        assert_true(def.is_patchy || pressure_solver_closed_count(f.solver) == 1);
        double *r = conform_random_vector(&op, 41), *x = conform_vector(&op);
        double *one = conform_vector(&op), *y = conform_vector(&op);
        op.diagonal(op.data, y);
        for (size_t n = 0; n < vec_length(op.space); ++n) {
            one[n] = y[n] > 0.0 ? 1.0 : 0.0;
        }
        op.apply(op.data, one, y);
        assert_true(vec_measure(op.space, y).max == 0.0);
        solve_params params = solve_params_default();
        params.relative = 1e-9;
        solve_stats stats;
        assert_int_equal(pressure_solve(f.solver, r, x, &params, &stats), TREACLE_OK);
        assert_true(stats.is_converged);
        assert_true(fabs(vec_dot(op.space, x, one)) < 1e-8 * op.unknowns);
        assert_true(vec_measure(op.space, x).max < 1e4);
        vec_destroy(op.space, one);
        vec_destroy(op.space, y);
        vec_destroy(op.space, r);
        vec_destroy(op.space, x);
        fixture_close(&f);
    }
}

static solve_stats solve_random(const fixture_def* def, const solve_params* params, double** out) {
    fixture f;
    fixture_open(&f, def);
    linop op = pressure_solver_linop(f.solver);
    double *r = conform_random_vector(&op, 51), *x = conform_vector(&op);
    solve_stats stats;
    assert_int_equal(pressure_solve(f.solver, r, x, params, &stats), TREACLE_OK);
    if (out != NULL) {
        *out = malloc(vec_length(op.space) * sizeof(double));
        memcpy(*out, x, vec_length(op.space) * sizeof(double));
    }
    vec_destroy(op.space, r);
    vec_destroy(op.space, x);
    fixture_close(&f);
    return stats;
}

static void test_bits_depend_neither_on_threads_nor_on_the_instruction_set(void** state) {
    (void)state;
    for (int i = 1; i < DOMAINS; i += 3) {
        fixture_def def = domains[i];
        solve_params params = solve_params_default();
        double* want = NULL;
        solve_random(&def, &params, &want);
        for (int n = 0; n < 4; ++n) {
            double* got = NULL;
            def.threads = n % 2 == 0 ? 2 : 5;
            def.isa = n < 2 ? TREACLE_ISA_SSE2 : TREACLE_ISA_AUTO;
            solve_random(&def, &params, &got);
            size_t cells = (size_t)def.cells[0] * (size_t)def.cells[1] * (size_t)def.cells[2];
            assert_memory_equal(got, want, cells / TILE_CELLS * TILE_CELLS * sizeof(double));
            free(got);
        }
        free(want);
    }
}

static void test_iterations_do_not_grow_with_the_grid(void** state) {
    (void)state;
    for (int n = 32; n <= 96; n += 32) {
        fixture_def def = {.cells = {n, n, n}, .fill = 0.6};
        solve_params params = solve_params_default();
        assert_true(solve_random(&def, &params, NULL).iterations <= 13);
        def = (fixture_def){.cells = {4 * n, 4 * n, 1}, .fill = 0.6};
        assert_true(solve_random(&def, &params, NULL).iterations <= 16);
    }
}

static void test_absolute_target_ends_a_solve_of_rounding_errors(void** state) {
    (void)state;
    fixture f;
    fixture_open(&f, &domains[1]);
    linop op = pressure_solver_linop(f.solver);
    double *r = conform_random_vector(&op, 61), *x = conform_vector(&op);
    solve_params params = {.norm = SOLVE_NORM_MAX, .absolute = 1.0, .max_iterations = 50};
    solve_stats stats;
    assert_int_equal(pressure_solve(f.solver, r, x, &params, &stats), TREACLE_OK);
    assert_true(stats.is_converged && stats.iterations == 0);
    params.absolute = 0.1;
    assert_int_equal(pressure_solve(f.solver, r, x, &params, &stats), TREACLE_OK);
    assert_true(stats.is_converged && stats.iterations > 0);
    assert_true(vec_measure(op.space, r).max <= 0.1);
    vec_destroy(op.space, r);
    vec_destroy(op.space, x);
    fixture_close(&f);
}

static void test_warm_start_from_the_solution_is_free(void** state) {
    (void)state;
    fixture f;
    fixture_open(&f, &domains[4]);
    linop op = pressure_solver_linop(f.solver);
    double *b = conform_random_vector(&op, 71), *r = conform_vector(&op), *x = conform_vector(&op);
    solve_params params = solve_params_default();
    solve_stats stats;
    vec_copy(op.space, b, r);
    assert_int_equal(pressure_solve(f.solver, r, x, &params, &stats), TREACLE_OK);
    vec_copy(op.space, b, r);
    params.is_warm = true;
    params.relative = 2e-6;
    assert_int_equal(pressure_solve(f.solver, r, x, &params, &stats), TREACLE_OK);
    assert_true(stats.is_converged && stats.iterations == 0);
    vec_destroy(op.space, b);
    vec_destroy(op.space, r);
    vec_destroy(op.space, x);
    fixture_close(&f);
}

static void test_unreachable_target_is_reported_as_stagnation(void** state) {
    (void)state;
    solve_params params = {.relative = 0.0, .max_iterations = 250};
    solve_stats stats = solve_random(&domains[0], &params, NULL);
    assert_true(!stats.is_converged);
    assert_true(stats.is_stagnated || stats.is_broken);
    assert_true(stats.residual < 1e-12 * stats.rhs_norm);
}

// A bar of heat: capacity in the extras, conduction in the links, its ends at given temperatures.
static solve_stats solve_bar(double capacity, double conduction, double* middle) {
    fixture_def def = {.cells = {64, 8, 8}, .is_closed = true, .fill = 1.0};
    fixture f;
    fixture_open(&f, &def);
    pressure_solver_destroy(f.solver);
    size_t length = ((size_t)f.map.count + 1) * TILE_CELLS;
    double *rhs = calloc(length, sizeof(double)), *x = calloc(length, sizeof(double));
    FOR_EACH_CELL(&f, at) {
        size_t i = cell_at(&f, at);
        f.extra[i] = (float)capacity;
        for (int a = 0; a < AXES; ++a) {
            f.link[a][i] *= (float)conduction;
        }
        // Half a cell from the last centres: 100 at the low end, 300 at the high one.
        if (at[0] == 0 || at[0] == 63) {
            f.extra[i] += 2.0f * (float)conduction;
            rhs[i] += 2.0 * conduction * (at[0] == 0 ? 100.0 : 300.0);
        }
    }
    pressure_system system = {.domain = &f.domain,
                              .map = &f.map,
                              .link = {f.link[0], f.link[1], f.link[2]},
                              .extra = f.extra};
    solve_params params = solve_params_default();
    solve_stats stats;
    params.relative = 1e-10;
    assert_int_equal(pressure_solver_create(f.ctx, &system, &f.solver), TREACLE_OK);
    assert_int_equal(pressure_solve(f.solver, rhs, x, &params, &stats), TREACLE_OK);
    const int at[AXES] = {16, 3, 5};
    *middle = x[cell_at(&f, at)];
    free(rhs);
    free(x);
    fixture_close(&f);
    return stats;
}

static void test_steady_heat_in_a_bar_is_linear(void** state) {
    (void)state;
    double middle = 0.0;
    assert_true(solve_bar(0.0, 1.0, &middle).is_converged);
    assert_true(fabs(middle - (100.0 + 200.0 * 16.5 / 64.0)) < 1e-5);
}

static void test_a_strong_diagonal_needs_few_sweeps(void** state) {
    (void)state;
    double middle = 1.0;
    solve_stats stats = solve_bar(10.0, 1.0, &middle);
    assert_true(stats.is_converged && stats.iterations <= 12);
    assert_true(fabs(middle) < 1e-8);
}

static treacle_status build_and_solve(treacle_context* ctx, void* data) {
    fixture f = {.ctx = ctx};
    double *r = NULL, *x = NULL;
    solve_params params = solve_params_default();
    solve_stats stats;
    treacle_status status = fixture_build(&f, data);
    size_t bytes = ((size_t)f.map.count + 1) * TILE_CELLS * sizeof(double);
    r = calloc(1, bytes);
    x = calloc(1, bytes);
    if (status == TREACLE_OK) {
        r[0] = 1.0;
        status = pressure_solve(f.solver, r, x, &params, &stats);
    }
    free(r);
    free(x);
    fixture_clear(&f);
    return status;
}

static void test_failing_allocations_leave_nothing_behind(void** state) {
    (void)state;
    fixture_def def = domains[1];
    ALLOC_FAILURE_CHECK(build_and_solve, &def);
    def.is_closed = true;
    ALLOC_FAILURE_CHECK(build_and_solve, &def);
}

// What a broken level does to the predicates that the solver asks in builds with assertions.
static void test_broken_levels_are_seen(void** state) {
    (void)state;
    fixture f;
    fixture_open(&f, &domains[0]);
    assert_true(pressure_solver_is_valid(f.solver));
    pressure_level* level = (pressure_level*)pressure_solver_finest(f.solver);
    assert_true(pressure_level_is_valid(level));
    int64_t slot = (int64_t)level->active[0] * TILE_CELLS;
    while (!(level->inverse[slot] > 0.0f)) {
        slot += 1;
    }
    // A diagonal that is no number, or negative.
    const float bad[] = {NAN, INFINITY, -1.0f};
    float inverse = level->inverse[slot];
    for (int i = 0; i < 3; ++i) {
        level->inverse[slot] = bad[i];
        assert_false(pressure_level_is_valid(level));
        assert_false(pressure_solver_is_valid(f.solver));
    }
    level->inverse[slot] = inverse;
    // A mask that leaves out a row with an unknown: sweeps would skip it.
    int row = (int)(slot % TILE_CELLS) / TILE_SIZE;
    level->rows[level->active[0]] ^= (uint64_t)1 << row;
    assert_false(pressure_level_is_valid(level));
    level->rows[level->active[0]] ^= (uint64_t)1 << row;
    // A tile that is never swept.
    uint8_t repeats = level->repeats[level->active[0]];
    level->repeats[level->active[0]] = 0;
    assert_false(pressure_level_is_valid(level));
    level->repeats[level->active[0]] = repeats;
    // A list that is not in order, or leads beyond the map.
    tile_ix last = level->active[1];
    level->active[1] = level->active[0];
    assert_false(pressure_level_is_valid(level));
    level->active[1] = level->map->count;
    assert_false(pressure_level_is_valid(level));
    level->active[1] = last;
    assert_true(pressure_solver_is_valid(f.solver));
    fixture_close(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_operator_conforms),
        cmocka_unit_test(test_preconditioner_is_symmetric_positive),
        cmocka_unit_test(test_apply_matches_links_one_by_one),
        cmocka_unit_test(test_solution_meets_the_equations),
        cmocka_unit_test(test_closed_regions_lose_their_mean),
        cmocka_unit_test(test_bits_depend_neither_on_threads_nor_on_the_instruction_set),
        cmocka_unit_test(test_iterations_do_not_grow_with_the_grid),
        cmocka_unit_test(test_absolute_target_ends_a_solve_of_rounding_errors),
        cmocka_unit_test(test_warm_start_from_the_solution_is_free),
        cmocka_unit_test(test_steady_heat_in_a_bar_is_linear),
        cmocka_unit_test(test_a_strong_diagonal_needs_few_sweeps),
        cmocka_unit_test(test_unreachable_target_is_reported_as_stagnation),
        cmocka_unit_test(test_failing_allocations_leave_nothing_behind),
        cmocka_unit_test(test_broken_levels_are_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
