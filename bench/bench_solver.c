// The linear solvers against serial conjugate gradients with incomplete Cholesky.
//
// Times are CPU times of one thread, set-up or factorisation included, so that other load on the
// machine disturbs them little. Iterations and times are given
// for residuals of 1e-4 and 1e-6 in the 2-norm, from a zero guess. The residual of the matrix is
// checked in every row: a row whose true residual misses its target says so. What is asked of a row
// is in the tables asked_of_pressure and asked_of_viscosity.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "benches.h"
#include "solver_hypre.h"
#include "solver_rows.h"

static const double targets[2] = {1e-4, 1e-6};
static const char* const target_names[2] = {"1e-4", "1e-6"};

// What is asked of a problem: iterations to both targets, how many times as fast as incomplete
// Cholesky to either, bytes an unknown. 0: nothing.
typedef struct demand {
    double iterations[2], ratio, bytes;
} demand;

// A system of either kind, ready to be solved.
typedef struct problem {
    const pressure_case* pressure; // or
    const viscosity_case* viscosity;
    const csr_matrix* matrix; // NULL: too large for one; then there are no yardsticks
    const double* rhs;
    size_t length;      // of a vector
    double field_bytes; // that the caller's weights take
    const char* name;
    demand want;
} problem;

// |b - A x| / |b| by the solver's own operator.
static treacle_status operator_residual(treacle_context* ctx, const problem* p, const double* x,
                                        double* out) {
    pressure_system system = pressure_system_of(p->pressure);
    pressure_solver* solver = NULL;
    double *y = calloc(p->length, sizeof(double)), missed = 0.0, whole = 0.0;
    treacle_status status =
        y != NULL ? pressure_solver_create(ctx, &system, &solver) : TREACLE_ERR_MEMORY;
    if (status == TREACLE_OK) {
        linop op = pressure_solver_linop(solver);
        op.apply(op.data, x, y);
        for (size_t i = 0; i < p->length; ++i) {
            missed += (p->rhs[i] - y[i]) * (p->rhs[i] - y[i]);
            whole += p->rhs[i] * p->rhs[i];
        }
        *out = sqrt(missed / whole);
    }
    pressure_solver_destroy(solver);
    free(y);
    return status;
}

static treacle_status run(treacle_context* ctx, const problem* p, double target,
                          solver_outcome* out) {
    double *x = calloc(p->length, sizeof(double)), *r = malloc(p->length * sizeof(double));
    treacle_status status = TREACLE_ERR_MEMORY;
    solve_params params = solve_params_default();
    params.relative = target;
    if (x != NULL && r != NULL) {
        memcpy(r, p->rhs, p->length * sizeof(double));
        status = p->pressure != NULL ? solver_run_pressure(ctx, p->pressure, r, x, &params, out)
                                     : solver_run_viscosity(ctx, p->viscosity, r, x, &params, out);
    }
    if (status == TREACLE_OK && p->matrix != NULL) {
        out->true_residual = csr_residual(p->matrix, p->rhs, x);
    } else if (status == TREACLE_OK) {
        status = operator_residual(ctx, p, x, &out->true_residual);
    }
    free(x);
    free(r);
    return status;
}

static demand asked_of_pressure(const solver_row* row) {
    bool is_coil = row->scene.shape == SOLVER_SHAPE_COIL;
    bool is_ball = row->scene.shape == SOLVER_SHAPE_BALL;
    demand out = {.iterations = {9.0, 13.0}};
    if (row->scene.n == 128) {
        out.ratio = is_coil ? 4.0 : is_ball ? 8.0 : 5.0;
    }
    out.ratio = row->scene.n == 192 && is_ball ? 12.0 : out.ratio;
    out.bytes = row->scene.n < 128 ? 0.0 : is_coil ? 150.0 : 110.0;
    return out;
}

static demand asked_of_viscosity(const solver_row* row) {
    bool is_coil = row->scene.shape == SOLVER_SHAPE_COIL, is_large = row->scene.n >= 128;
    demand out = {.bytes = !is_large ? 0.0 : is_coil ? 150.0 : 110.0};
    if (is_coil) {
        bool is_hard = row->scene.n == 128 && row->r == 1e4;
        out.iterations[0] = is_hard ? 42.0 : 0.0;
        out.ratio = is_hard ? 6.0 : 0.0;
        return out;
    }
    if (row->scene.n <= 128) {
        out.iterations[0] = row->has_contrast ? 20.0 : 16.0;
        out.iterations[1] = row->has_contrast ? 27.0 : 21.0;
    }
    if (row->scene.n == 128) {
        out.ratio = row->has_contrast ? 12.0 : row->r == 100.0 ? 7.0 : row->r == 1e4 ? 20.0 : 0.0;
    }
    return out;
}

static bench_limit limit_if(double minimum, bench_limit limit) {
    return minimum > 0.0 ? limit : BENCH_NO_LIMIT;
}

static void report_outcome(const bench* b, const char* name, int i, const solver_outcome* best,
                           const csr_result* yardstick, const demand* want) {
    char title[96], reference[96], quantity[64];
    bench_report(
        b, &(bench_row){
               .case_name = bench_text(title, sizeof(title), "%s to %s", name, target_names[i]),
               .quantity = bench_text(quantity, sizeof(quantity), "iterations, %s", best->regime),
               .value = best->iterations > 0 ? (double)best->iterations : (double)INFINITY,
               .unit = "1",
               .limit = limit_if(want->iterations[i], BENCH_VALUE_AT_MOST),
               .minimum = want->iterations[i]});
    bench_row row = {.case_name = title,
                     .quantity = best->true_residual <= 1.02 * targets[i]
                                     ? "time"
                                     : "time, TRUE RESIDUAL TOO LARGE",
                     .value = best->seconds,
                     .unit = "s"};
    if (yardstick != NULL) {
        row.yardstick = bench_text(reference, sizeof(reference), "IC CG, %d iterations, %.3g s",
                                   yardstick->iterations[i], yardstick->seconds[i]);
        row.ratio = yardstick->seconds[i] / best->seconds;
        row.is_at_least = !yardstick->is_reached[i];
        row.limit = limit_if(want->ratio, BENCH_RATIO_AT_LEAST);
        row.minimum = want->ratio;
    }
    bench_report(b, &row);
}

enum { REPEATS = 3, LARGEST_MATRIX = 192 };

// Solves to both targets, several times each, and reports the best of each beside the yardstick.
static treacle_status measure(bench* b, treacle_context* ctx, const problem* p,
                              const csr_result* yardstick, solver_outcome best[2]) {
    const char* name = p->name;
    for (int i = 0; i < 2; ++i) {
        for (int n = 0; n < REPEATS; ++n) {
            solver_outcome now;
            TREACLE_TRY(run(ctx, p, targets[i], &now));
            best[i] = n == 0 || now.seconds < best[i].seconds ? now : best[i];
        }
        report_outcome(b, name, i, &best[i], yardstick, &p->want);
    }
    double vectors = 2.0 * sizeof(double) * (double)p->length;
    bench_report(b, &(bench_row){.case_name = name,
                                 .quantity = "set-up",
                                 .value = best[1].setup_seconds,
                                 .unit = "s",
                                 .yardstick = "whole solve to 1e-6",
                                 .ratio = best[1].seconds / best[1].setup_seconds});
    bench_report(
        b, &(bench_row){.case_name = name,
                        .quantity = "memory",
                        .value = (best[1].bytes + p->field_bytes + vectors) / best[1].unknowns,
                        .unit = "B/DOF",
                        .limit = limit_if(p->want.bytes, BENCH_VALUE_AT_MOST),
                        .minimum = p->want.bytes});
    return TREACLE_OK;
}

static void report_hypre(bench* b, const problem* p, const solver_outcome best[2]) {
    char title[96], reference[96];
    csr_result yardstick;
    if (!hypre_solve(p->matrix, p->rhs, p->pressure != NULL ? 1 : AXES, &yardstick)) {
        return;
    }
    for (int i = 0; i < 2; ++i) {
        bench_text(title, sizeof(title), "%s to %s", p->name, target_names[i]);
        bench_text(reference, sizeof(reference), "hypre BoomerAMG CG, %d iterations, %.3g s",
                   yardstick.iterations[i], yardstick.seconds[i]);
        bench_report(b, &(bench_row){.case_name = title,
                                     .quantity = "time",
                                     .value = best[i].seconds,
                                     .unit = "s",
                                     .yardstick = reference,
                                     .ratio = yardstick.seconds[i] / best[i].seconds,
                                     .is_at_least = !yardstick.is_reached[i]});
    }
}

// Both yardsticks and the solver on one problem. `modification` is that of incomplete Cholesky.
static treacle_status race(bench* b, treacle_context* ctx, const problem* p, double modification) {
    solver_outcome best[2];
    if (p->matrix == NULL) {
        return measure(b, ctx, p, NULL, best);
    }
    csr_result yardstick = csr_solve(p->matrix, p->rhs, modification, BENCH_CAP_SECONDS);
    TREACLE_TRY(measure(b, ctx, p, &yardstick, best));
    report_hypre(b, p, best);
    return TREACLE_OK;
}

static treacle_status measure_pressure(bench* b, const solver_row* row) {
    treacle_context* ctx = NULL;
    pressure_case c;
    csr_matrix matrix;
    char name[64];
    solver_row_name(row, "pressure", sizeof(name), name);
    TREACLE_TRY(solver_context(1, &ctx));
    TREACLE_TRY(pressure_case_create(ctx, b->ctx, row->scene, &c));
    bool has_matrix = row->scene.n <= LARGEST_MATRIX;
    if (has_matrix && !pressure_case_assemble(&c, &matrix)) {
        return TREACLE_ERR_MEMORY;
    }
    size_t length = solver_case_length(&c.map);
    problem p = {.pressure = &c,
                 .matrix = has_matrix ? &matrix : NULL,
                 .rhs = c.rhs,
                 .length = length,
                 .field_bytes = 4.0 * sizeof(float) * (double)length,
                 .name = name,
                 .want = asked_of_pressure(row)};
    treacle_status status = race(b, ctx, &p, 0.97);
    if (has_matrix) {
        csr_destroy(&matrix);
    }
    pressure_case_destroy(&c);
    treacle_context_destroy(ctx);
    return status;
}

static treacle_status measure_viscosity(bench* b, const solver_row* row) {
    treacle_context* ctx = NULL;
    viscosity_case c = {.scene = row->scene, .r = row->r, .has_contrast = row->has_contrast};
    csr_matrix matrix;
    char name[64];
    solver_row_name(row, "viscosity", sizeof(name), name);
    TREACLE_TRY(solver_context(1, &ctx));
    TREACLE_TRY(viscosity_case_create(ctx, b->ctx, &c));
    if (!viscosity_case_assemble(&c, &matrix)) {
        return TREACLE_ERR_MEMORY;
    }
    size_t cells = solver_case_length(&c.map);
    // The caller's masses; the others may go once the solver is made.
    problem p = {.viscosity = &c,
                 .matrix = &matrix,
                 .rhs = c.rhs,
                 .length = AXES * cells,
                 .field_bytes = sizeof(float) * (double)(AXES * cells),
                 .name = name,
                 .want = asked_of_viscosity(row)};
    treacle_status status = race(b, ctx, &p, 0.0);
    csr_destroy(&matrix);
    viscosity_case_destroy(&c);
    treacle_context_destroy(ctx);
    return status;
}

treacle_status bench_pressure(bench* b) {
    static const solver_row rows[] = {
        {.scene = {SOLVER_SHAPE_BALL, 64}},
        {.scene = {SOLVER_SHAPE_COIL, 64}},
        {.scene = {SOLVER_SHAPE_BLOCK, 64}},
        {.scene = {SOLVER_SHAPE_BALL, 128}},
        {.scene = {SOLVER_SHAPE_COIL, 128}},
        {.scene = {SOLVER_SHAPE_BLOCK, 128}},
        {.scene = {SOLVER_SHAPE_BALL, 192}},
        {.scene = {SOLVER_SHAPE_BALL, 256}, .is_full = true},
        {.scene = {SOLVER_SHAPE_COIL, 256}, .is_full = true},
        {.scene = {SOLVER_SHAPE_BLOCK, 256}, .is_full = true},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
        if (b->is_full || !rows[i].is_full) {
            TREACLE_TRY(measure_pressure(b, &rows[i]));
        }
    }
    return TREACLE_OK;
}

static treacle_status measure_viscosities(bench* b) {
    static const solver_row rows[] = {
        {{SOLVER_SHAPE_BALL, 64}, 1.0, false, true},
        {{SOLVER_SHAPE_BALL, 64}, 100.0, false, true},
        {{SOLVER_SHAPE_BALL, 64}, 1e4, false, true},
        {{SOLVER_SHAPE_BALL, 64}, 1e6, false, true},
        {{SOLVER_SHAPE_BALL, 64}, 1e6, true, true},
        {{SOLVER_SHAPE_COIL, 64}, 100.0, false, true},
        {{SOLVER_SHAPE_COIL, 64}, 1e4, false, false},
        {{SOLVER_SHAPE_BLOCK, 64}, 1.0, false, false},
        {{SOLVER_SHAPE_BLOCK, 64}, 100.0, false, false},
        {{SOLVER_SHAPE_BLOCK, 64}, 1e4, false, true},
        {{SOLVER_SHAPE_BLOCK, 64}, 1e6, false, true},
        {{SOLVER_SHAPE_BLOCK, 64}, 1e6, true, false},
        {{SOLVER_SHAPE_BALL, 128}, 1.0, false, true},
        {{SOLVER_SHAPE_BALL, 128}, 100.0, false, true},
        {{SOLVER_SHAPE_BALL, 128}, 1e4, false, true},
        {{SOLVER_SHAPE_BALL, 128}, 1e6, false, true},
        {{SOLVER_SHAPE_BALL, 128}, 1e6, true, true},
        {{SOLVER_SHAPE_BLOCK, 128}, 1.0, false, true},
        {{SOLVER_SHAPE_BLOCK, 128}, 100.0, false, false},
        {{SOLVER_SHAPE_BLOCK, 128}, 1e4, false, false},
        {{SOLVER_SHAPE_BLOCK, 128}, 1e6, false, true},
        {{SOLVER_SHAPE_BLOCK, 128}, 1e6, true, true},
        {{SOLVER_SHAPE_COIL, 128}, 1e4, false, false},
        {{SOLVER_SHAPE_BLOCK, 192}, 1e4, false, true},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
        if (b->is_full || !rows[i].is_full) {
            TREACLE_TRY(measure_viscosity(b, &rows[i]));
        }
    }
    return TREACLE_OK;
}

treacle_status bench_viscosity(bench* b) {
    TREACLE_TRY(bench_flow(b));
    return measure_viscosities(b);
}

// ---- The field's own benchmark [SHM22] ------------------------------------------------------

// A number in [-1, 1) that looks random, from a counter.
static double scatter(uint64_t n) {
    n = (n ^ (n >> 31)) * 0x9e3779b97f4a7c15u;
    n = (n ^ (n >> 29)) * 0xbf58476d1ce4e5b9u;
    return (double)(n >> 11) * 0x1p-52 - 1.0;
}

// What is published, and what is asked, in millions of unknowns a core second.
typedef struct field_rate {
    double published, asked;
} field_rate;

static void report_rate(bench* b, const char* name, const solver_outcome* o, double unknowns,
                        field_rate rate) {
    char text[64];
    bench_report(b, &(bench_row){.case_name = name,
                                 .quantity = "iterations to max-norm 1e-7",
                                 .value = o->iterations,
                                 .unit = "1"});
    bench_report(b,
                 &(bench_row){.case_name = name,
                              .quantity = "unknowns a core second, set-up included",
                              .value = 1e-6 * unknowns / o->seconds,
                              .unit = "million",
                              .yardstick = bench_text(text, sizeof(text),
                                                      "published code, %g million", rate.published),
                              .ratio = 1e-6 * unknowns / o->seconds / rate.published,
                              .limit = BENCH_VALUE_AT_LEAST,
                              .minimum = rate.asked});
}

static treacle_status measure_tank(bench* b, int n) {
    treacle_context* ctx = NULL;
    pressure_case c;
    solver_outcome o;
    char name[64];
    solve_params params = {.norm = SOLVE_NORM_MAX, .relative = 1e-7, .max_iterations = 100};
    TREACLE_TRY(solver_context(1, &ctx));
    TREACLE_TRY(pressure_case_create(ctx, b->ctx, (solver_scene){SOLVER_SHAPE_TANK, n}, &c));
    size_t length = solver_case_length(&c.map);
    double* x = calloc(length, sizeof(double));
    for (size_t i = 0; i < length - TILE_CELLS; ++i) {
        c.rhs[i] = scatter(i);
    }
    treacle_status status =
        x == NULL ? TREACLE_ERR_MEMORY : solver_run_pressure(ctx, &c, c.rhs, x, &params, &o);
    if (status == TREACLE_OK) {
        report_rate(b, bench_text(name, sizeof(name), "field: pressure, tank %d^3", n), &o,
                    (double)(length - TILE_CELLS), (field_rate){1.6, 2.5});
    }
    free(x);
    pressure_case_destroy(&c);
    treacle_context_destroy(ctx);
    return status;
}

static treacle_status measure_drop(bench* b, int cells, double viscosity) {
    treacle_context* ctx = NULL;
    solver_outcome o;
    char name[64];
    // Density 1000, 24 steps a second, 1 m across.
    viscosity_case c = {.scene = {SOLVER_SHAPE_DROP, cells + 16},
                        .r = viscosity / 24.0 / 1000.0 * cells * cells};
    solve_params params = {.norm = SOLVE_NORM_MAX, .relative = 1e-7, .max_iterations = 100};
    TREACLE_TRY(solver_context(1, &ctx));
    TREACLE_TRY(viscosity_case_create(ctx, b->ctx, &c));
    size_t length = AXES * solver_case_length(&c.map);
    double *x = calloc(length, sizeof(double)), unknowns = 0.0;
    for (size_t i = 0; i < length; ++i) {
        size_t t = i / VISCOSITY_BLOCK, a = i % VISCOSITY_BLOCK / TILE_CELLS, q = i % TILE_CELLS;
        double mass = (double)c.mass[a][t * TILE_CELLS + q];
        c.rhs[i] = mass * scatter(i);
        unknowns += mass > 0.0 ? 1.0 : 0.0;
    }
    treacle_status status =
        x == NULL ? TREACLE_ERR_MEMORY : solver_run_viscosity(ctx, &c, c.rhs, x, &params, &o);
    if (status == TREACLE_OK) {
        bench_text(name, sizeof(name), "field: viscosity %g, drop %d", viscosity, cells);
        report_rate(b, name, &o, unknowns, (field_rate){0.2, 0.8});
    }
    free(x);
    viscosity_case_destroy(&c);
    treacle_context_destroy(ctx);
    return status;
}

treacle_status bench_field(bench* b) {
    for (int n = 64; n <= 256; n *= 2) {
        TREACLE_TRY(measure_tank(b, n));
    }
    static const double viscosities[] = {1.0, 1e4, 1e6};
    for (int n = b->is_full ? 32 : 128; n <= 128; n *= 2) {
        for (int i = 0; i < 3; ++i) {
            TREACLE_TRY(measure_drop(b, n, viscosities[i]));
        }
    }
    return TREACLE_OK;
}

treacle_status bench_solver(bench* b) {
    TREACLE_TRY(bench_pressure(b));
    TREACLE_TRY(measure_viscosities(b));
    TREACLE_TRY(bench_unified(b));
    TREACLE_TRY(bench_field(b));
    return bench_threads(b);
}
