// What the solvers make of the machine: a second thread, the bandwidth of memory, and systems so
// small or so soft that multigrid does not pay.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "benches.h"
#include "solver_rows.h"

enum { REPEATS = 5 };

// ---- Two threads against one ------------------------------------------------------------------

// A solve of either kind to 1e-6 with its own context; x is kept.
typedef struct thread_run {
    treacle_context* ctx;
    double* x;
    double seconds; // wall, the best
} thread_run;

static treacle_status run_once(const pressure_case* p, const viscosity_case* v, thread_run* run) {
    const double* rhs = p != NULL ? p->rhs : v->rhs;
    size_t length = p != NULL ? solver_case_length(&p->map) : AXES * solver_case_length(&v->map);
    double* r = malloc(length * sizeof(double));
    solve_params params = solve_params_default();
    solver_outcome out;
    if (r == NULL) {
        return TREACLE_ERR_MEMORY;
    }
    memcpy(r, rhs, length * sizeof(double));
    memset(run->x, 0, length * sizeof(double));
    treacle_status status = p != NULL ? solver_run_pressure(run->ctx, p, r, run->x, &params, &out)
                                      : solver_run_viscosity(run->ctx, v, r, run->x, &params, &out);
    run->seconds = fmin(run->seconds, out.wall_seconds);
    free(r);
    return status;
}

static treacle_status race_threads(bench* b, const char* name, const pressure_case* p,
                                   const viscosity_case* v) {
    size_t length = p != NULL ? solver_case_length(&p->map) : AXES * solver_case_length(&v->map);
    char reference[64];
    thread_run run[2] = {{.seconds = INFINITY}, {.seconds = INFINITY}};
    double* x = calloc(2 * length, sizeof(double));
    treacle_status status = x != NULL ? TREACLE_OK : TREACLE_ERR_MEMORY;
    for (int i = 0; i < 2 && status == TREACLE_OK; ++i) {
        run[i].x = x + (size_t)i * length;
        status = solver_context(i + 1, &run[i].ctx);
    }
    for (int n = 0; n < 2 * REPEATS && status == TREACLE_OK; ++n) {
        status = run_once(p, v, &run[n % 2]);
    }
    bool is_same = status == TREACLE_OK && memcmp(run[0].x, run[1].x, length * sizeof(double)) == 0;
    bench_report(b, &(bench_row){.case_name = name,
                                 .quantity = is_same ? "wall time, two threads, the same bits"
                                                     : "wall time, two threads, OTHER BITS",
                                 .value = run[1].seconds,
                                 .unit = "s",
                                 .yardstick = bench_text(reference, sizeof(reference),
                                                         "one thread, %.3g s", run[0].seconds),
                                 .ratio = is_same ? run[0].seconds / run[1].seconds : 0.0,
                                 .limit = BENCH_RATIO_AT_LEAST,
                                 .minimum = 1.6});
    treacle_context_destroy(run[0].ctx);
    treacle_context_destroy(run[1].ctx);
    free(x);
    return status;
}

// ---- Fraction of the bandwidth
// -------------------------------------------------------------------

// One pass of a kernel over its operands. All bytes that must move are counted once: what is read,
// and what is written twice, since a line is read before it is written.
typedef struct kernel {
    const char* name;
    const pressure_level* cells; // or
    const viscosity_level* faces;
    double *x, *y;
    float *b, *z;
    double bytes; // an unknown
} kernel;

static bool pass(void* data) {
    const kernel* k = data;
    if (k->cells != NULL) {
        pressure_level_apply(k->cells, k->x, k->y);
    } else if (k->z != NULL) {
        viscosity_level_residual(k->faces, k->b, k->z);
    } else {
        viscosity_level_apply(k->faces, k->x, k->y);
    }
    return true;
}

static void report_kernel(const bench* b, kernel* k, double unknowns, double bandwidth) {
    char reference[64];
    double seconds = bench_median(REPEATS, pass, k), speed = k->bytes * unknowns / seconds;
    bench_report(
        b, &(bench_row){.case_name = k->name,
                        .quantity = "speed",
                        .value = 1e-9 * speed,
                        .unit = "GB/s",
                        .yardstick = bench_text(reference, sizeof(reference),
                                                "triad, one thread, %.3g GB/s", 1e-9 * bandwidth),
                        .ratio = speed / bandwidth,
                        .limit = BENCH_RATIO_AT_LEAST,
                        .minimum = 0.4});
}

// Compulsory bytes: links, extra and x read, y written. Four floats and two doubles a cell.
static treacle_status measure_cells(const bench* b, treacle_context* ctx, const pressure_case* p,
                                    double bandwidth) {
    pressure_system system = pressure_system_of(p);
    pressure_solver* solver = NULL;
    size_t length = solver_case_length(&p->map);
    double* x = calloc(2 * length, sizeof(double));
    TREACLE_TRY(pressure_solver_create(ctx, &system, &solver));
    const pressure_level* level = pressure_solver_finest(solver);
    kernel k = {"pressure S3, double apply", .cells = level, .x = x, .y = x + length, .bytes = 32};
    if (x != NULL) {
        report_kernel(b, &k, level->unknowns, bandwidth);
    }
    pressure_solver_destroy(solver);
    free(x);
    return x != NULL ? TREACLE_OK : TREACLE_ERR_MEMORY;
}

// Compulsory bytes a face: a third of four stress weights, its mass, its inverse diagonal, which
// says whether it is unknown; and for apply two doubles, for the residual three floats.
static treacle_status measure_faces(const bench* b, treacle_context* ctx, const viscosity_case* v,
                                    double bandwidth) {
    viscosity_system system = viscosity_system_of(v);
    viscosity_solver* solver = NULL;
    size_t length = AXES * solver_case_length(&v->map);
    double* x = calloc(3 * length, sizeof(double));
    TREACLE_TRY(viscosity_solver_create(ctx, &system, &solver));
    const viscosity_level* level = viscosity_solver_finest(solver);
    const double weights = 4.0 * (4.0 / 3.0 + 2.0);
    kernel apply = {"viscosity S3, double apply", .faces = level, .x = x, .y = x + length,
                    .bytes = weights + 16.0};
    kernel residual = {"viscosity S3, residual", .faces = level, .b = (float*)(x + 2 * length),
                       .z = (float*)x, .bytes = weights + 12.0};
    if (x != NULL) {
        report_kernel(b, &residual, level->unknowns, bandwidth);
        report_kernel(b, &apply, level->unknowns, bandwidth);
    }
    viscosity_solver_destroy(solver);
    free(x);
    return x != NULL ? TREACLE_OK : TREACLE_ERR_MEMORY;
}

// ---- Small and soft systems -------------------------------------------------------------------

typedef struct soft_run {
    double single_weight; // up to which one level does; of the default where it is NAN
    double seconds;       // the best
    int iterations;
} soft_run;

static treacle_status run_soft(treacle_context* ctx, const viscosity_case* c, double* vectors,
                               soft_run* run) {
    viscosity_system system = viscosity_system_of(c);
    viscosity_solver* solver = NULL;
    solve_params params = solve_params_default();
    solve_stats stats = {0};
    size_t length = AXES * solver_case_length(&c->map);
    memcpy(vectors, c->rhs, length * sizeof(double));
    solve_policy policy = *solve_policy_default();
    if (!isnan(run->single_weight)) {
        policy.cycle.single_weight = policy.cycle.single_weight_small = run->single_weight;
    }
    system.policy = &policy;
    double begin = solver_cpu_seconds();
    TREACLE_TRY(viscosity_solver_create(ctx, &system, &solver));
    treacle_status status = viscosity_solve(solver, vectors, vectors + length, &params, &stats);
    run->seconds = fmin(run->seconds, solver_cpu_seconds() - begin);
    run->iterations = stats.iterations;
    viscosity_solver_destroy(solver);
    return status;
}

// The depth that the solver chooses against the other one.
static treacle_status measure_soft(bench* b, const solver_row* row) {
    treacle_context* ctx = NULL;
    viscosity_case c = {.scene = row->scene, .r = row->r};
    char name[64], reference[96];
    soft_run run[3] = {{NAN, INFINITY, 0}, {0.0, INFINITY, 0}, {INFINITY, INFINITY, 0}};
    solver_row_name(row, "viscosity", sizeof(name), name);
    TREACLE_TRY(solver_context(1, &ctx));
    TREACLE_TRY(viscosity_case_create(ctx, b->ctx, &c));
    double* vectors = calloc(2 * AXES * solver_case_length(&c.map), sizeof(double));
    treacle_status status = vectors != NULL ? TREACLE_OK : TREACLE_ERR_MEMORY;
    for (int n = 0; n < 6 * REPEATS && status == TREACLE_OK; ++n) {
        status = run_soft(ctx, &c, vectors, &run[n % 3]);
    }
    bench_text(reference, sizeof(reference), "all levels, %d iterations, %.3g s; one, %d, %.3g s",
               run[1].iterations, run[1].seconds, run[2].iterations, run[2].seconds);
    bench_report(b, &(bench_row){.case_name = name,
                                 .quantity = "time to 1e-6, depth chosen",
                                 .value = run[0].seconds,
                                 .unit = "s",
                                 .yardstick = reference,
                                 .ratio = run[1].seconds / run[0].seconds});
    free(vectors);
    viscosity_case_destroy(&c);
    treacle_context_destroy(ctx);
    return status;
}

// ---- All together -----------------------------------------------------------------------------

static treacle_status measure_block(bench* b, treacle_context* ctx, double bandwidth) {
    const solver_scene scene = {SOLVER_SHAPE_BLOCK, 128};
    pressure_case p;
    viscosity_case v = {.scene = scene, .r = 100.0};
    TREACLE_TRY(pressure_case_create(ctx, b->ctx, scene, &p));
    TREACLE_TRY(viscosity_case_create(ctx, b->ctx, &v));
    treacle_status status = measure_cells(b, ctx, &p, bandwidth);
    status = status == TREACLE_OK ? measure_faces(b, ctx, &v, bandwidth) : status;
    status = status == TREACLE_OK ? race_threads(b, "pressure S3 128^3 to 1e-6", &p, NULL) : status;
    status = status == TREACLE_OK ? race_threads(b, "viscosity S3 128^3 r=100 to 1e-6", NULL, &v)
                                  : status;
    viscosity_case_destroy(&v);
    pressure_case_destroy(&p);
    return status;
}

treacle_status bench_threads(bench* b) {
    static const solver_row soft[] = {
        {.scene = {SOLVER_SHAPE_BLOCK, 16}, .r = 0.01},
        {.scene = {SOLVER_SHAPE_BLOCK, 16}, .r = 1.0},
        {.scene = {SOLVER_SHAPE_BLOCK, 16}, .r = 100.0},
        {.scene = {SOLVER_SHAPE_BLOCK, 32}, .r = 1.0},
        {.scene = {SOLVER_SHAPE_BLOCK, 64}, .r = 0.1},
    };
    treacle_context* ctx = NULL;
    TREACLE_TRY(solver_context(1, &ctx));
    treacle_status status = measure_block(b, ctx, bench_measure_triad(1).bytes_per_second);
    treacle_context_destroy(ctx);
    for (size_t i = 0; i < sizeof(soft) / sizeof(soft[0]) && status == TREACLE_OK; ++i) {
        status = measure_soft(b, &soft[i]);
    }
    return status;
}
