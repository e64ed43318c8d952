// The linear solvers against serial conjugate gradients with incomplete Cholesky.
//
// Times are CPU times of one thread, set-up or factorisation included, so that other load on the
// machine disturbs them little; the two-thread rows are wall times. Iterations and times are given
// for residuals of 1e-4 and 1e-6 in the 2-norm, from a zero guess. The residual of the matrix is
// checked in every row: a row whose true residual misses its target says so.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench.h"
#include "benches.h"
#include "solve/pressure_solver.h"
#include "solve/stokes_solver.h"
#include "solve/viscosity_solver.h"
#include "solver_cases.h"

static const double targets[2] = {1e-4, 1e-6};
static const char* const target_names[2] = {"1e-4", "1e-6"};

static double cpu_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static treacle_status one_thread_context(treacle_context** out) {
    treacle_context_def def = treacle_context_def_default();
    def.threads = 1;
    return treacle_context_create(&def, out);
}

// One solve to one target.
typedef struct outcome {
    int iterations;
    double seconds; // set-up and solve
    double setup_seconds;
    double true_residual;
    double bytes; // that the solver holds
} outcome;

// A system of either kind, ready to be solved.
typedef struct problem {
    const pressure_case* pressure; // or
    const viscosity_case* viscosity;
    const csr_matrix* matrix;
    const double* rhs;
    size_t length; // of a vector
} problem;

static treacle_status solve_pressure(treacle_context* ctx, const pressure_case* c, double* r,
                                     double* x, const solve_params* params, outcome* out) {
    pressure_system system = {.domain = &c->domain,
                              .map = &c->map,
                              .link = {c->link[0], c->link[1], c->link[2]},
                              .extra = c->extra};
    pressure_solver* solver = NULL;
    solve_stats stats;
    size_t memory = treacle_context_memory(ctx);
    double begin = cpu_seconds();
    TREACLE_TRY(pressure_solver_create(ctx, &system, &solver));
    out->setup_seconds = cpu_seconds() - begin;
    treacle_status status = pressure_solve(solver, r, x, params, &stats);
    out->seconds = cpu_seconds() - begin;
    out->bytes = (double)(treacle_context_memory(ctx) - memory);
    out->iterations = stats.is_converged ? stats.iterations : -stats.iterations;
    pressure_solver_destroy(solver);
    return status;
}

static treacle_status solve_viscosity(treacle_context* ctx, const viscosity_case* c, double* r,
                                      double* x, const solve_params* params, outcome* out) {
    viscosity_system system = {&c->domain,
                               &c->map,
                               {.cell = c->cell,
                                .edge = {c->edge[0], c->edge[1], c->edge[2]},
                                .mass = {c->mass[0], c->mass[1], c->mass[2]},
                                .fixed = c->fixed,
                                .whole = c->whole}};
    viscosity_solver* solver = NULL;
    solve_stats stats;
    size_t memory = treacle_context_memory(ctx);
    double begin = cpu_seconds();
    TREACLE_TRY(viscosity_solver_create(ctx, &system, &solver));
    out->setup_seconds = cpu_seconds() - begin;
    treacle_status status = viscosity_solve(solver, r, x, params, &stats);
    out->seconds = cpu_seconds() - begin;
    out->bytes = (double)(treacle_context_memory(ctx) - memory);
    out->iterations = stats.is_converged ? stats.iterations : -stats.iterations;
    viscosity_solver_destroy(solver);
    return status;
}

static treacle_status run(treacle_context* ctx, const problem* p, double target, outcome* out) {
    double *x = calloc(p->length, sizeof(double)), *r = malloc(p->length * sizeof(double));
    treacle_status status = TREACLE_ERR_MEMORY;
    solve_params params = solve_params_default();
    params.relative = target;
    if (x != NULL && r != NULL) {
        memcpy(r, p->rhs, p->length * sizeof(double));
        status = p->pressure != NULL ? solve_pressure(ctx, p->pressure, r, x, &params, out)
                                     : solve_viscosity(ctx, p->viscosity, r, x, &params, out);
        out->true_residual = csr_residual(p->matrix, p->rhs, x);
    }
    free(x);
    free(r);
    return status;
}

static void report_outcome(const bench* b, const char* name, int i, const outcome* best,
                           const csr_result* yardstick) {
    char title[96], reference[96];
    bench_report(b, &(bench_row){.case_name = bench_text(title, sizeof(title), "%s to %s", name,
                                                         target_names[i]),
                                 .quantity = "iterations",
                                 .value = best->iterations,
                                 .unit = "1"});
    bench_report(b, &(bench_row){.case_name = title,
                                 .quantity = best->true_residual <= 1.02 * targets[i]
                                                 ? "time"
                                                 : "time, TRUE RESIDUAL TOO LARGE",
                                 .value = best->seconds,
                                 .unit = "s",
                                 .yardstick = bench_text(
                                     reference, sizeof(reference), "IC CG, %d iterations, %.3g s",
                                     yardstick->iterations[i], yardstick->seconds[i]),
                                 .ratio = yardstick->seconds[i] / best->seconds,
                                 .is_at_least = !yardstick->is_reached[i]});
}

enum { REPEATS = 3 };

// Solves to both targets, several times each, and reports the best of each beside the yardstick.
// `fields` are the bytes that the caller's weights take.
static treacle_status measure(bench* b, treacle_context* ctx, const char* name, const problem* p,
                              const csr_result* yardstick, double fields) {
    outcome best = {0};
    for (int i = 0; i < 2; ++i) {
        for (int n = 0; n < REPEATS; ++n) {
            outcome now;
            TREACLE_TRY(run(ctx, p, targets[i], &now));
            best = n == 0 || now.seconds < best.seconds ? now : best;
        }
        report_outcome(b, name, i, &best, yardstick);
    }
    double vectors = 2.0 * sizeof(double) * (double)p->length;
    bench_report(b, &(bench_row){.case_name = name,
                                 .quantity = "set-up",
                                 .value = best.setup_seconds,
                                 .unit = "s",
                                 .yardstick = "whole solve to 1e-6",
                                 .ratio = best.seconds / best.setup_seconds});
    bench_report(b, &(bench_row){.case_name = name,
                                 .quantity = "memory",
                                 .value = (best.bytes + fields + vectors) / p->matrix->n,
                                 .unit = "B/DOF"});
    return TREACLE_OK;
}

static treacle_status measure_pressure(bench* b, solver_scene scene) {
    treacle_context* ctx = NULL;
    pressure_case c;
    csr_matrix matrix;
    char name[64];
    TREACLE_TRY(one_thread_context(&ctx));
    TREACLE_TRY(pressure_case_create(ctx, b->ctx, scene, &c));
    if (!pressure_case_assemble(&c, &matrix)) {
        return TREACLE_ERR_MEMORY;
    }
    csr_result yardstick = csr_solve(&matrix, c.rhs, 0.97, BENCH_CAP_SECONDS);
    bench_text(name, sizeof(name), "pressure S%d %d^3", (int)scene.shape, scene.n);
    problem p = {
        .pressure = &c, .matrix = &matrix, .rhs = c.rhs, .length = solver_case_length(&c.map)};
    treacle_status status =
        measure(b, ctx, name, &p, &yardstick, 4.0 * sizeof(float) * (double)p.length);
    csr_destroy(&matrix);
    pressure_case_destroy(&c);
    treacle_context_destroy(ctx);
    return status;
}

typedef struct viscosity_scene {
    solver_scene scene;
    double r;
    bool has_contrast;
} viscosity_scene;

static treacle_status measure_viscosity(bench* b, const viscosity_scene* s) {
    treacle_context* ctx = NULL;
    viscosity_case c = {.scene = s->scene, .r = s->r, .has_contrast = s->has_contrast};
    csr_matrix matrix;
    char name[64];
    TREACLE_TRY(one_thread_context(&ctx));
    TREACLE_TRY(viscosity_case_create(ctx, b->ctx, &c));
    if (!viscosity_case_assemble(&c, &matrix)) {
        return TREACLE_ERR_MEMORY;
    }
    csr_result yardstick = csr_solve(&matrix, c.rhs, 0.0, BENCH_CAP_SECONDS);
    bench_text(name, sizeof(name), "viscosity S%d %d^3 r=%g%s", (int)s->scene.shape, s->scene.n,
               s->r, s->has_contrast ? " contrast" : "");
    problem p = {.viscosity = &c,
                 .matrix = &matrix,
                 .rhs = c.rhs,
                 .length = AXES * solver_case_length(&c.map)};
    // The caller's masses and whole weights; the others may go once the solver is made.
    double fields = sizeof(float) * (double)(p.length + p.length / AXES);
    treacle_status status = measure(b, ctx, name, &p, &yardstick, fields);
    csr_destroy(&matrix);
    viscosity_case_destroy(&c);
    treacle_context_destroy(ctx);
    return status;
}

treacle_status bench_pressure(bench* b) {
    static const solver_scene pressure[] = {
        {SOLVER_SHAPE_BALL, 64},  {SOLVER_SHAPE_COIL, 64},  {SOLVER_SHAPE_BLOCK, 64},
        {SOLVER_SHAPE_BALL, 128}, {SOLVER_SHAPE_COIL, 128}, {SOLVER_SHAPE_BLOCK, 128},
        {SOLVER_SHAPE_BALL, 192},
    };
    for (size_t i = 0; i < sizeof(pressure) / sizeof(pressure[0]); ++i) {
        TREACLE_TRY(measure_pressure(b, pressure[i]));
    }
    return TREACLE_OK;
}

treacle_status bench_viscosity(bench* b) {
    static const viscosity_scene scenes[] = {
        {{SOLVER_SHAPE_BALL, 64}, 1.0, false},    {{SOLVER_SHAPE_BALL, 64}, 100.0, false},
        {{SOLVER_SHAPE_BALL, 64}, 1e4, false},    {{SOLVER_SHAPE_BALL, 64}, 1e6, false},
        {{SOLVER_SHAPE_BALL, 64}, 1e6, true},     {{SOLVER_SHAPE_COIL, 64}, 100.0, false},
        {{SOLVER_SHAPE_COIL, 64}, 1e4, false},    {{SOLVER_SHAPE_BLOCK, 64}, 1.0, false},
        {{SOLVER_SHAPE_BLOCK, 64}, 100.0, false}, {{SOLVER_SHAPE_BLOCK, 64}, 1e4, false},
        {{SOLVER_SHAPE_BLOCK, 64}, 1e6, false},   {{SOLVER_SHAPE_BLOCK, 64}, 1e6, true},
        {{SOLVER_SHAPE_BALL, 128}, 100.0, false}, {{SOLVER_SHAPE_BALL, 128}, 1e4, false},
        {{SOLVER_SHAPE_BLOCK, 128}, 1.0, false},  {{SOLVER_SHAPE_BLOCK, 128}, 100.0, false},
        {{SOLVER_SHAPE_BLOCK, 128}, 1e4, false},  {{SOLVER_SHAPE_BLOCK, 128}, 1e6, true},
        {{SOLVER_SHAPE_COIL, 128}, 1e4, false},
    };
    for (size_t i = 0; i < sizeof(scenes) / sizeof(scenes[0]); ++i) {
        TREACLE_TRY(measure_viscosity(b, &scenes[i]));
    }
    return TREACLE_OK;
}

// ---- Unified --------------------------------------------------------------------------------

// Seconds of the split at 1e-4: pressure, viscosity, pressure.
static treacle_status time_split(bench* b, treacle_context* ctx, const viscosity_scene* s,
                                 const viscosity_case* c, double* seconds) {
    pressure_case p;
    outcome pressure, viscosity;
    solve_params params = solve_params_default();
    params.relative = 1e-4;
    TREACLE_TRY(pressure_case_create(ctx, b->ctx, s->scene, &p));
    size_t cells = solver_case_length(&p.map), faces = AXES * solver_case_length(&c->map);
    double *x = calloc(faces + cells, sizeof(double)), *r = calloc(faces + cells, sizeof(double));
    treacle_status status = TREACLE_ERR_MEMORY;
    if (x != NULL && r != NULL) {
        memcpy(r, p.rhs, cells * sizeof(double));
        status = solve_pressure(ctx, &p, r, x, &params, &pressure);
    }
    if (status == TREACLE_OK) {
        memset(x, 0, faces * sizeof(double));
        memcpy(r, c->rhs, faces * sizeof(double));
        status = solve_viscosity(ctx, c, r, x, &params, &viscosity);
        *seconds = 2.0 * pressure.seconds + viscosity.seconds;
    }
    free(x);
    free(r);
    pressure_case_destroy(&p);
    return status;
}

static treacle_status run_unified(treacle_context* ctx, const viscosity_case* c,
                                  const stokes_params* params, stokes_stats* stats,
                                  double* seconds) {
    size_t cells = solver_case_length(&c->map), faces = AXES * cells;
    double* all = calloc(2 * (faces + cells), sizeof(double));
    stokes_vectors v = {all, all + faces, all + faces + cells, all + 2 * faces + cells};
    stokes_system system = {&c->domain,
                            &c->map,
                            {.cell = c->cell,
                             .edge = {c->edge[0], c->edge[1], c->edge[2]},
                             .mass = {c->mass[0], c->mass[1], c->mass[2]},
                             .fixed = c->fixed,
                             .whole = c->whole},
                            {c->opening[0], c->opening[1], c->opening[2]},
                            c->volume};
    stokes_solver* solver = NULL;
    treacle_status status = TREACLE_ERR_MEMORY;
    if (all != NULL) {
        memcpy(v.f, c->rhs, faces * sizeof(double));
        double begin = cpu_seconds();
        status = stokes_solver_create(ctx, &system, &solver);
        if (status == TREACLE_OK) {
            status = stokes_solve(solver, &v, params, stats);
        }
        *seconds = cpu_seconds() - begin;
    }
    stokes_solver_destroy(solver);
    free(all);
    return status;
}

// The first entry of the history at or below the target, or minus the number of iterations.
static int iterations_to(const stokes_stats* stats, const double* history, double target) {
    for (int n = 0; n < stats->history_count; ++n) {
        if (history[n] <= target) {
            return n;
        }
    }
    return -stats->iterations;
}

static void report_count(const bench* b, const char* name, const char* what, int count) {
    bench_report(b, &(bench_row){.case_name = name, .quantity = what, .value = count, .unit = "1"});
}

static treacle_status report_unified(bench* b, treacle_context* ctx, const viscosity_scene* s,
                                     const viscosity_case* c) {
    char name[64], reference[64];
    double seconds = 0.0, split = 0.0;
    stokes_params params = stokes_params_default();
    stokes_stats stats;
    bench_text(name, sizeof(name), "unified S%d %d^3 r=%g%s", (int)s->scene.shape, s->scene.n, s->r,
               s->has_contrast ? " contrast" : "");
    TREACLE_TRY(time_split(b, ctx, s, c, &split));
    TREACLE_TRY(run_unified(ctx, c, &params, &stats, &seconds));
    report_count(b, name, "iterations to energy 5e-4", stats.is_converged ? stats.iterations : -1);
    bench_report(b, &(bench_row){.case_name = name,
                                 .quantity = "time to energy 5e-4",
                                 .value = seconds,
                                 .unit = "s",
                                 .yardstick = bench_text(reference, sizeof(reference),
                                                         "split to 1e-4, %.3g s", split),
                                 .ratio = split / seconds});
    params.energy = INFINITY;
    params.relative = 1e-6;
    TREACLE_TRY(run_unified(ctx, c, &params, &stats, &seconds));
    report_count(b, name, "iterations to 1e-4",
                 iterations_to(&stats, stats.history_relative, 1e-4));
    report_count(b, name, "iterations to 1e-6",
                 iterations_to(&stats, stats.history_relative, 1e-6));
    return TREACLE_OK;
}

static treacle_status measure_unified(bench* b, const viscosity_scene* s) {
    treacle_context* ctx = NULL;
    viscosity_case c = {
        .scene = s->scene, .r = s->r, .has_contrast = s->has_contrast, .is_unified = true};
    TREACLE_TRY(one_thread_context(&ctx));
    TREACLE_TRY(viscosity_case_create(ctx, b->ctx, &c));
    treacle_status status = report_unified(b, ctx, s, &c);
    viscosity_case_destroy(&c);
    treacle_context_destroy(ctx);
    return status;
}

treacle_status bench_unified(bench* b) {
    static const viscosity_scene scenes[] = {
        {{SOLVER_SHAPE_BLOCK, 64}, 0.1, false},   {{SOLVER_SHAPE_BLOCK, 64}, 1.0, false},
        {{SOLVER_SHAPE_BLOCK, 64}, 100.0, false}, {{SOLVER_SHAPE_BLOCK, 64}, 1e4, false},
        {{SOLVER_SHAPE_BLOCK, 64}, 1e6, true},    {{SOLVER_SHAPE_BALL, 64}, 1e4, false},
        {{SOLVER_SHAPE_COIL, 64}, 100.0, false},  {{SOLVER_SHAPE_COIL, 64}, 1e4, false},
        {{SOLVER_SHAPE_BLOCK, 128}, 1e4, false},
    };
    for (size_t i = 0; i < sizeof(scenes) / sizeof(scenes[0]); ++i) {
        TREACLE_TRY(measure_unified(b, &scenes[i]));
    }
    return TREACLE_OK;
}

// ---- The field's own benchmark [SHM22] ------------------------------------------------------

// A number in [-1, 1) that looks random, from a counter.
static double scatter(uint64_t n) {
    n = (n ^ (n >> 31)) * 0x9e3779b97f4a7c15u;
    n = (n ^ (n >> 29)) * 0xbf58476d1ce4e5b9u;
    return (double)(n >> 11) * 0x1p-52 - 1.0;
}

static void report_rate(bench* b, const char* name, const outcome* o, double unknowns,
                        double reference) {
    char text[64];
    report_count(b, name, "iterations to max-norm 1e-7", o->iterations);
    bench_report(b, &(bench_row){.case_name = name,
                                 .quantity = "unknowns a core second, set-up included",
                                 .value = 1e-6 * unknowns / o->seconds,
                                 .unit = "million",
                                 .yardstick = bench_text(text, sizeof(text),
                                                         "published code, %g million", reference),
                                 .ratio = 1e-6 * unknowns / o->seconds / reference});
}

static treacle_status measure_tank(bench* b, int n) {
    treacle_context* ctx = NULL;
    pressure_case c;
    outcome o;
    char name[64];
    solve_params params = {.norm = SOLVE_NORM_MAX, .relative = 1e-7, .max_iterations = 100};
    TREACLE_TRY(one_thread_context(&ctx));
    TREACLE_TRY(pressure_case_create(ctx, b->ctx, (solver_scene){SOLVER_SHAPE_TANK, n}, &c));
    size_t length = solver_case_length(&c.map);
    double* x = calloc(length, sizeof(double));
    for (size_t i = 0; i < length - TILE_CELLS; ++i) {
        c.rhs[i] = scatter(i);
    }
    treacle_status status =
        x == NULL ? TREACLE_ERR_MEMORY : solve_pressure(ctx, &c, c.rhs, x, &params, &o);
    if (status == TREACLE_OK) {
        report_rate(b, bench_text(name, sizeof(name), "field: pressure, tank %d^3", n), &o,
                    (double)(length - TILE_CELLS), 1.6);
    }
    free(x);
    pressure_case_destroy(&c);
    treacle_context_destroy(ctx);
    return status;
}

static treacle_status measure_drop(bench* b, int cells, double viscosity) {
    treacle_context* ctx = NULL;
    outcome o;
    char name[64];
    // Density 1000, 24 steps a second, 1 m across.
    viscosity_case c = {.scene = {SOLVER_SHAPE_DROP, cells + 16},
                        .r = viscosity / 24.0 / 1000.0 * cells * cells};
    solve_params params = {.norm = SOLVE_NORM_MAX, .relative = 1e-7, .max_iterations = 100};
    TREACLE_TRY(one_thread_context(&ctx));
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
        x == NULL ? TREACLE_ERR_MEMORY : solve_viscosity(ctx, &c, c.rhs, x, &params, &o);
    if (status == TREACLE_OK) {
        bench_text(name, sizeof(name), "field: viscosity %g, drop %d", viscosity, cells);
        report_rate(b, name, &o, unknowns, 0.2);
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
    for (int n = 32; n <= 128; n *= 2) {
        for (int i = 0; i < 3; ++i) {
            TREACLE_TRY(measure_drop(b, n, viscosities[i]));
        }
    }
    return TREACLE_OK;
}

treacle_status bench_solver(bench* b) {
    TREACLE_TRY(bench_pressure(b));
    TREACLE_TRY(bench_viscosity(b));
    TREACLE_TRY(bench_unified(b));
    return bench_field(b);
}
