// The step: a line a stage.
#include "sim/step.h"

#include "particles/particle_ranks.h"
#include "sim/ballistic.h"
#include "sim/traffic.h"
#include "step/build_tiles.h"
#include "step/correct_density.h"
#include "step/forces.h"
#include "step/move_particles.h"
#include "step/move_solids.h"

// Whose stages they are, and under which they are timed.
typedef struct stage_run {
    treacle_sim* sim;
    const step_span* span;
    profile* timers;
    traffic traffic;
    step_work work;
} stage_run;

// Rows around one's own are good from the stage that brings them to the one that changes them.
static void poison(const stage_run* r, treacle_stage stage) {
    const tile_map* map = &r->sim->next.liquid.map;
    bool has_halo = stage >= TREACLE_STAGE_TO_GRID && stage < TREACLE_STAGE_TO_PARTICLES;
    particle_ranks_poison(&r->sim->domain, has_halo ? map : NULL, r->traffic.p);
}

static treacle_status end_stage(const stage_run* r, treacle_stage stage, treacle_status status) {
    profile_end(r->timers);
    poison(r, stage);
    return status;
}

// Runs a stage, timed under a name.
#define STAGE(name, call)                                                                          \
    do {                                                                                           \
        profile_begin(r->timers, (int)TREACLE_STAGE_##name);                                       \
        TREACLE_TRY(end_stage(r, TREACLE_STAGE_##name, call));                                     \
    } while (0)

// What the caller of the step pushes by.
static treacle_status push_particles(stage_run* r) {
    step_work* w = &r->work;
    if (r->sim->push == NULL) {
        return TREACLE_OK;
    }
    sim_push(r->sim, r->span->dt);
    return r->sim->def.flow == TREACLE_FLOW_NONE
               ? TREACLE_OK
               : energy_account_push(&w->f, w->p, &w->made.account);
}

static treacle_status fly(const stage_run* r) {
    const treacle_sim* sim = r->sim;
    ballistic_advect(r->traffic.p, &sim->domain, &sim->gravity, r->span->from, r->span->to);
    return TREACLE_OK;
}

static treacle_status run_ballistic(stage_run* r) {
    const traffic* t = &r->traffic;
    STAGE(ADVECT, push_particles(r));
    STAGE(ADVECT, fly(r));
    STAGE(EMIT, traffic_emit(t, NULL));
    STAGE(EMIT, traffic_absorb(t));
    STAGE(SORT, traffic_sort(t));
    return TREACLE_OK;
}

static treacle_status run_liquid(stage_run* r) {
    const traffic* t = &r->traffic;
    step_work* w = &r->work;
    step_products* m = &w->made;
    const step_frame* f = &w->f;
    const particle_push push = {.acceleration = r->sim->push};
    STAGE(ENERGY, energy_account_begin(f, w->p, w->bodies, &m->account));
    STAGE(ADVECT, push_particles(r));
    STAGE(SOLIDS, move_solids(f, w->before, w->bodies, &m->poses));
    STAGE(ADVECT, move_particles(f, w->before, &m->poses, &push, w->p));
    STAGE(ENERGY, energy_account_moved(f, w->p, w->bodies, &m->poses, &m->account));
    STAGE(EMIT, traffic_find_room(&r->traffic, w));
    STAGE(EMIT, traffic_emit(t, m->poses.to));
    STAGE(EMIT, traffic_absorb(t));
    STAGE(SORT, traffic_sort(t));
    STAGE(SORT, traffic_reseed(t));
    STAGE(ENERGY, energy_account_given(f, w->p, &m->account));
    STAGE(TILES, build_tiles(f, w->before, r->sim->rank_key, w->p, w->state, &m->history));
    STAGE(TO_GRID, step_to_grid(w));
    STAGE(GEOMETRY, step_geometry(w));
    STAGE(FORCES, forces_push(f, &m->given, w->bodies, w->state, &m->account));
    STAGE(HEAT, step_heat(w));
    STAGE(FLOW, step_flow(w));
    STAGE(EXTRAPOLATE, step_extrapolate(w, (face_view){0}));
    STAGE(TO_PARTICLES, step_to_particles(w));
    STAGE(DENSITY, correct_density(f, &m->system.projection, w->state, &m->given, &m->solid,
                                   &m->poses, w->p));
    STAGE(ENERGY, energy_account_end(f, w->p, w->bodies, &m->account));
    return TREACLE_OK;
}

// Before the first step: the velocity that liquids begin with, brought to the grid and made free of
// divergence, for the first step's particles to move through. They keep their own and get its
// gradient.
static treacle_status run_first(stage_run* r) {
    step_work* w = &r->work;
    step_products* m = &w->made;
    const step_frame* f = &w->f;
    STAGE(SOLIDS, move_solids(f, w->before, w->bodies, &m->poses));
    STAGE(TILES, build_tiles(f, w->before, r->sim->rank_key, w->p, w->state, &m->history));
    STAGE(TO_GRID, step_to_grid(w));
    STAGE(GEOMETRY, step_geometry(w));
    STAGE(FLOW, step_flow(w));
    STAGE(EXTRAPOLATE, step_extrapolate(w, (face_view){0}));
    STAGE(TO_PARTICLES, step_to_particles(w));
    return TREACLE_OK;
}

// Where the grid carries the liquid.
static treacle_status run_euler(stage_run* r) {
    step_work* w = &r->work;
    step_products* m = &w->made;
    const step_frame* f = &w->f;
    STAGE(ENERGY, energy_account_begin(f, w->p, w->bodies, &m->account));
    STAGE(SOLIDS, move_solids(f, w->before, w->bodies, &m->poses));
    STAGE(ENERGY, energy_account_moved(f, w->p, w->bodies, &m->poses, &m->account));
    STAGE(ADVECT, euler_track(w));
    STAGE(EMIT, traffic_find_room(&r->traffic, w));
    STAGE(EMIT, euler_emit(w));
    STAGE(TILES, euler_build_tiles(w));
    STAGE(TO_GRID, euler_carry(w));
    STAGE(GEOMETRY, euler_geometry(w));
    STAGE(FORCES, euler_push(w));
    STAGE(HEAT, step_heat(w));
    STAGE(FLOW, step_flow(w));
    STAGE(TO_PARTICLES, euler_strain_step(w));
    STAGE(EXTRAPOLATE, euler_extrapolate(w));
    STAGE(TO_PARTICLES, euler_settle(w));
    STAGE(ENERGY, energy_account_end_on_grid(f, w->bodies, &m->account));
    return TREACLE_OK;
}

static treacle_status run_first_euler(stage_run* r) {
    step_work* w = &r->work;
    STAGE(SOLIDS, move_solids(&w->f, w->before, w->bodies, &w->made.poses));
    STAGE(ADVECT, euler_track(w));
    STAGE(TILES, euler_build_tiles(w));
    STAGE(TO_GRID, euler_carry(w));
    STAGE(GEOMETRY, euler_geometry(w));
    STAGE(FLOW, step_flow(w));
    STAGE(EXTRAPOLATE, euler_extrapolate(w));
    STAGE(TO_PARTICLES, euler_settle(w));
    return TREACLE_OK;
}

static treacle_status run_stages(stage_run* r) {
    const treacle_sim_def* def = &r->sim->def;
    if (def->flow == TREACLE_FLOW_NONE) {
        return run_ballistic(r);
    }
    if (r->work.euler != NULL) {
        return r->span->is_first ? run_first_euler(r) : run_euler(r);
    }
    return r->span->is_first ? run_first(r) : run_liquid(r);
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
              .gravity = gravity_in(&sim->gravity, span->from, span->dt)},
        .p = &sim->next.particles,
        .before = &sim->now.liquid,
        .state = &sim->next.liquid,
        .bodies = sim->next.bodies,
        .cache = &sim->solid_cache,
        .has_warned = &sim->has_warned.of_closed,
    };
}

treacle_status step_run(treacle_sim* sim, const step_span* span, profile* timers,
                        treacle_step_stats* stats) {
    particles* p = &sim->next.particles;
    stage_run r = {
        .sim = sim,
        .span = span,
        .timers = timers,
        .traffic = {.sim = sim, .from = span->from, .to = span->to, .p = p, .stats = stats},
        .work = work_of(sim, span, stats)};
    euler_work euler;
    if (sim->plan.is_eulerian) {
        euler = sim_euler_work(sim);
        r.work.euler = &euler;
    }
    liquid_state_destroy(&sim->next.liquid);
    sim_copy_bodies(sim);
    treacle_status status = particles_copy(p, &sim->now.particles);
    if (status == TREACLE_OK) {
        status = run_stages(&r);
    }
    step_work_finish(&r.work);
    arena_give_to(&sim->scratch, 0);
    TREACLE_TRY(status);
    return arena_end_step(&sim->scratch);
}
