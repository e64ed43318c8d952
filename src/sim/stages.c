#include "treacle/unstable/stages.h"

#include <math.h>

#include "sim/attempt.h"
#include "sim/ballistic.h"
#include "sim/sim_check.h"
#include "sim/sim_seed.h"

static treacle_status check_particles(treacle_sim* sim, const treacle_stages_particles* given) {
    if (given->count < 0 || (given->count > 0 && given->place == NULL)) {
        return check_fail(sim->ctx, TREACLE_ERR_USAGE, "%lld particles are given without a place",
                          (long long)given->count);
    }
    for (int64_t i = 0; i < given->count; ++i) {
        int material = given->material == NULL ? 0 : given->material[i];
        if (material >= sim->material_count) {
            return check_fail(sim->ctx, TREACLE_ERR_USAGE,
                              "particle %lld is of material %d: there are %d, counted from 0",
                              (long long)i, material, sim->material_count);
        }
        if (given->volume != NULL && !(given->volume[i] > 0.0f && isfinite(given->volume[i]))) {
            return check_fail(sim->ctx, TREACLE_ERR_USAGE,
                              "the volume of particle %lld is %g m^3: expected more than 0",
                              (long long)i, (double)given->volume[i]);
        }
        if (!vec3_is_finite(vec3_from(given->place + AXES * i))) {
            return check_fail(sim->ctx, TREACLE_ERR_USAGE,
                              "the place of particle %lld is not finite", (long long)i);
        }
    }
    return TREACLE_OK;
}

static particle_birth birth_of(const treacle_sim* sim, const treacle_stages_particles* given,
                               int64_t i) {
    double h = sim->domain.h;
    particle_birth birth = {
        .id = given->id == NULL ? (uint64_t)i : given->id[i],
        .place = vec3_from(given->place + AXES * i),
        .volume = given->volume == NULL ? h * h * h / sim->def.particles.per_cell
                                        : (double)given->volume[i],
        .material = given->material == NULL ? 0 : given->material[i],
    };
    for (int a = 0; given->velocity != NULL && a < AXES; ++a) {
        birth.velocity.at[a] = (double)given->velocity[AXES * i + a];
    }
    return birth;
}

treacle_status treacle_stages_put(treacle_sim* sim, const treacle_stages_particles* given) {
    TREACLE_TRY(check_particles(sim, given));
    particles* p = &sim->now.particles;
    particles_clear(p);
    for (int64_t i = 0; i < given->count; ++i) {
        particle_birth birth = birth_of(sim, given, i);
        tile_coord tile;
        particle_ix particle;
        particles_locate(&sim->domain, birth.place, &tile, birth.position);
        TREACLE_TRY(particles_append(p, tile, 1, &particle));
        particle_init(p, &sim->domain, particle, &birth);
    }
    return TREACLE_OK;
}

treacle_status treacle_stages_seed(treacle_sim* sim, const treacle_sim_def* def) {
    TREACLE_TRY(sim_check_def(sim->ctx, def));
    if (def->material_count > sim->material_count) {
        return check_fail(sim->ctx, TREACLE_ERR_USAGE,
                          "the def has %d materials, the simulation only %d", def->material_count,
                          sim->material_count);
    }
    particles_clear(&sim->now.particles);
    return sim_seed(sim, def);
}

static treacle_status check_span(const treacle_sim* sim, double from, double to) {
    return to >= from && isfinite(to - from)
               ? TREACLE_OK
               : check_fail(sim->ctx, TREACLE_ERR_USAGE,
                            "from %g s to %g s: expected a span of 0 s or more", from, to);
}

treacle_status treacle_stages_advect(treacle_sim* sim, double dt) {
    TREACLE_TRY(check_span(sim, sim->now.time, sim->now.time + dt));
    ballistic_advect(&sim->now.particles, &sim->domain, &sim->gravity, sim->now.time,
                     sim->now.time + dt);
    return TREACLE_OK;
}

treacle_status treacle_stages_emit(treacle_sim* sim, double from, double to, int64_t* count) {
    *count = 0;
    TREACLE_TRY(check_span(sim, from, to));
    const treacle_curve* gravity = sim->def.flow == TREACLE_FLOW_NONE ? &sim->gravity : NULL;
    for (int i = 0; i < sim->emitter_count; ++i) {
        int64_t born = 0;
        TREACLE_TRY(emitter_emit(&sim->emitters[i], from, to, gravity, &sim->now.particles, &born));
        *count += born;
    }
    return TREACLE_OK;
}

treacle_status treacle_stages_sort(treacle_sim* sim, treacle_stages_sort_stats* out) {
    particle_sorter sorter = {&sim->domain, &sim->scratch};
    particle_sort_stats stats;
    TREACLE_TRY(particle_sort(&sim->now.particles, &sorter, &stats));
    *out = (treacle_stages_sort_stats){stats.removed, stats.stopped, stats.migrated};
    return arena_end_step(&sim->scratch);
}

treacle_status treacle_stages_prepare(treacle_sim* sim) {
    liquid_state_destroy(&sim->now.liquid);
    return step_prepare(sim);
}
