// Velocity and pressure in one solve against the split: pressure, viscosity, pressure.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "benches.h"
#include "solver_rows.h"

enum { REPEATS = 3 };

// Of a region's volume a step, where velocities are of the order of a cell a step.
static const double net_target = 2e-6;

// Seconds of the split at 1e-4.
static treacle_status time_split(treacle_context* ctx, const pressure_case* p,
                                 const viscosity_case* c, double* seconds) {
    solver_outcome pressure, viscosity;
    solve_params params = solve_params_default();
    params.relative = 1e-4;
    size_t cells = solver_case_length(&p->map), faces = AXES * solver_case_length(&c->map);
    double *x = calloc(faces + cells, sizeof(double)), *r = calloc(faces + cells, sizeof(double));
    treacle_status status = TREACLE_ERR_MEMORY;
    if (x != NULL && r != NULL) {
        memcpy(r, p->rhs, cells * sizeof(double));
        status = solver_run_pressure(ctx, p, r, x, &params, &pressure);
    }
    if (status == TREACLE_OK) {
        memset(x, 0, faces * sizeof(double));
        memcpy(r, c->rhs, faces * sizeof(double));
        status = solver_run_viscosity(ctx, c, r, x, &params, &viscosity);
        *seconds = 2.0 * pressure.seconds + viscosity.seconds;
    }
    free(x);
    free(r);
    return status;
}

// The first entry of the history at or below the target, infinite if there is none.
static double iterations_to(const stokes_stats* stats, const double* history, double target) {
    for (int n = 0; n < stats->history_count; ++n) {
        if (history[n] <= target) {
            return n;
        }
    }
    return INFINITY;
}

// A count or a size, of which at most so much is asked; 0: nothing is.
static void report(const bench* b, const char* name, const char* what, double value,
                   double at_most) {
    bench_report(b, &(bench_row){.case_name = name,
                                 .quantity = what,
                                 .value = value,
                                 .unit = "1",
                                 .limit = at_most > 0.0 ? BENCH_VALUE_AT_MOST : BENCH_NO_LIMIT,
                                 .minimum = at_most});
}

static double count_of(const stokes_stats* stats) {
    return stats->is_converged ? (double)stats->iterations : (double)INFINITY;
}

// Iterations to the energy asked of a row, cold.
static double iterations_asked(const solver_row* row) {
    bool is_coil = row->scene.shape == SOLVER_SHAPE_COIL;
    return row->has_contrast ? 26.0
           : row->r <= 0.1   ? 9.0
           : row->r <= 1.0   ? 11.0
           : !is_coil        ? 17.0
           : row->r == 1e4   ? 32.0
                             : 0.0;
}

// Both ways in turn, several times: the best of each, at default targets.
static treacle_status report_race(bench* b, const solver_row* row, const pressure_case* p,
                                  const viscosity_case* c, treacle_context* ctx) {
    char name[64];
    solver_row_name(row, "unified", sizeof(name), name);
    char reference[64], quantity[72];
    double seconds = INFINITY, split = INFINITY;
    stokes_params params = stokes_params_default();
    solver_unified run;
    for (int n = 0; n < REPEATS; ++n) {
        double now = 0.0;
        TREACLE_TRY(time_split(ctx, p, c, &now));
        split = fmin(split, now);
        TREACLE_TRY(solver_run_unified(ctx, c, &params, &run));
        seconds = fmin(seconds, run.seconds);
    }
    bench_text(quantity, sizeof(quantity), "iterations to energy 5e-4, %s", run.stats.regime);
    report(b, name, quantity, count_of(&run.stats), iterations_asked(row));
    bench_report(b,
                 &(bench_row){.case_name = name,
                              .quantity = "time to energy 5e-4 over the split's",
                              .value = seconds / split,
                              .unit = "1",
                              .yardstick = bench_text(reference, sizeof(reference),
                                                      "split to 1e-4, %.3g s", split),
                              .ratio = split / seconds,
                              .limit = row->scene.n == 128 ? BENCH_VALUE_AT_MOST : BENCH_NO_LIMIT,
                              .minimum = row->r <= 0.1 ? 1.2 : 1.6});
    report(b, name, "bytes an unknown", run.bytes / run.stats.unknowns, 0.0);
    return TREACLE_OK;
}

static treacle_status report_targets(bench* b, const solver_row* row, const viscosity_case* c,
                                     treacle_context* ctx) {
    char name[64];
    bool is_bulk = row->scene.shape != SOLVER_SHAPE_COIL && row->r >= 100.0 && !row->has_contrast;
    solver_row_name(row, "unified", sizeof(name), name);
    stokes_params params = stokes_params_default();
    solver_unified run;
    params.net = net_target;
    TREACLE_TRY(solver_run_unified(ctx, c, &params, &run));
    report(b, name, "iterations to energy 5e-4, net flow 2e-6", count_of(&run.stats), 0.0);
    report(b, name, "net flow of a region, volumes", run.stats.net, net_target);
    params = stokes_params_default();
    params.energy = INFINITY;
    params.relative = 1e-6;
    TREACLE_TRY(solver_run_unified(ctx, c, &params, &run));
    const stokes_stats* stats = &run.stats;
    report(b, name, "iterations to 1e-4", iterations_to(stats, stats->history_relative, 1e-4),
           is_bulk ? 25.0 : 0.0);
    report(b, name, "iterations to 1e-6", iterations_to(stats, stats->history_relative, 1e-6),
           is_bulk ? 34.0 : 0.0);
    return TREACLE_OK;
}

static treacle_status measure_unified(bench* b, const solver_row* row) {
    treacle_context* ctx = NULL;
    pressure_case p;
    viscosity_case c = {
        .scene = row->scene, .r = row->r, .has_contrast = row->has_contrast, .is_unified = true};
    TREACLE_TRY(solver_context(1, &ctx));
    TREACLE_TRY(pressure_case_create(ctx, b->ctx, row->scene, &p));
    TREACLE_TRY(viscosity_case_create(ctx, b->ctx, &c));
    treacle_status status = report_race(b, row, &p, &c, ctx);
    if (status == TREACLE_OK) {
        status = report_targets(b, row, &c, ctx);
    }
    viscosity_case_destroy(&c);
    pressure_case_destroy(&p);
    treacle_context_destroy(ctx);
    return status;
}

treacle_status bench_unified(bench* b) {
    static const solver_row rows[] = {
        {{SOLVER_SHAPE_BLOCK, 64}, 0.1, false, true},
        {{SOLVER_SHAPE_BLOCK, 64}, 1.0, false, true},
        {{SOLVER_SHAPE_BLOCK, 64}, 100.0, false, true},
        {{SOLVER_SHAPE_BLOCK, 64}, 1e4, false, false},
        {{SOLVER_SHAPE_BLOCK, 64}, 1e6, true, false},
        {{SOLVER_SHAPE_BALL, 64}, 1e4, false, true},
        {{SOLVER_SHAPE_COIL, 64}, 100.0, false, false},
        {{SOLVER_SHAPE_COIL, 64}, 1e4, false, false},
        {{SOLVER_SHAPE_BLOCK, 128}, 0.1, false, false},
        {{SOLVER_SHAPE_BLOCK, 128}, 1.0, false, false},
        {{SOLVER_SHAPE_BLOCK, 128}, 100.0, false, true},
        {{SOLVER_SHAPE_BLOCK, 128}, 1e4, false, false},
        {{SOLVER_SHAPE_BALL, 128}, 1e4, false, false},
        {{SOLVER_SHAPE_COIL, 128}, 100.0, false, true},
        {{SOLVER_SHAPE_COIL, 128}, 1e4, false, true},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
        if (b->is_full || !rows[i].is_full) {
            TREACLE_TRY(measure_unified(b, &rows[i]));
        }
    }
    return TREACLE_OK;
}
