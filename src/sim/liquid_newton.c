// Newton's method for a flow whose viscosity depends on what comes out of it [rheo.7].
#include "grid/tile_ranks.h"
#include "sim/rheology_loop.h"

// A solve may end at this share of the error that it began with: the next pass changes the law
// anyway. A tenth of it takes 15 % more passes than an exact solve and three quarters of the
// iterations.
static const double enough = 0.1;

// The law about what the last pass has found.
static treacle_status look_again(liquid_work* w, const rheology_loop* loop) {
    rheology_params params = rheology_loop_params(w, loop, loop->before.at);
    float* const* u = w->state->face_u.at;
    tile_copy(&w->state->map, loop->rate_before, loop->rate, TILE_CELLS * sizeof(float));
    rheology_along(&params, (const float* const[AXES]){u[0], u[1], u[2]}, loop->along);
    rheology_loop_copy(w, u, loop->before.at);
    rheology_loop_copy(w, loop->start.at, u);
    rheology_rate(&params, loop->rate);
    rheology_loop_evaluate(w, loop, 1.0);
    return liquid_spread_viscosity(w);
}

// Once little changes the solve has to be exact, too.
static double drop_of(const liquid_work* w) {
    const treacle_rheology_stats* so_far = &w->stats->rheology;
    bool is_last =
        so_far->iterations > 0 && so_far->change <= w->setup->def->viscosity_solve.tolerance;
    return is_last || w->is_first ? 0.0 : enough;
}

static treacle_status passes(liquid_work* w, unified_solver* solver, double* cell_x,
                             stokes_stats* stats) {
    const rheology_loop* loop = w->rheology;
    float* const* u = w->state->face_u.at;
    unified_pass pass = {.about = loop->before,
                         .rate = rheology_loop_params(w, loop, loop->before.at),
                         .cell_rate = loop->rate,
                         .cell_slope = loop->slope};
    int iterations = 0;
    double seconds = 0.0;
    rheology_loop_copy(w, u, loop->start.at);
    for (bool is_over = false; !is_over;) {
        pass.drop = drop_of(w);
        TREACLE_TRY(unified_solve(solver, &pass, u, cell_x, stats));
        iterations += stats->iterations;
        seconds += stats->seconds;
        rheology_loop_count(w, loop, stats->is_converged && !stats->is_rough);
        is_over = rheology_loop_is_over(w) || stats->is_broken;
        if (!is_over) {
            TREACLE_TRY(look_again(w, loop));
            TREACLE_TRY(unified_reweigh(solver, u));
        }
    }
    stats->iterations = iterations;
    stats->seconds = seconds;
    return TREACLE_OK;
}

treacle_status liquid_newton(liquid_work* w, const unified_params* params, double* cell_x,
                             stokes_stats* stats) {
    unified_solver* solver = NULL;
    TREACLE_TRY(unified_create(params, w->state->face_u.at, &w->account.part, &solver));
    treacle_status status = passes(w, solver, cell_x, stats);
    unified_destroy(solver);
    return status;
}
