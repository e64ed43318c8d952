#include "solver_runs.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static double seconds_of(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double solver_cpu_seconds(void) {
    return seconds_of(CLOCK_THREAD_CPUTIME_ID);
}

treacle_status solver_context(int threads, treacle_context** out) {
    treacle_context_def def = treacle_context_def_default();
    def.threads = threads;
    return treacle_context_create(&def, out);
}

pressure_system pressure_system_of(const pressure_case* c) {
    return (pressure_system){.domain = &c->domain,
                             .map = &c->map,
                             .link = {c->link[0], c->link[1], c->link[2]},
                             .extra = c->extra};
}

viscosity_system viscosity_system_of(const viscosity_case* c) {
    return (viscosity_system){.domain = &c->domain,
                              .map = &c->map,
                              .weights = {.cell = c->cell,
                                          .edge = {c->edge[0], c->edge[1], c->edge[2]},
                                          .mass = {c->mass[0], c->mass[1], c->mass[2]},
                                          .fixed = c->fixed}};
}

stokes_system stokes_system_of(const viscosity_case* c) {
    return (stokes_system){.domain = &c->domain,
                           .map = &c->map,
                           .weights = viscosity_system_of(c).weights,
                           .opening = {c->opening[0], c->opening[1], c->opening[2]},
                           .volume = c->volume};
}

// The clocks and the memory at the start of a run.
typedef struct run_start {
    double cpu, wall;
    size_t memory;
} run_start;

static run_start start_run(treacle_context* ctx) {
    return (run_start){solver_cpu_seconds(), seconds_of(CLOCK_MONOTONIC),
                       treacle_context_memory(ctx)};
}

static void end_run(treacle_context* ctx, const run_start* start, const solve_stats* stats,
                    solver_outcome* out) {
    out->seconds = solver_cpu_seconds() - start->cpu;
    out->wall_seconds = seconds_of(CLOCK_MONOTONIC) - start->wall;
    out->bytes = (double)(treacle_context_memory(ctx) - start->memory);
    out->iterations = stats->is_converged ? stats->iterations : -stats->iterations;
    out->unknowns = stats->unknowns;
    memcpy(out->regime, stats->regime, sizeof(out->regime));
}

treacle_status solver_run_pressure(treacle_context* ctx, const pressure_case* c, double* r,
                                   double* x, const solve_params* params, solver_outcome* out) {
    pressure_system system = pressure_system_of(c);
    pressure_solver* solver = NULL;
    solve_stats stats;
    run_start start = start_run(ctx);
    TREACLE_TRY(pressure_solver_create(ctx, &system, &solver));
    out->setup_seconds = solver_cpu_seconds() - start.cpu;
    treacle_status status = pressure_solve(solver, r, x, params, &stats);
    end_run(ctx, &start, &stats, out);
    pressure_solver_destroy(solver);
    return status;
}

treacle_status solver_run_viscosity(treacle_context* ctx, const viscosity_case* c, double* r,
                                    double* x, const solve_params* params, solver_outcome* out) {
    viscosity_system system = viscosity_system_of(c);
    viscosity_solver* solver = NULL;
    solve_stats stats;
    run_start start = start_run(ctx);
    TREACLE_TRY(viscosity_solver_create(ctx, &system, &solver));
    out->setup_seconds = solver_cpu_seconds() - start.cpu;
    treacle_status status = viscosity_solve(solver, r, x, params, &stats);
    end_run(ctx, &start, &stats, out);
    viscosity_solver_destroy(solver);
    return status;
}

treacle_status solver_run_unified(treacle_context* ctx, const viscosity_case* c,
                                  const stokes_params* params, solver_unified* out) {
    size_t cells = solver_case_length(&c->map), faces = AXES * cells;
    double* all = calloc(2 * (faces + cells), sizeof(double));
    stokes_vectors v = {all, all + faces, all + faces + cells, all + 2 * faces + cells};
    stokes_system system = stokes_system_of(c);
    stokes_solver* solver = NULL;
    treacle_status status = TREACLE_ERR_MEMORY;
    if (all != NULL) {
        memcpy(v.f, c->rhs, faces * sizeof(double));
        run_start start = start_run(ctx);
        status = stokes_solver_create(ctx, &system, &solver);
        if (status == TREACLE_OK) {
            status = stokes_solve(solver, &v, params, &out->stats);
        }
        out->seconds = solver_cpu_seconds() - start.cpu;
        out->bytes = (double)(treacle_context_memory(ctx) - start.memory);
    }
    stokes_solver_destroy(solver);
    free(all);
    return status;
}
