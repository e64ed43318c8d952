// One step, as a transaction: the stages work on `next`, a copy of the state, and only when all of
// them went well is it swapped with `now`. So a step that fails can be begun again, or given up.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/comm.h"
#include "base/profile.h"
#include "particles/particle_ranks.h"
#include "particles/reseed.h"
#include "sim/ballistic.h"
#include "sim/guard.h"
#include "sim/heat_setup.h"
#include "step/build_tiles.h"
#include "step/conduct_heat.h"
#include "step/correct_density.h"
#include "step/forces.h"
#include "step/move_particles.h"
#include "step/move_solids.h"

// What the stages of one step share.
typedef struct step_work {
    treacle_sim* sim;
    particles* p; // of the new state
    double from, to, dt;
    treacle_step_stats* stats;
    liquid_work liquid;
    euler_work euler;
} step_work;

static treacle_status fly(step_work* w) {
    ballistic_advect(w->p, &w->sim->domain, &w->sim->gravity, w->from, w->to);
    return TREACLE_OK;
}

// What the caller of the step pushes by.
static treacle_status pushed(step_work* w) {
    if (w->sim->push == NULL) {
        return TREACLE_OK;
    }
    step_frame f = liquid_frame(&w->liquid);
    sim_push(w->sim, w->dt);
    return w->sim->def.flow == TREACLE_FLOW_NONE
               ? TREACLE_OK
               : energy_account_push(&f, w->p, &w->liquid.account);
}

static bool is_in_solid(const void* data, vec3 x) {
    double distance;
    solid_nearest(data, x, &distance);
    return distance < 0.0;
}

static treacle_status drop(step_work* w) {
    const treacle_sim* sim = w->sim;
    bool has_solids = w->liquid.poses.to != NULL;
    solid_scene solids = {0};
    if (has_solids) {
        solids = solid_scene_of(&sim->setup.solids, w->liquid.poses.to);
    }
    seed_def seeding = {.domain = &sim->domain,
                        .seed = sim->def.seed,
                        .particles = sim->def.particles,
                        .is_blocked = has_solids ? is_in_solid : NULL,
                        .blocked_data = &solids};
    for (int i = 0; i < sim->drop_count; ++i) {
        int64_t count = 0;
        TREACLE_TRY(drop_list_emit(&sim->drops[i], w->from, w->to, &seeding, w->p, &count));
        w->stats->emitted += count;
    }
    return TREACLE_OK;
}

static treacle_status emit(step_work* w) {
    particle_ix first = w->p->count;
    bool flies = w->sim->def.flow == TREACLE_FLOW_NONE; // else it moves as the emitter says
    const treacle_curve* gravity = flies ? &w->sim->gravity : NULL;
    for (int i = 0; i < w->sim->emitter_count; ++i) {
        int64_t count = 0;
        TREACLE_TRY(emitter_emit(&w->sim->emitters[i], w->from, w->to, gravity, w->p, &count));
        w->stats->emitted += count;
    }
    TREACLE_TRY(drop(w));
    heat_begin(&w->sim->setup.heat, w->p, first);
    return TREACLE_OK;
}

static treacle_status absorb(step_work* w) {
    for (int i = 0; i < w->sim->sink_count; ++i) {
        int64_t count = 0;
        TREACLE_TRY(sink_absorb(&w->sim->sinks[i], w->to, w->p, &w->sim->scratch, &count));
        w->stats->absorbed += count;
    }
    return TREACLE_OK;
}

static treacle_status sort(step_work* w) {
    particle_sorter sorter = {&w->sim->domain, &w->sim->scratch, &w->sim->spares};
    particle_sort_stats stats;
    TREACLE_TRY(particle_sort(w->p, &sorter, &stats));
    w->stats->absorbed += stats.removed;
    return TREACLE_OK;
}

// Crowded cells merge particles, grown particles split; then they are out of order again.
static treacle_status reseed(step_work* w) {
    treacle_sim* sim = w->sim;
    if (!sim->def.reseed) {
        return TREACLE_OK;
    }
    reseed_params params = {
        .domain = &sim->domain,
        .scratch = &sim->scratch,
        .seed = sim->def.seed,
        .per_cell = sim->def.particles.per_cell,
        .source = (uint64_t)SIM_SOURCE_RESEED(&sim->def),
        .births = sim->now.reseed_births,
    };
    reseed_stats stats;
    TREACLE_TRY(reseed_particles(w->p, &params, &stats));
    sim->next.reseed_births = sim->now.reseed_births + (uint64_t)stats.split;
    w->stats->split = stats.split;
    w->stats->merged = stats.merged;
    return stats.split + stats.merged > 0 ? sort(w) : TREACLE_OK;
}

static treacle_status account_begin(step_work* w) {
    step_frame f = liquid_frame(&w->liquid);
    return energy_account_begin(&f, w->p, w->liquid.bodies, &w->liquid.account);
}

static treacle_status account_moved(step_work* w) {
    liquid_work* l = &w->liquid;
    step_frame f = liquid_frame(l);
    return energy_account_moved(&f, w->p, l->bodies, &l->poses, &l->account);
}

static treacle_status account_given(step_work* w) {
    step_frame f = liquid_frame(&w->liquid);
    return energy_account_given(&f, w->p, &w->liquid.account);
}

static treacle_status account_end(step_work* w) {
    step_frame f = liquid_frame(&w->liquid);
    return energy_account_end(&f, w->p, w->liquid.bodies, &w->liquid.account);
}

static treacle_status account_end_on_grid(step_work* w) {
    step_frame f = liquid_frame(&w->liquid);
    energy_account_end_on_grid(&f, w->liquid.bodies, &w->liquid.account);
    return TREACLE_OK;
}

static treacle_status step_push(step_work* w) {
    liquid_work* l = &w->liquid;
    step_frame f = liquid_frame(l);
    return forces_push(&f, &l->given, l->bodies, l->state, &l->account);
}

static treacle_status step_heat(step_work* w) {
    liquid_work* l = &w->liquid;
    step_frame f = liquid_frame(l);
    TREACLE_TRY(conduct_heat(&f, &l->given, &l->solid, l->state, w->p));
    return liquid_has_heat(l->setup) ? liquid_find_viscosity(l) : TREACLE_OK;
}

static treacle_status step_move_solids(step_work* w) {
    step_frame f = liquid_frame(&w->liquid);
    return move_solids(&f, w->liquid.before, w->liquid.bodies, &w->liquid.poses);
}

static treacle_status step_move_particles(step_work* w) {
    step_frame f = liquid_frame(&w->liquid);
    particle_push push = {.acceleration = w->sim->push};
    return move_particles(&f, w->liquid.before, &w->liquid.poses, &push, w->p);
}

static treacle_status step_build_tiles(step_work* w) {
    step_frame f = liquid_frame(&w->liquid);
    liquid_work* l = &w->liquid;
    TREACLE_TRY(build_tiles(&f, l->before, w->sim->rank_key, w->p, l->state, &l->history));
    l->values = tile_map_values(&l->state->map);
    return TREACLE_OK;
}

static treacle_status step_correct_density(step_work* w) {
    const liquid_work* l = &w->liquid;
    step_frame f = liquid_frame(l);
    return correct_density(&f, &l->projection, l->state, &l->given, &l->solid, &l->poses, w->p);
}

// A stage of the liquid as a stage of the step.
#define LIQUID_STAGE(name)                                                                         \
    static treacle_status name(step_work* w) {                                                     \
        return liquid_##name(&w->liquid);                                                          \
    }
LIQUID_STAGE(to_grid)
LIQUID_STAGE(geometry)
LIQUID_STAGE(flow)
LIQUID_STAGE(extrapolate)
LIQUID_STAGE(to_particles)

#define EULER_STAGE(name)                                                                          \
    static treacle_status euler_stage_##name(step_work* w) {                                       \
        return euler_##name(&w->liquid);                                                           \
    }
EULER_STAGE(track)
EULER_STAGE(emit)
EULER_STAGE(build_tiles)
EULER_STAGE(carry)
EULER_STAGE(push)
EULER_STAGE(strain_step)
EULER_STAGE(settle)

typedef struct step_stage {
    treacle_stage stage; // under which it is timed
    treacle_status (*run)(step_work* w);
} step_stage;

static const step_stage ballistic_stages[] = {
    {TREACLE_STAGE_ADVECT, pushed}, {TREACLE_STAGE_ADVECT, fly}, {TREACLE_STAGE_EMIT, emit},
    {TREACLE_STAGE_EMIT, absorb},   {TREACLE_STAGE_SORT, sort},  {TREACLE_STAGE_COUNT, NULL},
};

// The step.
static const step_stage liquid_stages[] = {
    {TREACLE_STAGE_ENERGY, account_begin},
    {TREACLE_STAGE_ADVECT, pushed},
    {TREACLE_STAGE_SOLIDS, step_move_solids},
    {TREACLE_STAGE_ADVECT, step_move_particles},
    {TREACLE_STAGE_ENERGY, account_moved},
    {TREACLE_STAGE_EMIT, emit},
    {TREACLE_STAGE_EMIT, absorb},
    {TREACLE_STAGE_SORT, sort},
    {TREACLE_STAGE_SORT, reseed},
    {TREACLE_STAGE_ENERGY, account_given},
    {TREACLE_STAGE_TILES, step_build_tiles},
    {TREACLE_STAGE_TO_GRID, to_grid},
    {TREACLE_STAGE_GEOMETRY, geometry},
    {TREACLE_STAGE_FORCES, step_push},
    {TREACLE_STAGE_HEAT, step_heat},
    {TREACLE_STAGE_FLOW, flow},
    {TREACLE_STAGE_EXTRAPOLATE, extrapolate},
    {TREACLE_STAGE_TO_PARTICLES, to_particles},
    {TREACLE_STAGE_DENSITY, step_correct_density},
    {TREACLE_STAGE_ENERGY, account_end},
    {TREACLE_STAGE_COUNT, NULL},
};

// The step where the grid carries the liquid.
static const step_stage euler_stages[] = {
    {TREACLE_STAGE_ENERGY, account_begin},
    {TREACLE_STAGE_SOLIDS, step_move_solids},
    {TREACLE_STAGE_ENERGY, account_moved},
    {TREACLE_STAGE_ADVECT, euler_stage_track},
    {TREACLE_STAGE_EMIT, euler_stage_emit},
    {TREACLE_STAGE_TILES, euler_stage_build_tiles},
    {TREACLE_STAGE_TO_GRID, euler_stage_carry},
    {TREACLE_STAGE_GEOMETRY, geometry},
    {TREACLE_STAGE_FORCES, euler_stage_push},
    {TREACLE_STAGE_HEAT, step_heat},
    {TREACLE_STAGE_FLOW, flow},
    {TREACLE_STAGE_TO_PARTICLES, euler_stage_strain_step},
    {TREACLE_STAGE_EXTRAPOLATE, extrapolate},
    {TREACLE_STAGE_TO_PARTICLES, euler_stage_settle},
    {TREACLE_STAGE_ENERGY, account_end_on_grid},
    {TREACLE_STAGE_COUNT, NULL},
};

static const step_stage euler_first_stages[] = {
    {TREACLE_STAGE_SOLIDS, step_move_solids},
    {TREACLE_STAGE_ADVECT, euler_stage_track},
    {TREACLE_STAGE_TILES, euler_stage_build_tiles},
    {TREACLE_STAGE_TO_GRID, euler_stage_carry},
    {TREACLE_STAGE_GEOMETRY, geometry},
    {TREACLE_STAGE_FLOW, flow},
    {TREACLE_STAGE_EXTRAPOLATE, extrapolate},
    {TREACLE_STAGE_TO_PARTICLES, euler_stage_settle},
    {TREACLE_STAGE_COUNT, NULL},
};

// Before the first step: the velocity that liquids begin with, brought to the grid and made free of
// divergence, for the first step's particles to move through. They keep their own and get its
// gradient.
static const step_stage first_stages[] = {
    {TREACLE_STAGE_SOLIDS, step_move_solids},
    {TREACLE_STAGE_TILES, step_build_tiles},
    {TREACLE_STAGE_TO_GRID, to_grid},
    {TREACLE_STAGE_GEOMETRY, geometry},
    {TREACLE_STAGE_FLOW, flow},
    {TREACLE_STAGE_EXTRAPOLATE, extrapolate},
    {TREACLE_STAGE_TO_PARTICLES, to_particles},
    {TREACLE_STAGE_COUNT, NULL},
};

// Rows around one's own are good from the stage that brings them to the one that changes them.
static void poison(step_work* w, treacle_stage stage) {
    const tile_map* map = &w->sim->next.liquid.map;
    bool has_halo = stage >= TREACLE_STAGE_TO_GRID && stage < TREACLE_STAGE_TO_PARTICLES;
    particle_ranks_poison(&w->sim->domain, has_halo ? map : NULL, w->p);
}

static treacle_status run_stages(step_work* w, const step_stage* stages, profile* timers) {
    treacle_sim* sim = w->sim;
    liquid_state_destroy(&sim->next.liquid);
    sim_copy_bodies(sim);
    treacle_status status = particles_copy(&sim->next.particles, &sim->now.particles);
    for (int i = 0; status == TREACLE_OK && stages[i].run != NULL; ++i) {
        profile_begin(timers, (int)stages[i].stage);
        status = stages[i].run(w);
        profile_end(timers);
        poison(w, stages[i].stage);
    }
    liquid_work_finish(&w->liquid);
    arena_give_to(&sim->scratch, 0);
    TREACLE_TRY(status);
    return arena_end_step(&sim->scratch);
}

static liquid_work liquid_of(step_work* w) {
    treacle_sim* sim = w->sim;
    liquid_work out = {
        .ctx = sim->ctx,
        .setup = &sim->setup,
        .scratch = &sim->scratch,
        .p = w->p,
        .before = &sim->now.liquid,
        .state = &sim->next.liquid,
        .bodies = sim->next.bodies,
        .time = w->from,
        .dt = w->dt,
        .stats = w->stats,
        .solid_cache = &sim->solid_cache,
        .has_warned = &sim->has_warned_closed,
    };
    if (euler_is_on(&sim->def)) {
        w->euler = sim_euler_work(sim);
        out.euler = &w->euler;
    }
    curve_integral(&sim->gravity, w->from, w->from + w->dt, out.gravity);
    curve_way(&sim->gravity, w->from, w->from + w->dt, out.fall);
    for (int a = 0; a < AXES; ++a) {
        out.gravity[a] /= w->dt;
    }
    return out;
}

// A step may share the tiles out anew. If it fails, `now` is owned as before.
static void keep_ranks(treacle_sim* sim, bool is_failed) {
    size_t count = (size_t)comm_size(sim->ctx) + 1;
    if (sim->rank_key != NULL) {
        uint64_t *now = sim->rank_key, *kept = sim->rank_key + count;
        memcpy(is_failed ? now : kept, is_failed ? kept : now, count * sizeof(uint64_t));
    }
}

// What the stages have made in a step of dt becomes the state only if it is sound; `before` is the
// largest speed that there was.
static treacle_status inspect(treacle_sim* sim, double dt, double before,
                              treacle_step_stats* stats) {
    guard_speeds speeds = guard_measure(sim, &sim->next);
    TREACLE_TRY(guard_finite(sim, &sim->next, &speeds, TREACLE_ERR_DIVERGED));
    if (!timestep_review(sim, dt, before, guard_fastest(&speeds))) {
        return check_fail(sim->ctx, TREACLE_ERR_DIVERGED,
                          "a step of %g s is too long for what begins to move in it", dt);
    }
    TREACLE_TRY(guard_pace(sim, &sim->next, &speeds));
    stats->max_speed = euler_is_on(&sim->def) ? speeds.faces : speeds.particles;
    return TREACLE_OK;
}

static treacle_status attempt(treacle_sim* sim, double dt, double speed, profile* timers,
                              treacle_step_stats* stats) {
    stats->emitted = stats->absorbed = 0;
    stats->energy = (treacle_energy_stats){0};
    sim->next.step = sim->now.step + 1;
    sim->next.time = sim->now.time + dt;
    sim->next.reseed_births = sim->now.reseed_births;
    step_work work = {
        .sim = sim,
        .p = &sim->next.particles,
        .from = sim->now.time,
        .to = sim->next.time,
        .dt = dt,
        .stats = stats,
    };
    work.liquid = liquid_of(&work);
    const step_stage* stages = sim->def.flow == TREACLE_FLOW_NONE ? ballistic_stages
                               : euler_is_on(&sim->def)           ? euler_stages
                                                                  : liquid_stages;
    keep_ranks(sim, false);
    treacle_status status = run_stages(&work, stages, timers);
    if (status == TREACLE_OK) {
        status = inspect(sim, dt, speed, stats);
    }
    if (status != TREACLE_OK) {
        keep_ranks(sim, true);
        return status;
    }
    sim_state_swap(sim);
    stats->dt = dt;
    return TREACLE_OK;
}

void sim_state_swap(treacle_sim* sim) {
    sim_state before = sim->now;
    sim->now = sim->next;
    sim->next = before;
}

// What fails on all ranks alike is an error like any other. Memory may be short on one of them
// while the others wait for it.
static treacle_status give_up_alone(treacle_sim* sim, treacle_status status) {
    bool is_alike = status == TREACLE_OK || status == TREACLE_ERR_DIVERGED ||
                    status == TREACLE_ERR_LIMIT || status == TREACLE_ERR_USAGE;
    return is_alike ? status : comm_give_up(sim->ctx, status);
}

// The stages before the first step, in which viscosity acts over dt.
static treacle_status attempt_first(treacle_sim* sim, double dt) {
    treacle_step_stats stats = {0};
    profile timers;
    profile_init(&timers);
    sim->next.time = sim->now.time;
    sim->next.step = sim->now.step;
    sim->next.reseed_births = sim->now.reseed_births;
    sim->next.calm = sim->now.calm;
    step_work work = {.sim = sim, .p = &sim->next.particles, .dt = dt, .stats = &stats};
    work.liquid = liquid_of(&work);
    work.liquid.is_first = true;
    const step_stage* stages = euler_is_on(&sim->def) ? euler_first_stages : first_stages;
    return run_stages(&work, stages, &timers);
}

treacle_status step_prepare(treacle_sim* sim) {
    if (sim->def.flow == TREACLE_FLOW_NONE) {
        return TREACLE_OK;
    }
    double dt = sim->def.step.max_dt;
    treacle_status status = attempt_first(sim, dt);
    while (status == TREACLE_ERR_DIVERGED && 0.5 * dt >= sim->def.step.min_dt) {
        dt *= 0.5;
        status = attempt_first(sim, dt);
    }
    TREACLE_TRY(give_up_alone(sim, status));
    sim_state_swap(sim);
    return TREACLE_OK;
}

// What ranks said to each other during the step.
static void tell_of_ranks(const treacle_sim* sim, const comm_tally* before,
                          treacle_step_stats* out) {
    comm_tally after = comm_tally_of(sim->ctx);
    out->ranks = comm_size(sim->ctx);
    out->exchange_seconds = after.seconds - before->seconds;
    out->exchange_cpu = after.cpu_seconds - before->cpu_seconds;
    out->messages = after.messages - before->messages;
    out->exchanged_bytes = after.bytes - before->bytes;
}

// When it was, before what went wrong, and what was tried.
static treacle_status tell_diverged(const treacle_sim* sim, double dt, int retries) {
    char what[CONTEXT_ERROR_CAPACITY / 2];
    snprintf(what, sizeof(what), "%s", treacle_context_error(sim->ctx));
    return check_fail(sim->ctx, TREACLE_ERR_DIVERGED,
                      "step %lld at %.6g s: %s (after %d retr%s, the last of %.3g s)",
                      (long long)sim->now.step + 1, sim->now.time, what, retries,
                      retries == 1 ? "y" : "ies", dt);
}

static treacle_status step_once(treacle_sim* sim, double max_dt, treacle_step_stats* out) {
    comm_tally said = comm_tally_of(sim->ctx);
    if (!(max_dt > 0.0 && isfinite(max_dt))) {
        return check_fail(sim->ctx, TREACLE_ERR_USAGE,
                          "a step of at most %g s: expected more than 0", max_dt);
    }
    profile timers;
    profile_init(&timers);
    guard_speeds speeds = guard_measure(sim, &sim->now);
    double speed = guard_fastest(&speeds);
    double dt = timestep_choose(sim, max_dt, speed);
    treacle_status status = guard_pace(sim, &sim->now, &speeds);
    bool is_paced = status == TREACLE_OK;
    status = is_paced ? attempt(sim, dt, speed, &timers, out) : status;
    while (is_paced && status == TREACLE_ERR_DIVERGED && 0.5 * dt >= sim->def.step.min_dt) {
        dt *= 0.5;
        out->retries += 1;
        status = attempt(sim, dt, speed, &timers, out);
    }
    if (status == TREACLE_ERR_DIVERGED) {
        return tell_diverged(sim, dt, out->retries);
    }
    TREACLE_TRY(give_up_alone(sim, status));
    step_stats_measure(sim, out);
    tell_of_ranks(sim, &said, out);
    for (int i = 0; i < TREACLE_STAGE_COUNT; ++i) {
        out->seconds[i] = timers.seconds[i];
    }
    return TREACLE_OK;
}

treacle_status treacle_sim_step_pushed(treacle_sim* sim, double max_dt, const float* acceleration,
                                       treacle_step_stats* out) {
    *out = (treacle_step_stats){0};
    TREACLE_TRY(sim_push_begin(sim, acceleration));
    treacle_status status = step_once(sim, max_dt, out);
    sim->push = NULL;
    sim->push_most = 0.0;
    return status;
}

treacle_status treacle_sim_step(treacle_sim* sim, double max_dt, treacle_step_stats* out) {
    return treacle_sim_step_pushed(sim, max_dt, NULL, out);
}

const char* treacle_stage_name(treacle_stage stage) {
    static const char* const names[] = {
#define STAGE_NAME(name, text) text,
        TREACLE_STAGE_LIST(STAGE_NAME)
#undef STAGE_NAME
    };
    return stage >= 0 && stage < TREACLE_STAGE_COUNT ? names[stage] : "unknown";
}
