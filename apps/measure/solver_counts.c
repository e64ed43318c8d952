#include "solver_counts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "solver_runs.h"

// Of a cell's and of a region's volume a step, where velocities are of the order of a cell a step.
static const double flow_divergence = 1e-3, flow_net = 2e-6;

const char* solver_kind_name(solver_kind kind) {
    static const char* const names[SOLVER_KIND_COUNT] = {"pressure", "viscosity", "unified",
                                                         "flow"};
    return names[kind];
}

static treacle_status count_pressure(treacle_context* ctx, treacle_context* helper,
                                     const solver_task* task, double* iterations) {
    pressure_case c;
    solver_outcome o;
    solve_params params = solve_params_default();
    params.relative = 1e-6;
    TREACLE_TRY(pressure_case_create(ctx, helper, task->scene, &c));
    double* x = calloc(solver_case_length(&c.map), sizeof(double));
    treacle_status status =
        x == NULL ? TREACLE_ERR_MEMORY : solver_run_pressure(ctx, &c, c.rhs, x, &params, &o);
    if (status == TREACLE_OK) {
        *iterations = o.iterations >= 0 ? (double)o.iterations : (double)INFINITY;
    }
    free(x);
    pressure_case_destroy(&c);
    return status;
}

static treacle_status run_viscosity(treacle_context* ctx, const viscosity_case* c,
                                    double* iterations) {
    solver_outcome o;
    solve_params params = solve_params_default();
    params.relative = 1e-4;
    size_t length = AXES * solver_case_length(&c->map);
    double *x = calloc(2 * length, sizeof(double)), *r = x + length;
    if (x == NULL) {
        return TREACLE_ERR_MEMORY;
    }
    memcpy(r, c->rhs, length * sizeof(double));
    treacle_status status = solver_run_viscosity(ctx, c, r, x, &params, &o);
    if (status == TREACLE_OK) {
        *iterations = o.iterations >= 0 ? (double)o.iterations : (double)INFINITY;
    }
    free(x);
    return status;
}

static treacle_status run_unified(treacle_context* ctx, const viscosity_case* c, bool is_flow,
                                  double* iterations) {
    solver_unified run;
    stokes_params params = stokes_params_default();
    params.divergence = is_flow ? flow_divergence : (double)INFINITY;
    params.net = is_flow ? flow_net : (double)INFINITY;
    TREACLE_TRY(solver_run_unified(ctx, c, &params, &run));
    *iterations = run.stats.is_converged ? (double)run.stats.iterations : (double)INFINITY;
    return TREACLE_OK;
}

static void viscosity_step(viscosity_case* c, double r) {
    float by = (float)(r / c->r);
    for (size_t i = 0; i < solver_case_length(&c->map); ++i) {
        c->cell[i] *= by;
        for (int a = 0; a < AXES; ++a) {
            c->edge[a][i] *= by;
        }
    }
    c->r = r;
}

static treacle_status count_flow(treacle_context* ctx, treacle_context* helper,
                                 const solver_task* task, double* iterations) {
    bool is_split = task->kind == SOLVER_KIND_VISCOSITY, is_flow = task->kind == SOLVER_KIND_FLOW;
    viscosity_case c = {.scene = task->scene,
                        .r = task->r[0],
                        .has_contrast = task->has_contrast,
                        .is_unified = !is_split};
    TREACLE_TRY(viscosity_case_create(ctx, helper, &c));
    treacle_status status = TREACLE_OK;
    for (int i = 0; i < task->count && status == TREACLE_OK; ++i) {
        viscosity_step(&c, task->r[i]);
        status = is_split ? run_viscosity(ctx, &c, iterations + i)
                          : run_unified(ctx, &c, is_flow, iterations + i);
    }
    viscosity_case_destroy(&c);
    return status;
}

treacle_status solver_counts(treacle_context* helper, const solver_task* task, double* iterations) {
    treacle_context* ctx = NULL;
    TREACLE_TRY(solver_context(1, &ctx));
    treacle_status status = task->kind == SOLVER_KIND_PRESSURE
                                ? count_pressure(ctx, helper, task, iterations)
                                : count_flow(ctx, helper, task, iterations);
    treacle_context_destroy(ctx);
    return status;
}
