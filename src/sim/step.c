// The step: a line a stage.
#include "sim/step.h"

#include "compare/euler_step.h"
#include "sim/ballistic.h"
#include "sim/eulerian.h"
#include "sim/traffic.h"
#include "step/build_tiles.h"
#include "step/correct_density.h"
#include "step/forces.h"
#include "step/move_particles.h"

// Whose stages they are, and when.
typedef struct sim_run {
    treacle_sim* sim;
    const step_span* span;
    traffic traffic;
} sim_run;

// What the caller of the step pushes by.
static treacle_status push_particles(sim_run* s, step_work* w) {
    if (s->sim->push == NULL) {
        return TREACLE_OK;
    }
    sim_push(s->sim, s->span->dt);
    return s->sim->def.flow == TREACLE_FLOW_NONE
               ? TREACLE_OK
               : energy_account_push(&w->f, w->p, &w->made.account);
}

static treacle_status fly(const sim_run* s) {
    const treacle_sim* sim = s->sim;
    ballistic_advect(s->traffic.p, &sim->domain, &sim->gravity, s->span->from, s->span->to);
    return TREACLE_OK;
}

static treacle_status run_ballistic(const stage_run* r, sim_run* s) {
    const traffic* t = &s->traffic;
    STAGE(ADVECT, push_particles(s, r->w));
    STAGE(ADVECT, fly(s));
    STAGE(EMIT, traffic_emit(t, NULL));
    STAGE(EMIT, traffic_absorb(t));
    STAGE(SORT, traffic_sort(t));
    return TREACLE_OK;
}

static treacle_status run_liquid(const stage_run* r, sim_run* s) {
    const traffic* t = &s->traffic;
    step_work* w = r->w;
    step_products* m = &w->made;
    const step_frame* f = &w->f;
    const particle_push push = {.acceleration = s->sim->push};
    STAGE(ENERGY, energy_account_begin(f, w->p, w->bodies, &m->account));
    STAGE(ADVECT, push_particles(s, r->w));
    STAGE(SOLIDS, move_solids(f, w->before, w->bodies, &m->poses));
    STAGE(ADVECT, move_particles(f, w->before, &m->poses, &push, w->p));
    STAGE(ENERGY, energy_account_moved(f, w->p, w->bodies, &m->poses, &m->account));
    STAGE(EMIT, traffic_find_room(&s->traffic, w));
    STAGE(EMIT, traffic_emit(t, m->poses.to));
    STAGE(EMIT, traffic_absorb(t));
    STAGE(SORT, traffic_sort(t));
    STAGE(SORT, traffic_reseed(t));
    STAGE(ENERGY, energy_account_given(f, w->p, &m->account));
    STAGE(TILES, build_tiles(f, w->before, s->sim->ranks.key, w->p, w->state, &m->history));
    STAGE(TO_GRID, step_to_grid(w));
    STAGE(GEOMETRY, step_geometry(w));
    STAGE(FORCES, forces_push(f, &m->given, w->bodies, w->state, &m->account));
    STAGE(HEAT, step_heat(w));
    STAGE(FLOW, step_flow(w));
    STAGE(EXTRAPOLATE, step_extrapolate(w, (face_view){0}));
    STAGE(TO_PARTICLES, step_to_particles(w));
    STAGE(DENSITY, correct_density(f, &m->system, w->state, &m->given, &m->solid, &m->poses, w->p));
    STAGE(ENERGY, energy_account_end(f, w->p, w->bodies, &m->account));
    return TREACLE_OK;
}

// Before the first step: the velocity that liquids begin with, brought to the grid and made free of
// divergence, for the first step's particles to move through. They keep their own and get its
// gradient.
static treacle_status run_first(const stage_run* r, sim_run* s) {
    step_work* w = r->w;
    step_products* m = &w->made;
    const step_frame* f = &w->f;
    STAGE(SOLIDS, move_solids(f, w->before, w->bodies, &m->poses));
    STAGE(TILES, build_tiles(f, w->before, s->sim->ranks.key, w->p, w->state, &m->history));
    STAGE(TO_GRID, step_to_grid(w));
    STAGE(GEOMETRY, step_geometry(w));
    STAGE(FLOW, step_flow(w));
    STAGE(EXTRAPOLATE, step_extrapolate(w, (face_view){0}));
    STAGE(TO_PARTICLES, step_to_particles(w));
    return TREACLE_OK;
}

static treacle_status run_stages(const stage_run* r, sim_run* s) {
    const sim_plan* plan = &s->sim->plan;
    bool is_first = s->span->is_first;
    if (plan->flow == TREACLE_FLOW_NONE) {
        return run_ballistic(r, s);
    }
    if (plan->is_eulerian) {
        euler_work e = eulerian_work(s->sim, r->w);
        return is_first ? euler_first_step(r, &e) : euler_step(r, &e);
    }
    return is_first ? run_first(r, s) : run_liquid(r, s);
}

static step_gravity gravity_in(const treacle_curve* curve, double from, double dt) {
    step_gravity out;
    curve_integral(curve, from, from + dt, out.mean);
    curve_way(curve, from, from + dt, out.way);
    for (int a = 0; a < AXES; ++a) {
        out.mean[a] /= dt;
    }
    return out;
}

static step_work work_of(treacle_sim* sim, const step_span* span, treacle_step_stats* stats) {
    return (step_work){
        .f = {.ctx = sim->ctx,
              .scratch = &sim->scratch,
              .setup = &sim->setup,
              .stats = stats,
              .time = span->from,
              .dt = span->dt,
              .is_first = span->is_first,
              .is_thin = span->is_thin,
              .is_stiff_surface = span->is_stiff_surface,
              .gravity = gravity_in(&sim->gravity, span->from, span->dt)},
        .p = &sim->next.particles,
        .before = &sim->now.liquid,
        .state = &sim->next.liquid,
        .bodies = sim->next.bodies,
        .cache = &sim->solid_cache,
        .has_warned = &sim->has_warned.of_closed,
    };
}

// The particles of `now` for a step to work on. What is not written before the sort, which puts all
// columns into other places anyway, need not be copied for it.
static treacle_status begin_particles(const treacle_sim* sim, const step_span* span, particles* p) {
    const particles* now = &sim->now.particles;
    bool is_sorted = !span->is_first && !sim->plan.is_eulerian;
    if (!is_sorted || (now->owners != NULL && now->owners->is_distributed)) {
        return particles_copy(p, now);
    }
    TREACLE_TRY(particles_borrow(p, now));
    return particles_own(p, 1u << PARTICLE_POSITION | 1u << PARTICLE_VELOCITY);
}

treacle_status step_run(treacle_sim* sim, const step_span* span, profile* timers,
                        treacle_step_stats* stats) {
    TREACLE_ASSERT(span->dt > 0.0 && isfinite(span->dt));
    TREACLE_ASSERT(span->is_first || span->from < span->to);
    TREACLE_ASSERT(arena_mark(&sim->scratch) == 0);
    particles* p = &sim->next.particles;
    grid_domain_move_sides(&sim->domain, (const treacle_curve(*)[2])sim->setup.side_velocity,
                           span->is_first ? sim->now.time : span->to);
    step_work w = work_of(sim, span, stats);
    const stage_run r = {&w, timers, sim->plan.stages};
    sim_run s = {
        sim, span, {.sim = sim, .from = span->from, .to = span->to, .p = p, .stats = stats}};
    liquid_state_destroy(&sim->next.liquid);
    sim_copy_bodies(sim);
    treacle_status status = begin_particles(sim, span, p);
    if (status == TREACLE_OK) {
        status = run_stages(&r, &s);
    }
    step_work_finish(&w);
    arena_give_to(&sim->scratch, 0);
    TREACLE_TRY(status);
    return arena_end_step(&sim->scratch);
}
