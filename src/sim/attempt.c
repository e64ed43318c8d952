// A step as a transaction: the stages work on `next`, a copy of the state, and only when all of
// them went well is it swapped with `now`. So a step that fails can be begun again, or given up.
#include "sim/attempt.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/comm.h"
#include "sim/guard.h"
#include "sim/step.h"
#include "sim/step_stats.h"
#include "sim/timestep.h"

// Times that the stages before the first step are tried again, each over half of the time.
enum { FIRST_RETRIES = 4 };

// A step may share the tiles out anew. If it fails, `now` is owned as before.
static void keep_ranks(treacle_sim* sim, bool is_failed) {
    size_t count = (size_t)comm_size(sim->ctx) + 1;
    if (sim->ranks.key != NULL) {
        uint64_t *now = sim->ranks.key, *kept = sim->ranks.key + count;
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
    stats->max_speed = sim->plan.is_eulerian ? speeds.faces : speeds.particles;
    return TREACLE_OK;
}

static treacle_status attempt(treacle_sim* sim, double dt, double speed, profile* timers,
                              treacle_step_stats* stats) {
    stats->emitted = stats->absorbed = 0;
    stats->energy = (treacle_energy_stats){0};
    sim->next.step = sim->now.step + 1;
    sim->next.time = sim->now.time + dt;
    sim->next.reseed_births = sim->now.reseed_births;
    step_span span = {.from = sim->now.time,
                      .to = sim->next.time,
                      .dt = dt,
                      .is_stiff_surface = timestep_is_stiff_surface(sim, dt)};
    keep_ranks(sim, false);
    treacle_status status = step_run(sim, &span, timers, stats);
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
    TREACLE_ASSERT(sim->next.particles.borrowed_mask == 0);
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

// The stages before the first step, in which viscosity acts over dt, or not at all.
static treacle_status attempt_first(treacle_sim* sim, double dt, bool is_thin) {
    treacle_step_stats stats = {0};
    profile timers;
    profile_init(&timers);
    sim->next.time = sim->now.time;
    sim->next.step = sim->now.step;
    sim->next.reseed_births = sim->now.reseed_births;
    sim->next.calm = sim->now.calm;
    step_span span = {.dt = dt, .is_first = true, .is_thin = is_thin};
    keep_ranks(sim, false);
    treacle_status status = step_run(sim, &span, &timers, &stats);
    if (status != TREACLE_OK) {
        keep_ranks(sim, true);
    }
    return status;
}

treacle_status step_prepare(treacle_sim* sim) {
    TREACLE_ASSERT(sim->now.step == 0 || sim->now.liquid.map.count == 0);
    TREACLE_ASSERT(sim->def.step.max_dt > 0.0);
    if (sim->def.flow == TREACLE_FLOW_NONE) {
        return TREACLE_OK;
    }
    double dt = sim->def.step.max_dt;
    treacle_status status = attempt_first(sim, dt, false);
    for (int i = 0; i < FIRST_RETRIES && status == TREACLE_ERR_DIVERGED; ++i) {
        dt *= 0.5;
        status = attempt_first(sim, dt, false);
    }
    if (status == TREACLE_ERR_DIVERGED) { // no time at all is the limit of shorter ones
        status = attempt_first(sim, dt, true);
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
    alloc_begin_step(sim->ctx);
    treacle_status status = step_once(sim, max_dt, out);
    alloc_end_step(sim->ctx);
    sim->push = NULL;
    sim->push_most = 0.0;
    return status;
}

treacle_status treacle_sim_step(treacle_sim* sim, double max_dt, treacle_step_stats* out) {
    return treacle_sim_step_pushed(sim, max_dt, NULL, out);
}
