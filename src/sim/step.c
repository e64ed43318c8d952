// One step, as a transaction: the stages work on `next`, a copy of the state, and only when all of
// them went well is it swapped with `now`. So a step that fails can be begun again, or given up.
#include <math.h>

#include "base/profile.h"
#include "sim/ballistic.h"
#include "sim/sim_internal.h"

// What the stages of one step share.
typedef struct step_work {
    treacle_sim* sim;
    particles* p; // of the new state
    double from, to, dt;
    treacle_step_stats* stats;
} step_work;

static treacle_status advect(step_work* w) {
    double kick[AXES];
    curve_integral(&w->sim->gravity, w->from, w->to, kick);
    ballistic_advect(w->p, &w->sim->domain, kick, w->dt);
    return TREACLE_OK;
}

static treacle_status emit(step_work* w) {
    for (int i = 0; i < w->sim->emitter_count; ++i) {
        int64_t count = 0;
        TREACLE_TRY(
            emitter_emit(&w->sim->emitters[i], &w->sim->domain, w->from, w->to, w->p, &count));
        w->stats->emitted += count;
    }
    return TREACLE_OK;
}

static treacle_status absorb(step_work* w) {
    for (int i = 0; i < w->sim->sink_count; ++i) {
        int64_t count = 0;
        TREACLE_TRY(
            sink_absorb(&w->sim->sinks[i], &w->sim->domain, w->to, w->p, &w->sim->scratch, &count));
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

typedef struct step_stage {
    treacle_stage stage; // under which it is timed
    treacle_status (*run)(step_work* w);
} step_stage;

static const step_stage stages[] = {
    {TREACLE_STAGE_ADVECT, advect},
    {TREACLE_STAGE_EMIT, emit},
    {TREACLE_STAGE_EMIT, absorb},
    {TREACLE_STAGE_SORT, sort},
};

static treacle_status run_stages(step_work* w, profile* timers) {
    TREACLE_TRY(particles_copy(&w->sim->next.particles, &w->sim->now.particles));
    for (size_t i = 0; i < sizeof(stages) / sizeof(stages[0]); ++i) {
        profile_begin(timers, (int)stages[i].stage);
        treacle_status status = stages[i].run(w);
        profile_end(timers);
        TREACLE_TRY(status);
    }
    return arena_end_step(&w->sim->scratch);
}

static treacle_status attempt(treacle_sim* sim, double dt, profile* timers,
                              treacle_step_stats* stats) {
    stats->emitted = stats->absorbed = 0;
    sim->next.step = sim->now.step + 1;
    sim->next.time = sim->now.time + dt;
    step_work work = {
        .sim = sim,
        .p = &sim->next.particles,
        .from = sim->now.time,
        .to = sim->next.time,
        .dt = dt,
        .stats = stats,
    };
    treacle_status status = run_stages(&work, timers);
    if (status != TREACLE_OK) {
        arena_give_to(&sim->scratch, 0);
        return status;
    }
    sim_state before = sim->now;
    sim->now = sim->next;
    sim->next = before;
    stats->dt = dt;
    return TREACLE_OK;
}

treacle_status treacle_sim_step(treacle_sim* sim, double max_dt, treacle_step_stats* out) {
    *out = (treacle_step_stats){0};
    if (!(max_dt > 0.0 && isfinite(max_dt))) {
        return check_fail(sim->ctx, TREACLE_ERR_USAGE,
                          "a step of at most %g s: expected more than 0", max_dt);
    }
    profile timers;
    profile_init(&timers);
    double dt = timestep_choose(sim, max_dt);
    treacle_status status = attempt(sim, dt, &timers, out);
    while (status == TREACLE_ERR_DIVERGED && 0.5 * dt >= sim->def.step.min_dt) {
        dt *= 0.5;
        out->retries += 1;
        status = attempt(sim, dt, &timers, out);
    }
    TREACLE_TRY(status);
    step_stats_measure(sim, out);
    for (int i = 0; i < TREACLE_STAGE_COUNT; ++i) {
        out->seconds[i] = timers.seconds[i];
    }
    return TREACLE_OK;
}

const char* treacle_stage_name(treacle_stage stage) {
    static const char* const names[] = {
#define STAGE_NAME(name, text) text,
        TREACLE_STAGE_LIST(STAGE_NAME)
#undef STAGE_NAME
    };
    return stage >= 0 && stage < TREACLE_STAGE_COUNT ? names[stage] : "unknown";
}
