// Stages of liquid that the grid carries, one at a time.
#include "base/check.h"
#include "compare/euler_track.h"
#include "grid/tile_band.h"
#include "sim/eulerian.h"
#include "sim/stages_liquid.h"
#include "treacle/unstable/stages.h"

// The surface of liquid on the grid, through velocities on all faces of the domain.
treacle_status stages_carry_surface(treacle_sim* sim, const treacle_field* velocity, double at,
                                    double dt) {
    TREACLE_ASSERT(sim->plan.is_eulerian);
    liquid_state given = {0};
    TREACLE_TRY(tile_band_whole(sim->ctx, &sim->domain, &given.map));
    treacle_status status = liquid_state_fields(&given, &sim->domain);
    step_work w = {.f = {.ctx = sim->ctx, .setup = &sim->setup}, .state = &given};
    if (status == TREACLE_OK) {
        status = stages_sample_faces(&w, velocity, at);
    }
    if (status == TREACLE_OK) {
        sim->next.step = sim->now.step + 1;
        step_work moving = {.f = {.ctx = sim->ctx, .setup = &sim->setup, .dt = dt},
                            .before = &given};
        euler_work e = eulerian_work(sim, &moving);
        status = euler_track(&e);
    }
    if (status == TREACLE_OK) {
        level_set before = sim->now.surface;
        sim->now.surface = sim->next.surface;
        sim->next.surface = before;
        sim->now.step = sim->next.step;
    }
    liquid_state_destroy(&given);
    arena_give_to(&sim->scratch, 0);
    TREACLE_TRY(status);
    return arena_end_step(&sim->scratch);
}

treacle_status treacle_stages_level_set(treacle_sim* sim, float* distance, double* volume) {
    if (!sim->plan.is_eulerian) {
        return check_fail(sim->ctx, TREACLE_ERR_USAGE,
                          "particles carry the liquid: there is no level set");
    }
    const level_set* set = &sim->now.surface;
    const int32_t* n = sim->lattice.cells;
    tile_sampler phi = tile_sampler_of(&sim->lattice, &set->map, PLACE_CELL, set->phi);
    for (int64_t i = 0; i < (int64_t)n[0] * n[1] * n[2]; ++i) {
        const int at[AXES] = {(int)(i % n[0]), (int)(i / n[0] % n[1]), (int)(i / n[0] / n[1])};
        distance[i] = tile_sample_at(&phi, at);
    }
    level_set_work w = eulerian_level(sim);
    *volume = level_set_volume(&w, set);
    return TREACLE_OK;
}
