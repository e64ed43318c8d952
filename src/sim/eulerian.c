#include "sim/eulerian.h"

#include <string.h>

#include "compare/euler_begin.h"
#include "compare/euler_show.h"
#include "sim/sim_seed.h"

level_set_work eulerian_level(treacle_sim* sim) {
    return (level_set_work){.ctx = sim->ctx,
                            .grid = &sim->domain,
                            .lattice = &sim->lattice,
                            .scratch = &sim->scratch,
                            .seed = sim->def.seed,
                            .per_cell = sim->def.level_set.markers};
}

treacle_status eulerian_create(treacle_sim* sim) {
    TREACLE_ASSERT(sim->domain.h > 0.0);
    if (!sim->plan.is_eulerian) {
        return TREACLE_OK;
    }
    sim->lattice = level_set_domain(&sim->domain);
    TREACLE_TRY(level_set_create(sim->ctx, &sim->lattice, &sim->now.surface));
    TREACLE_TRY(level_set_create(sim->ctx, &sim->lattice, &sim->next.surface));
    return particles_create(sim->ctx, sim->now.particles.column_mask, &sim->shown);
}

euler_work eulerian_work(treacle_sim* sim, step_work* w) {
    TREACLE_ASSERT(sim->plan.is_eulerian);
    TREACLE_ASSERT(sim->def.level_set.reseed > 0);
    return (euler_work){.w = w,
                        .level = eulerian_level(sim),
                        .before = &sim->now.surface,
                        .surface = &sim->next.surface,
                        .is_reseeded = sim->next.step % sim->def.level_set.reseed == 0,
                        .sink_count = sim->sink_count,
                        .sinks = sim->sinks,
                        .room = &sim->room,
                        .due_before = sim->now.volume_due,
                        .due = &sim->next.volume_due,
                        .has_warned = &sim->has_warned.of_lost};
}

// The work on the state as it is, between steps.
static step_work work_now(treacle_sim* sim) {
    return (step_work){
        .f = {.ctx = sim->ctx, .setup = &sim->setup, .scratch = &sim->scratch},
        .state = &sim->now.liquid,
    };
}

treacle_status eulerian_seed(treacle_sim* sim, const seed_def* seeding) {
    TREACLE_ASSERT(sim->plan.is_eulerian && sim->now.surface.map.ctx != NULL);
    const liquid_state none = {0};
    step_work w = work_now(sim);
    w.before = &none;
    euler_work e = eulerian_work(sim, &w);
    e.surface = &sim->now.surface;
    treacle_status status = euler_begin(&e, seeding);
    arena_give_to(&sim->scratch, 0);
    return status;
}

treacle_status eulerian_show(treacle_sim* sim) {
    TREACLE_ASSERT(sim->plan.is_eulerian && sim->now.surface.phi != NULL);
    int count = sim->setup.solids.count;
    solid_pose* poses = NULL;
    step_work w = work_now(sim);
    euler_work e = eulerian_work(sim, &w);
    e.surface = &sim->now.surface;
    TREACLE_TRY(
        arena_take_zero(&sim->scratch, (size_t)count, sizeof(*poses), "poses", (void**)&poses));
    sim_pose_solids(sim, sim->now.time, poses);
    euler_picture picture = {.solids = {count, sim->setup.solids.solids, poses},
                             .points = &sim->shown};
    memcpy(picture.colour, sim->palette[0], sizeof(picture.colour));
    treacle_status status = euler_show(&e, &picture);
    arena_give_to(&sim->scratch, 0);
    return status;
}
