// The flow stage of thick liquid: pressure, viscosity, pressure (split) to 1e-4, and both in one
// solve (unified) to its default targets, from rest, against the split's three systems by serial
// conjugate gradients with incomplete Cholesky. CPU time of one thread, set-up included; memory is
// what the solvers hold at their peak, beside the yardstick's matrices and factors.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "benches.h"
#include "solver_rows.h"

typedef struct flow_case {
    char name[64];
    pressure_case pressure;
    viscosity_case viscosity;
} flow_case;

typedef struct flow_cost {
    double seconds, bytes;
    int iterations[2]; // of pressure and viscosity
    bool is_reached;
    char regime[SOLVE_REGIME_NAME];
} flow_cost;

static treacle_status run_split(treacle_context* ctx, const flow_case* c, flow_cost* out) {
    solver_outcome pressure, viscosity;
    solve_params params = solve_params_default();
    params.relative = 1e-4;
    size_t cells = solver_case_length(&c->pressure.map);
    size_t faces = AXES * solver_case_length(&c->viscosity.map);
    double *x = calloc(faces + cells, sizeof(double)), *r = calloc(faces + cells, sizeof(double));
    treacle_status status = TREACLE_ERR_MEMORY;
    if (x != NULL && r != NULL) {
        memcpy(r, c->pressure.rhs, cells * sizeof(double));
        status = solver_run_pressure(ctx, &c->pressure, r, x, &params, &pressure);
    }
    if (status == TREACLE_OK) {
        memset(x, 0, faces * sizeof(double));
        memcpy(r, c->viscosity.rhs, faces * sizeof(double));
        status = solver_run_viscosity(ctx, &c->viscosity, r, x, &params, &viscosity);
    }
    if (status == TREACLE_OK) {
        *out = (flow_cost){.seconds = 2.0 * pressure.seconds + viscosity.seconds,
                           .bytes = fmax(pressure.bytes, viscosity.bytes),
                           .iterations = {pressure.iterations, viscosity.iterations},
                           .is_reached = true};
        memcpy(out->regime, viscosity.regime, sizeof(out->regime));
    }
    free(x);
    free(r);
    return status;
}

// Bytes of a matrix and its factor: a value and a column each, twice.
static double matrix_bytes(const csr_matrix* m) {
    return 1.5 * (double)m->first[m->n] * (sizeof(double) + sizeof(int32_t));
}

static treacle_status run_yardstick(const flow_case* c, flow_cost* out) {
    csr_matrix matrix;
    if (!pressure_case_assemble(&c->pressure, &matrix)) {
        return TREACLE_ERR_MEMORY;
    }
    csr_result pressure = csr_solve(&matrix, c->pressure.rhs, 0.97, BENCH_CAP_SECONDS);
    double bytes = matrix_bytes(&matrix);
    csr_destroy(&matrix);
    if (!viscosity_case_assemble(&c->viscosity, &matrix)) {
        return TREACLE_ERR_MEMORY;
    }
    csr_result viscosity = csr_solve(&matrix, c->viscosity.rhs, 0.0, BENCH_CAP_SECONDS);
    *out = (flow_cost){.seconds = 2.0 * pressure.seconds[0] + viscosity.seconds[0],
                       .bytes = fmax(bytes, matrix_bytes(&matrix)),
                       .iterations = {pressure.iterations[0], viscosity.iterations[0]},
                       .is_reached = pressure.is_reached[0] && viscosity.is_reached[0]};
    csr_destroy(&matrix);
    return TREACLE_OK;
}

static void report(const bench* b, const char* name, const flow_cost* cost,
                   const flow_cost* yardstick) {
    char time_text[96], bytes_text[96], quantity[64];
    bench_text(time_text, sizeof(time_text), "split by IC CG, %d + %d iterations, %.3g s",
               yardstick->iterations[0], yardstick->iterations[1], yardstick->seconds);
    bench_text(bytes_text, sizeof(bytes_text), "matrix and factor, %.3g MB",
               1e-6 * yardstick->bytes);
    bench_report(b, &(bench_row){.case_name = name,
                                 .quantity = bench_text(quantity, sizeof(quantity),
                                                        "iterations, %s", cost->regime),
                                 .value = cost->iterations[1],
                                 .unit = "1"});
    bench_report(b, &(bench_row){.case_name = name,
                                 .quantity = "time",
                                 .value = cost->seconds,
                                 .unit = "s",
                                 .yardstick = time_text,
                                 .ratio = yardstick->seconds / cost->seconds,
                                 .is_at_least = !yardstick->is_reached});
    bench_report(b, &(bench_row){.case_name = name,
                                 .quantity = "memory",
                                 .value = 1e-6 * cost->bytes,
                                 .unit = "MB",
                                 .yardstick = bytes_text,
                                 .ratio = yardstick->bytes / cost->bytes});
}

static treacle_status race(bench* b, treacle_context* ctx, const flow_case* c) {
    char name[80];
    flow_cost split, unified, yardstick;
    solver_unified run;
    stokes_params params = stokes_params_default();
    TREACLE_TRY(run_yardstick(c, &yardstick));
    TREACLE_TRY(run_split(ctx, c, &split));
    report(b, bench_text(name, sizeof(name), "split %s", c->name), &split, &yardstick);
    TREACLE_TRY(solver_run_unified(ctx, &c->viscosity, &params, &run));
    unified = (flow_cost){
        .seconds = run.seconds,
        .bytes = run.bytes,
        .iterations = {0, run.stats.is_converged ? run.stats.iterations : -run.stats.iterations}};
    memcpy(unified.regime, run.stats.regime, sizeof(unified.regime));
    report(b, bench_text(name, sizeof(name), "unified %s", c->name), &unified, &yardstick);
    return TREACLE_OK;
}

static treacle_status measure(bench* b, const solver_row* row) {
    treacle_context* ctx = NULL;
    flow_case c = {.viscosity = {.scene = row->scene,
                                 .r = row->r,
                                 .has_contrast = row->has_contrast,
                                 .is_unified = true}};
    solver_row_name(row, "flow", sizeof(c.name), c.name);
    TREACLE_TRY(solver_context(1, &ctx));
    TREACLE_TRY(pressure_case_create(ctx, b->ctx, row->scene, &c.pressure));
    TREACLE_TRY(viscosity_case_create(ctx, b->ctx, &c.viscosity));
    treacle_status status = race(b, ctx, &c);
    viscosity_case_destroy(&c.viscosity);
    pressure_case_destroy(&c.pressure);
    treacle_context_destroy(ctx);
    return status;
}

treacle_status bench_flow(bench* b) {
    static const solver_shape shapes[] = {SOLVER_SHAPE_BALL, SOLVER_SHAPE_COIL, SOLVER_SHAPE_BLOCK};
    static const double weights[] = {1.0, 100.0, 1e4, 1e6};
    for (int n = 64; n <= 128; n *= 2) {
        for (int shape = 0; shape < 3; ++shape) {
            for (int k = 0; k < 8; ++k) {
                solver_row row = {{shapes[shape], n}, weights[k / 2], k % 2 == 1, true};
                // Of the small ones: the block at all weights, the others thick; one large one.
                bool is_quick =
                    n == 64 && (k == 4 || (shape == 2 && k % 2 == 0) || (shape == 2 && k == 7));
                bool is_large = n == 128 && shape == 2 && k == 2;
                if (b->is_full || is_quick || is_large) {
                    TREACLE_TRY(measure(b, &row));
                }
            }
        }
    }
    return TREACLE_OK;
}
