// The linear solvers against serial conjugate gradients with incomplete Cholesky.
//
// Times are CPU times of one thread, set-up or factorisation included, so that other load on the
// machine disturbs them little; the two-thread rows are wall times. Iterations and times are given
// for residuals of 1e-4 and 1e-6 in the 2-norm, from a zero guess. The residual of the matrix is
// checked in every row: a row whose true residual misses its target says so.
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench.h"
#include "benches.h"
#include "solve/pressure_solver.h"
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

static treacle_status run_pressure(treacle_context* ctx, const pressure_case* c,
                                   const csr_matrix* matrix, double target, outcome* out) {
    size_t length = solver_case_length(&c->map);
    double *x = calloc(length, sizeof(double)), *r = malloc(length * sizeof(double));
    memcpy(r, c->rhs, length * sizeof(double));
    pressure_system system = {&c->domain, &c->map, {c->link[0], c->link[1], c->link[2]}, c->extra};
    pressure_solver* solver = NULL;
    solve_params params = solve_params_default();
    solve_stats stats;
    size_t memory = treacle_context_memory(ctx);
    params.relative = target;
    double begin = cpu_seconds();
    TREACLE_TRY(pressure_solver_create(ctx, &system, &solver));
    out->setup_seconds = cpu_seconds() - begin;
    TREACLE_TRY(pressure_solve(solver, r, x, &params, &stats));
    out->seconds = cpu_seconds() - begin;
    out->iterations = stats.is_converged ? stats.iterations : -stats.iterations;
    out->bytes = (double)(treacle_context_memory(ctx) - memory);
    pressure_solver_destroy(solver);
    out->true_residual = csr_residual(matrix, c->rhs, x);
    free(x);
    free(r);
    return TREACLE_OK;
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
    outcome best = {0};
    for (int i = 0; i < 2; ++i) {
        for (int n = 0; n < REPEATS; ++n) {
            outcome now;
            TREACLE_TRY(run_pressure(ctx, &c, &matrix, targets[i], &now));
            best = n == 0 || now.seconds < best.seconds ? now : best;
        }
        report_outcome(b, name, i, &best, &yardstick);
    }
    // The caller's fields, four of float, and its right-hand side and solution belong to the bill.
    double fields = (double)solver_case_length(&c.map) * (4 * sizeof(float) + 2 * sizeof(double));
    bench_report(b, &(bench_row){.case_name = name,
                                 .quantity = "set-up",
                                 .value = best.setup_seconds,
                                 .unit = "s",
                                 .yardstick = "whole solve to 1e-6",
                                 .ratio = best.seconds / best.setup_seconds});
    bench_report(b, &(bench_row){.case_name = name,
                                 .quantity = "memory",
                                 .value = (best.bytes + fields) / matrix.n,
                                 .unit = "B/DOF"});
    csr_destroy(&matrix);
    pressure_case_destroy(&c);
    treacle_context_destroy(ctx);
    return TREACLE_OK;
}

treacle_status bench_solver(bench* b) {
    static const solver_scene scenes[] = {
        {SOLVER_SHAPE_BALL, 64},  {SOLVER_SHAPE_COIL, 64},  {SOLVER_SHAPE_BLOCK, 64},
        {SOLVER_SHAPE_BALL, 128}, {SOLVER_SHAPE_COIL, 128}, {SOLVER_SHAPE_BLOCK, 128},
        {SOLVER_SHAPE_BALL, 192},
    };
    for (size_t i = 0; i < sizeof(scenes) / sizeof(scenes[0]); ++i) {
        TREACLE_TRY(measure_pressure(b, scenes[i]));
    }
    return TREACLE_OK;
}
