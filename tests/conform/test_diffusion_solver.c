#include "unit/grid_fixture.h"

#include <math.h>
#include <string.h>

#include "conform/linop_conform.h"
#include "solve/diffusion_solver.h"

// A box of cells with random or uniform conductances, and room for all that a system may have.
typedef struct fixture {
    treacle_context* ctx;
    grid_domain domain;
    tile_map map;
    size_t length;
    float *conductance[AXES], *mass, *exchange, *outside;
    uint8_t* fixed;
    double *b, *x;
} fixture;

#define FOR_EACH_CELL(f, at)                                                                       \
    for (int at[AXES] = {0, 0, 0}; at[2] < (f)->domain.cells[2]; ++at[2])                          \
        for (at[1] = 0; at[1] < (f)->domain.cells[1]; ++at[1])                                     \
            for (at[0] = 0; at[0] < (f)->domain.cells[0]; ++at[0])

static size_t slot(const fixture* f, const int at[AXES]) {
    tile_ix t = tile_map_find(&f->map, (tile_coord){{at[0] >> 3, at[1] >> 3, at[2] >> 3}});
    return (size_t)t * TILE_CELLS + (size_t)((at[2] & 7) * 64 + (at[1] & 7) * 8 + (at[0] & 7));
}

static void* field(const fixture* f, size_t item) {
    void* v = calloc(f->length, item);
    assert_non_null(v);
    return v;
}

static void fixture_fill(fixture* f, float mass, bool is_random) {
    FOR_EACH_CELL(f, at) {
        size_t i = slot(f, at);
        f->mass[i] = mass * (is_random ? 1.1f + (float)conform_random(7 * i) : 1.0f);
        for (int a = 0; a < AXES; ++a) {
            float strength = is_random ? 1.1f + (float)conform_random(7 * i + 1 + (size_t)a) : 1.0f;
            f->conductance[a][i] = at[a] > 0 || f->domain.is_periodic[a] ? strength : 0.0f;
        }
    }
}

static void fixture_open(fixture* f, treacle_context* ctx, const int cells[AXES],
                         treacle_side side) {
    *f = (fixture){.ctx = ctx, .domain = domain_with(ctx, cells[0], cells[1], cells[2], side)};
    f->map = whole_map(ctx, &f->domain);
    f->length = ((size_t)f->map.count + 1) * TILE_CELLS;
    for (int a = 0; a < AXES; ++a) {
        f->conductance[a] = field(f, sizeof(float));
    }
    f->mass = field(f, sizeof(float));
    f->exchange = field(f, sizeof(float));
    f->outside = field(f, sizeof(float));
    f->fixed = field(f, 1);
    f->b = field(f, sizeof(double));
    f->x = field(f, sizeof(double));
}

static void fixture_close(fixture* f) {
    void* fields[] = {f->conductance[0],
                      f->conductance[1],
                      f->conductance[2],
                      f->mass,
                      f->exchange,
                      f->outside,
                      f->fixed,
                      f->b,
                      f->x};
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); ++i) {
        free(fields[i]);
    }
    tile_map_destroy(&f->map);
    treacle_context_destroy(f->ctx);
}

static diffusion_system system_of(const fixture* f) {
    return (diffusion_system){
        .domain = &f->domain,
        .map = &f->map,
        .conductance = {f->conductance[0], f->conductance[1], f->conductance[2]},
        .mass = f->mass,
        .exchange = f->exchange,
        .fixed = f->fixed};
}

static treacle_status solve(fixture* f, double relative, solve_stats* stats) {
    diffusion_system system = system_of(f);
    diffusion_solver* solver = NULL;
    solve_params params = solve_params_default();
    params.relative = relative;
    TREACLE_TRY(diffusion_solver_create(f->ctx, &system, &solver));
    diffusion_vectors v = {f->b, f->outside, f->x};
    treacle_status status = diffusion_solve(solver, &v, &params, stats);
    diffusion_solver_destroy(solver);
    return status;
}

// Some cells fixed, some with exchange, all at random.
static void add_boundaries(fixture* f) {
    FOR_EACH_CELL(f, at) {
        size_t i = slot(f, at);
        f->fixed[i] = conform_random(31 * i) > 0.9 ? 1 : 0;
        f->exchange[i] = conform_random(33 * i) > 0.5 ? 0.7f : 0.0f;
        f->outside[i] = (float)(10.0 * conform_random(35 * i));
    }
}

static void test_operator_conforms(void** state) {
    (void)state;
    static const int cells[][AXES] = {{13, 21, 9}, {32, 24, 40}, {40, 24, 0}, {32, 16, 64}};
    for (int i = 0; i < 4; ++i) {
        fixture f;
        fixture_open(&f, context_with(1), cells[i],
                     i < 3 ? TREACLE_SIDE_SLIP : TREACLE_SIDE_PERIODIC);
        fixture_fill(&f, i == 2 ? 1e-3f : 0.1f, true);
        add_boundaries(&f);
        diffusion_system system = system_of(&f);
        diffusion_solver* solver = NULL;
        assert_int_equal(diffusion_solver_create(f.ctx, &system, &solver), TREACLE_OK);
        linop op = diffusion_solver_linop(solver);
        conform_is_symmetric(&op);
        conform_rounded_agrees(&op);
        conform_is_positive(&op);
        conform_diagonal_agrees(&op);
        conform_preconditioner_is_symmetric_positive(&op, 0.03);
        diffusion_solver_destroy(solver);
        fixture_close(&f);
    }
}

// The left-hand side of the equation of every cell, face by face.
static double* left_sides(const fixture* f) {
    double* sum = field(f, sizeof(double));
    FOR_EACH_CELL(f, at) {
        size_t i = slot(f, at);
        sum[i] += (double)f->mass[i] * f->x[i] +
                  (double)f->exchange[i] * (f->x[i] - (double)f->outside[i]);
        for (int a = 0; a < AXES; ++a) {
            if (at[a] > 0) {
                int below[AXES] = {at[0], at[1], at[2]};
                below[a] -= 1;
                size_t k = slot(f, below);
                double flow = (double)f->conductance[a][i] * (f->x[i] - f->x[k]);
                sum[i] += flow;
                sum[k] -= flow;
            }
        }
    }
    return sum;
}

static void test_solution_meets_the_equations(void** state) {
    (void)state;
    const int cells[AXES] = {32, 24, 40};
    fixture f;
    solve_stats stats;
    fixture_open(&f, context_with(1), cells, TREACLE_SIDE_SLIP);
    fixture_fill(&f, 0.01f, true);
    add_boundaries(&f);
    double* given = field(&f, sizeof(double));
    for (size_t i = 0; i < f.length - TILE_CELLS; ++i) {
        given[i] = conform_random(i);
        f.x[i] = 3.0 * conform_random(5 * i);
    }
    memcpy(f.b, given, f.length * sizeof(double));
    double* before = field(&f, sizeof(double));
    memcpy(before, f.x, f.length * sizeof(double));
    assert_int_equal(solve(&f, 1e-10, &stats), TREACLE_OK);
    assert_true(stats.is_converged);
    assert_true(stats.iterations <= 25);
    double* left = left_sides(&f);
    FOR_EACH_CELL(&f, at) {
        size_t i = slot(&f, at);
        assert_true(f.fixed[i] != 0 ? f.x[i] == before[i] : fabs(left[i] - given[i]) < 2e-6);
    }
    free(left);
    free(given);
    free(before);
    fixture_close(&f);
}

static void test_a_constant_stays_exactly_constant(void** state) {
    (void)state;
    const int cells[AXES] = {24, 17, 30};
    const double value = 293.15;
    fixture f;
    solve_stats stats;
    fixture_open(&f, context_with(1), cells, TREACLE_SIDE_SLIP);
    fixture_fill(&f, 3.0f, true);
    add_boundaries(&f);
    for (size_t i = 0; i < f.length - TILE_CELLS; ++i) {
        f.x[i] = (double)(float)value;
        f.outside[i] = (float)value;
        f.b[i] = (double)f.mass[i] * f.x[i];
    }
    assert_int_equal(solve(&f, 1e-6, &stats), TREACLE_OK);
    FOR_EACH_CELL(&f, at) {
        assert_true(f.x[slot(&f, at)] == (double)(float)value);
    }
    fixture_close(&f);
}

static void test_content_is_conserved(void** state) {
    (void)state;
    const int cells[AXES] = {24, 17, 30};
    fixture f;
    solve_stats stats;
    double before = 0.0, after = 0.0;
    fixture_open(&f, context_with(1), cells, TREACLE_SIDE_SLIP);
    fixture_fill(&f, 0.5f, true);
    FOR_EACH_CELL(&f, at) {
        size_t i = slot(&f, at);
        f.x[i] = 300.0 + conform_random(i);
        f.b[i] = (double)f.mass[i] * f.x[i];
        before += f.b[i];
    }
    assert_int_equal(solve(&f, 1e-10, &stats), TREACLE_OK);
    FOR_EACH_CELL(&f, at) {
        size_t i = slot(&f, at);
        after += (double)f.mass[i] * f.x[i];
    }
    assert_true(fabs(after / before - 1.0) < 1e-10);
    fixture_close(&f);
}

// A bar of 64 cells between 100 and 300, held at the last cells or through exchange.
static double bar_at(bool is_fixed, float exchange, int x) {
    const int cells[AXES] = {64, 8, 8};
    fixture f;
    solve_stats stats;
    fixture_open(&f, context_with(1), cells, TREACLE_SIDE_SLIP);
    fixture_fill(&f, 0.0f, false);
    FOR_EACH_CELL(&f, at) {
        size_t i = slot(&f, at);
        bool is_end = at[0] == 0 || at[0] == 63;
        double value = at[0] == 0 ? 100.0 : 300.0;
        f.fixed[i] = is_fixed && is_end ? 1 : 0;
        f.exchange[i] = !is_fixed && is_end ? exchange : 0.0f;
        f.outside[i] = (float)value;
        f.x[i] = is_fixed && is_end ? value : 0.0;
    }
    assert_int_equal(solve(&f, 1e-10, &stats), TREACLE_OK);
    const int at[AXES] = {x, 3, 5};
    double found = f.x[slot(&f, at)];
    fixture_close(&f);
    return found;
}

static void test_steady_state_between_given_cells_is_linear(void** state) {
    (void)state;
    for (int x = 0; x < 64; x += 9) {
        assert_true(fabs(bar_at(true, 0.0f, x) - (100.0 + 200.0 * x / 63.0)) < 1e-5);
    }
}

// Walls half a cell beyond the outer cells: exchange is the conductance of half a cell, 2.
static void test_exchange_is_a_wall_at_a_distance(void** state) {
    (void)state;
    for (int x = 0; x < 64; x += 9) {
        assert_true(fabs(bar_at(false, 2.0f, x) - (100.0 + 200.0 * (x + 0.5) / 64.0)) < 1e-5);
    }
}

// A film of coefficient h holds back: the flow is 200 / (63 + 2 / h).
static void test_exchange_is_a_film_that_resists(void** state) {
    (void)state;
    const double h = 0.05, flow = 200.0 / (63.0 + 2.0 / (double)(float)h);
    assert_true(fabs(bar_at(false, (float)h, 0) - (100.0 + flow / (double)(float)h)) < 1e-5);
}

// A cosine is an eigenvector: one step divides it by 1 + (2 - 2 cos) k / m.
static void test_a_wave_decays_as_it_should(void** state) {
    (void)state;
    const int cells[AXES] = {32, 8, 8};
    const double wave = 3.14159265358979 * 3.0 / 32.0, mass = 0.25;
    fixture f;
    solve_stats stats;
    fixture_open(&f, context_with(1), cells, TREACLE_SIDE_SLIP);
    fixture_fill(&f, (float)mass, false);
    FOR_EACH_CELL(&f, at) {
        size_t i = slot(&f, at);
        f.x[i] = cos(wave * (at[0] + 0.5));
        f.b[i] = mass * f.x[i];
    }
    assert_int_equal(solve(&f, 1e-11, &stats), TREACLE_OK);
    const double factor = 1.0 / (1.0 + (2.0 - 2.0 * cos(wave)) / mass);
    FOR_EACH_CELL(&f, at) {
        assert_true(fabs(f.x[slot(&f, at)] - factor * cos(wave * (at[0] + 0.5))) < 1e-8);
    }
    fixture_close(&f);
}

static void test_bits_do_not_depend_on_threads(void** state) {
    (void)state;
    const int cells[AXES] = {40, 32, 24};
    double* first = NULL;
    for (int threads = 1; threads <= 3; ++threads) {
        fixture f;
        solve_stats stats;
        fixture_open(&f, context_with(threads), cells, TREACLE_SIDE_SLIP);
        fixture_fill(&f, 0.02f, true);
        add_boundaries(&f);
        for (size_t i = 0; i < f.length - TILE_CELLS; ++i) {
            f.b[i] = conform_random(i);
        }
        assert_int_equal(solve(&f, 1e-6, &stats), TREACLE_OK);
        if (first == NULL) {
            first = f.x;
            f.x = NULL;
        } else {
            assert_memory_equal(first, f.x, f.length * sizeof(double));
        }
        fixture_close(&f);
    }
    free(first);
}

static treacle_status build_and_solve(treacle_context* ctx, void* data) {
    fixture* f = data;
    solve_stats stats;
    f->ctx = ctx;
    f->b[0] = 1.0;
    return solve(f, 1e-6, &stats);
}

static void test_failing_allocations_leave_nothing_behind(void** state) {
    (void)state;
    const int cells[AXES] = {24, 17, 30};
    fixture f;
    fixture_open(&f, context_with(1), cells, TREACLE_SIDE_SLIP);
    fixture_fill(&f, 0.1f, true);
    treacle_context* own = f.ctx;
    ALLOC_FAILURE_CHECK(build_and_solve, &f);
    f.ctx = own;
    fixture_close(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_operator_conforms),
        cmocka_unit_test(test_solution_meets_the_equations),
        cmocka_unit_test(test_a_constant_stays_exactly_constant),
        cmocka_unit_test(test_content_is_conserved),
        cmocka_unit_test(test_steady_state_between_given_cells_is_linear),
        cmocka_unit_test(test_exchange_is_a_wall_at_a_distance),
        cmocka_unit_test(test_exchange_is_a_film_that_resists),
        cmocka_unit_test(test_a_wave_decays_as_it_should),
        cmocka_unit_test(test_bits_do_not_depend_on_threads),
        cmocka_unit_test(test_failing_allocations_leave_nothing_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
