// The step: a line a stage.
#include "sim/step.h"

#include "particles/particle_ranks.h"
#include "sim/ballistic.h"
#include "sim/traffic.h"
#include "step/build_tiles.h"
#include "step/conduct_heat.h"
#include "step/correct_density.h"
#include "step/forces.h"
#include "step/move_particles.h"
#include "step/move_solids.h"

// What the stages of one step share.
typedef struct step_work {
    treacle_sim* sim;
    const step_span* span;
    particles* p; // of the new state
    profile* timers;
    traffic traffic;
    liquid_work liquid;
    euler_work euler;
} step_work;

// Rows around one's own are good from the stage that brings them to the one that changes them.
static void poison(const step_work* w, treacle_stage stage) {
    const tile_map* map = &w->sim->next.liquid.map;
    bool has_halo = stage >= TREACLE_STAGE_TO_GRID && stage < TREACLE_STAGE_TO_PARTICLES;
    particle_ranks_poison(&w->sim->domain, has_halo ? map : NULL, w->p);
}

static treacle_status end_stage(const step_work* w, treacle_stage stage, treacle_status status) {
    profile_end(w->timers);
    poison(w, stage);
    return status;
}

// Runs a stage, timed under a name.
#define STAGE(name, call)                                                                          \
    do {                                                                                           \
        profile_begin(w->timers, (int)TREACLE_STAGE_##name);                                       \
        TREACLE_TRY(end_stage(w, TREACLE_STAGE_##name, call));                                     \
    } while (0)

// What the caller of the step pushes by.
static treacle_status push_particles(step_work* w, const step_frame* f) {
    if (w->sim->push == NULL) {
        return TREACLE_OK;
    }
    sim_push(w->sim, w->span->dt);
    return f == NULL ? TREACLE_OK : energy_account_push(f, w->p, &w->liquid.account);
}

static treacle_status fly(step_work* w) {
    ballistic_advect(w->p, &w->sim->domain, &w->sim->gravity, w->span->from, w->span->to);
    return TREACLE_OK;
}

static treacle_status run_ballistic(step_work* w) {
    STAGE(ADVECT, push_particles(w, NULL));
    STAGE(ADVECT, fly(w));
    STAGE(EMIT, traffic_emit(&w->traffic, NULL));
    STAGE(EMIT, traffic_absorb(&w->traffic));
    STAGE(SORT, traffic_sort(&w->traffic));
    return TREACLE_OK;
}

static treacle_status make_tiles(const step_work* w, const step_frame* f, liquid_work* l) {
    TREACLE_TRY(build_tiles(f, l->before, w->sim->rank_key, w->p, l->state, &l->history));
    l->values = tile_map_values(&l->state->map);
    return TREACLE_OK;
}

// Heat changes what viscosity follows from.
static treacle_status warm(const step_frame* f, liquid_work* l) {
    TREACLE_TRY(conduct_heat(f, &l->given, &l->solid, l->state, l->p));
    return liquid_has_heat(f->setup) ? liquid_find_viscosity(l) : TREACLE_OK;
}

static treacle_status run_liquid(step_work* w) {
    liquid_work* l = &w->liquid;
    const step_frame frame = liquid_frame(l), *f = &frame;
    const particle_push push = {.acceleration = w->sim->push};
    STAGE(ENERGY, energy_account_begin(f, w->p, l->bodies, &l->account));
    STAGE(ADVECT, push_particles(w, f));
    STAGE(SOLIDS, move_solids(f, l->before, l->bodies, &l->poses));
    STAGE(ADVECT, move_particles(f, l->before, &l->poses, &push, w->p));
    STAGE(ENERGY, energy_account_moved(f, w->p, l->bodies, &l->poses, &l->account));
    STAGE(EMIT, traffic_emit(&w->traffic, l->poses.to));
    STAGE(EMIT, traffic_absorb(&w->traffic));
    STAGE(SORT, traffic_sort(&w->traffic));
    STAGE(SORT, traffic_reseed(&w->traffic));
    STAGE(ENERGY, energy_account_given(f, w->p, &l->account));
    STAGE(TILES, make_tiles(w, f, l));
    STAGE(TO_GRID, liquid_to_grid(l));
    STAGE(GEOMETRY, liquid_geometry(l));
    STAGE(FORCES, forces_push(f, &l->given, l->bodies, l->state, &l->account));
    STAGE(HEAT, warm(f, l));
    STAGE(FLOW, liquid_flow(l));
    STAGE(EXTRAPOLATE, liquid_extrapolate(l));
    STAGE(TO_PARTICLES, liquid_to_particles(l));
    STAGE(DENSITY,
          correct_density(f, &l->projection, l->state, &l->given, &l->solid, &l->poses, w->p));
    STAGE(ENERGY, energy_account_end(f, w->p, l->bodies, &l->account));
    return TREACLE_OK;
}

// Before the first step: the velocity that liquids begin with, brought to the grid and made free of
// divergence, for the first step's particles to move through. They keep their own and get its
// gradient.
static treacle_status run_first(step_work* w) {
    liquid_work* l = &w->liquid;
    const step_frame frame = liquid_frame(l), *f = &frame;
    STAGE(SOLIDS, move_solids(f, l->before, l->bodies, &l->poses));
    STAGE(TILES, make_tiles(w, f, l));
    STAGE(TO_GRID, liquid_to_grid(l));
    STAGE(GEOMETRY, liquid_geometry(l));
    STAGE(FLOW, liquid_flow(l));
    STAGE(EXTRAPOLATE, liquid_extrapolate(l));
    STAGE(TO_PARTICLES, liquid_to_particles(l));
    return TREACLE_OK;
}

// Where the grid carries the liquid.
static treacle_status run_euler(step_work* w) {
    liquid_work* l = &w->liquid;
    const step_frame frame = liquid_frame(l), *f = &frame;
    STAGE(ENERGY, energy_account_begin(f, w->p, l->bodies, &l->account));
    STAGE(SOLIDS, move_solids(f, l->before, l->bodies, &l->poses));
    STAGE(ENERGY, energy_account_moved(f, w->p, l->bodies, &l->poses, &l->account));
    STAGE(ADVECT, euler_track(l));
    STAGE(EMIT, euler_emit(l));
    STAGE(TILES, euler_build_tiles(l));
    STAGE(TO_GRID, euler_carry(l));
    STAGE(GEOMETRY, liquid_geometry(l));
    STAGE(FORCES, euler_push(l));
    STAGE(HEAT, warm(f, l));
    STAGE(FLOW, liquid_flow(l));
    STAGE(TO_PARTICLES, euler_strain_step(l));
    STAGE(EXTRAPOLATE, liquid_extrapolate(l));
    STAGE(TO_PARTICLES, euler_settle(l));
    energy_account_end_on_grid(f, l->bodies, &l->account);
    return TREACLE_OK;
}

static treacle_status run_first_euler(step_work* w) {
    liquid_work* l = &w->liquid;
    const step_frame frame = liquid_frame(l), *f = &frame;
    STAGE(SOLIDS, move_solids(f, l->before, l->bodies, &l->poses));
    STAGE(ADVECT, euler_track(l));
    STAGE(TILES, euler_build_tiles(l));
    STAGE(TO_GRID, euler_carry(l));
    STAGE(GEOMETRY, liquid_geometry(l));
    STAGE(FLOW, liquid_flow(l));
    STAGE(EXTRAPOLATE, liquid_extrapolate(l));
    STAGE(TO_PARTICLES, euler_settle(l));
    return TREACLE_OK;
}

// What of the simulation the stages of liquid ask for.
static liquid_work liquid_of(step_work* w) {
    treacle_sim* sim = w->sim;
    double from = w->span->from, dt = w->span->dt;
    liquid_work out = {
        .ctx = sim->ctx,
        .setup = &sim->setup,
        .scratch = &sim->scratch,
        .p = w->p,
        .before = &sim->now.liquid,
        .state = &sim->next.liquid,
        .bodies = sim->next.bodies,
        .time = from,
        .dt = dt,
        .stats = w->traffic.stats,
        .solid_cache = &sim->solid_cache,
        .is_first = w->span->is_first,
        .has_warned = &sim->has_warned_closed,
    };
    if (euler_is_on(&sim->def)) {
        w->euler = sim_euler_work(sim);
        out.euler = &w->euler;
    }
    curve_integral(&sim->gravity, from, from + dt, out.gravity);
    curve_way(&sim->gravity, from, from + dt, out.fall);
    for (int a = 0; a < AXES; ++a) {
        out.gravity[a] /= dt;
    }
    return out;
}

static treacle_status run_all(step_work* w) {
    const treacle_sim_def* def = &w->sim->def;
    if (def->flow == TREACLE_FLOW_NONE) {
        return run_ballistic(w);
    }
    if (euler_is_on(def)) {
        return w->span->is_first ? run_first_euler(w) : run_euler(w);
    }
    return w->span->is_first ? run_first(w) : run_liquid(w);
}

treacle_status step_run(treacle_sim* sim, const step_span* span, profile* timers,
                        treacle_step_stats* stats) {
    particles* p = &sim->next.particles;
    step_work w = {.sim = sim,
                   .span = span,
                   .p = p,
                   .timers = timers,
                   .traffic = {sim, span->from, span->to, p, stats}};
    w.liquid = liquid_of(&w);
    liquid_state_destroy(&sim->next.liquid);
    sim_copy_bodies(sim);
    treacle_status status = particles_copy(p, &sim->now.particles);
    if (status == TREACLE_OK) {
        status = run_all(&w);
    }
    liquid_work_finish(&w.liquid);
    arena_give_to(&sim->scratch, 0);
    TREACLE_TRY(status);
    return arena_end_step(&sim->scratch);
}
