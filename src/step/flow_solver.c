#include "step/flow_solver.h"

#include <math.h>
#include <stdio.h>

#include "base/check.h"
#include "phys/viscosity.h"
#include "step/flow_system.h"
#include "step/flow_yield.h"
#include "step/solve_report.h"

// The energy norm of a unified flow's error over the pressure's tolerance.
static const double energy_factor = 5.0;

static bool is_newton(const flow_rheology* loop) {
    return loop->kind == FLOW_RHEOLOGY_NEWTON;
}

void flow_solver_begin(const flow_inputs* in, flow_solver* solver) {
    *solver = (flow_solver){.mark = arena_mark(in->frame.scratch)};
}

void flow_solver_finish(flow_solver* solver) {
    unified_destroy(solver->unified);
    solver->unified = NULL;
}

// --- pressure and viscosity ----------------------------------------------------------------------

static treacle_status guess_velocity(const flow_inputs* in, const flow_outputs* out,
                                     face_view* guess) {
    face_field u;
    if (!flow_has_past(in)) {
        return TREACLE_OK;
    }
    TREACLE_TRY(flow_take_faces(in, "velocity of the last step", &u));
    flow_remap_velocity(in, out->u, u);
    *guess = face_view_of(u);
    return TREACLE_OK;
}

// A loop around the solve that goes on from where it ended cannot be more exact than it; but
// rounding ends what a solve can do.
static double energy_target(const flow_inputs* in, const flow_rheology* loop) {
    double target = energy_factor * in->frame.setup->def->pressure.tolerance;
    double exact = fmax(0.5 * in->frame.setup->def->viscosity_solve.tolerance, 0.01 * target);
    return is_newton(loop) ? fmin(target, exact) : target;
}

// What says where the liquid is about to land.
static landing_params describe_landing(const flow_inputs* in, const flow_outputs* out,
                                       const unified_params* flow, const face_view* last) {
    return (landing_params){.domain = in->wet.domain,
                            .map = in->wet.map,
                            .cell_fraction = flow->liquid.cell_fraction,
                            .cell_open = in->wet.solid->open,
                            .face_box = flow->face_box,
                            .face_open = flow->liquid.face_open,
                            .face_u = last->at[0] != NULL ? *last : face_view_of(out->u),
                            .cell_impulse = out->x,
                            .dt = in->frame.dt,
                            .contacts = out->contacts};
}

static treacle_status set_unified(const flow_inputs* in, const flow_outputs* out,
                                  const flow_rheology* loop, flow_solver* solver) {
    bool is_again = is_newton(loop) && in->frame.stats->rheology.iterations > 0;
    if (is_again) {
        viscosity_grid viscosity = flow_viscosity(in, out->material->log_mu);
        TREACLE_TRY(viscosity_spread(&viscosity));
        return unified_reweigh(solver->unified, out->u.at);
    }
    const double* g = in->frame.gravity.mean;
    flow_solver_finish(solver);
    arena_give_to(in->frame.scratch, solver->mark);
    solver->params =
        (unified_params){.push = sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]) * in->frame.dt,
                         .tolerance = energy_target(in, loop),
                         .max_iterations = in->frame.setup->def->pressure.max_iterations,
                         .pushed = in->pushed,
                         .tension = solver->tension,
                         .cell_firm = in->frame.is_first ? NULL : in->given->firm,
                         .cell_swell = out->elastic->log_mu != NULL ? in->given->swell : NULL,
                         .cell_source = in->given->source};
    TREACLE_TRY(flow_describe(in, out, out->liquid, &solver->params.liquid));
    solver->params.face_box = face_view_of(out->liquid->fraction.face);
    face_view last = {0};
    TREACLE_TRY(guess_velocity(in, out, &last));
    const liquid_features* has = &in->frame.setup->has;
    solver->landing = describe_landing(in, out, &solver->params, &last);
    solver->params.landing = has->rheology || has->elastic ? NULL : &solver->landing;
    if (is_newton(loop)) { // goes on from what the last pass has found
        flow_rheology_keep_start(in, out, loop);
    } else {
        solver->params.guess_u = last;
    }
    return unified_create(&solver->params, out->u.at, out->energy, &solver->unified);
}

static treacle_status flow_solver_fail(const flow_inputs* in, const treacle_solve_stats* flow) {
    return check_fail(in->frame.ctx, TREACLE_ERR_DIVERGED,
                      "the solve of pressure and viscosity stopped at a relative error of %g "
                      "after %d iterations",
                      flow->residual, flow->iterations);
}

static treacle_status run_unified(const flow_inputs* in, const flow_outputs* out,
                                  const flow_rheology* loop, flow_solver* solver) {
    stokes_stats solve;
    unified_pass pass = {0};
    if (is_newton(loop)) {
        pass = flow_rheology_pass(in, loop);
    }
    TREACLE_TRY(
        unified_solve(solver->unified, is_newton(loop) ? &pass : NULL, out->u.at, out->x, &solve));
    treacle_solve_stats* flow = &in->frame.stats->flow;
    *flow = (treacle_solve_stats){.iterations = flow->iterations + solve.iterations,
                                  .residual = solve.energy,
                                  .seconds = flow->seconds + solve.seconds,
                                  .converged = solve.is_converged};
    snprintf(flow->regime, sizeof(flow->regime), "%s", solve.regime);
    solver->is_exact = solve.is_converged && !solve.is_rough;
    bool is_near = solve.is_converged || solve.energy < UNIFIED_ENERGY_MAX;
    solver->is_lost = is_newton(loop) && !loop->is_plain && (solve.is_broken || !is_near);
    if (solve.is_broken && !solver->is_lost) {
        return flow_solver_fail(in, flow);
    }
    return is_newton(loop) ? TREACLE_OK : flow_solver_judge(in);
}

treacle_status flow_solver_judge(const flow_inputs* in) {
    const treacle_solve_stats* flow = &in->frame.stats->flow;
    bool is_near = flow->converged || flow->residual < UNIFIED_ENERGY_MAX;
    return in->is_unified && !is_near ? flow_solver_fail(in, flow) : TREACLE_OK;
}

// --- viscosity alone [BB08] ----------------------------------------------------------------------

// Without tents: a face has the fraction of its box as its mass.
static treacle_status take_fractions(const flow_inputs* in, fraction_fields* out) {
    float** const fields[] = {&out->cell,       &out->edge.at[0], &out->edge.at[1],
                              &out->edge.at[2], &out->face.at[0], &out->face.at[1],
                              &out->face.at[2]};
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); ++i) {
        TREACLE_TRY(arena_take_zero(in->frame.scratch, flow_values(in), sizeof(float),
                                    "fractions of liquid", (void**)fields[i]));
    }
    return TREACLE_OK;
}

static treacle_status set_viscosity(const flow_inputs* in, const flow_outputs* out,
                                    flow_solver* solver) {
    arena_give_to(in->frame.scratch, solver->mark);
    solver->liquid = (liquid_grid){0};
    TREACLE_TRY(take_fractions(in, &solver->liquid.fraction));
    TREACLE_TRY(flow_describe(in, out, &solver->liquid, &solver->params.liquid));
    TREACLE_TRY(flow_extend_velocity(in, flow_yield_viscosity(out), out->u));
    const other_methods* other = &in->frame.setup->other;
    return other->cut == NULL ? TREACLE_OK
                              : other->cut(in, out, &solver->liquid, &solver->params.liquid);
}

static treacle_status run_viscosity(const flow_inputs* in, const flow_outputs* out,
                                    const stress_params* liquid) {
    const other_methods* other = &in->frame.setup->other;
    solve_stats stats;
    viscosity_params params = {
        .liquid = *liquid,
        .solve = {.norm = SOLVE_NORM_2,
                  .relative = in->frame.setup->def->pressure.tolerance,
                  .max_iterations = in->frame.setup->def->pressure.max_iterations},
        .pushed = in->pushed};
    TREACLE_TRY(other->viscosity_step == NULL
                    ? viscosity_apply(&params, out->u.at, &stats, out->energy)
                    : other->viscosity_step(in, out, &params, &stats));
    return solve_report(&in->frame, &stats, "viscosity", &in->frame.stats->viscosity);
}

// --- either --------------------------------------------------------------------------------------

treacle_status flow_solver_set(const flow_inputs* in, const flow_outputs* out,
                               const flow_rheology* loop, flow_solver* solver) {
    TREACLE_ASSERT(solver->mark >= 0 && solver->mark <= arena_mark(in->frame.scratch));
    TREACLE_ASSERT(!in->is_unified || out->x != NULL);
    return in->is_unified ? set_unified(in, out, loop, solver) : set_viscosity(in, out, solver);
}

treacle_status flow_solver_run(const flow_inputs* in, const flow_outputs* out,
                               const flow_rheology* loop, flow_solver* solver) {
    TREACLE_ASSERT(!in->is_unified || solver->unified != NULL);
    TREACLE_ASSERT(solver->params.liquid.map == in->wet.map);
    return in->is_unified ? run_unified(in, out, loop, solver)
                          : run_viscosity(in, out, &solver->params.liquid);
}
