#include "sim/traffic.h"

#include "particles/particle_loop.h"
#include "particles/reseed.h"
#include "phys/shrinkage.h"
#include "sim/heat_setup.h"

static bool is_in_solid(const void* data, vec3 x) {
    double distance;
    solid_nearest(data, x, &distance);
    return distance < 0.0;
}

static treacle_status drop(const traffic* t, const solid_pose* poses) {
    const treacle_sim* sim = t->sim;
    bool has_solids = poses != NULL;
    solid_scene solids = solid_scene_of(&sim->setup.solids, poses);
    seed_def seeding = {.domain = &sim->domain,
                        .seed = sim->def.seed,
                        .particles = sim->def.particles,
                        .is_blocked = has_solids ? is_in_solid : NULL,
                        .blocked_data = &solids};
    for (int i = 0; i < sim->drop_count; ++i) {
        int64_t count = 0;
        TREACLE_TRY(drop_list_emit(&sim->drops[i], t->from, t->to, &seeding, t->p, &count));
        t->stats->emitted += count;
    }
    return TREACLE_OK;
}

treacle_status traffic_emit(const traffic* t, const solid_pose* poses) {
    TREACLE_ASSERT(t->from <= t->to && t->p != &t->sim->now.particles);
    particle_ix first = t->p->count;
    bool flies = t->sim->def.flow == TREACLE_FLOW_NONE; // else it moves as the emitter says
    const treacle_curve* gravity = flies ? &t->sim->gravity : NULL;
    for (int i = 0; i < t->sim->emitter_count && !t->is_full; ++i) {
        int64_t count = 0;
        TREACLE_TRY(emitter_emit(&t->sim->emitters[i], t->from, t->to, gravity, t->p, &count));
        t->stats->emitted += count;
    }
    TREACLE_TRY(drop(t, poses));
    heat_begin(&t->sim->setup.heat, t->p, first);
    shrinkage_begin(t->sim->setup.materials, t->p, first);
    return TREACLE_OK;
}

treacle_status traffic_absorb(const traffic* t) {
    TREACLE_ASSERT(t->p != &t->sim->now.particles);
    for (int i = 0; i < t->sim->sink_count; ++i) {
        int64_t count = 0;
        TREACLE_TRY(sink_absorb(&t->sim->sinks[i], t->to, t->p, &t->sim->scratch, &count));
        t->stats->absorbed += count;
    }
    return TREACLE_OK;
}

treacle_status traffic_sort(const traffic* t) {
    TREACLE_ASSERT(t->p != &t->sim->now.particles);
    particle_sorter sorter = {&t->sim->domain, &t->sim->scratch};
    particle_sort_stats stats;
    TREACLE_TRY(particle_sort(t->p, &sorter, &stats));
    t->stats->absorbed += stats.removed;
    return TREACLE_OK;
}

// Crowded cells merge particles, grown particles split; then they are out of order again.
treacle_status traffic_reseed(const traffic* t) {
    TREACLE_ASSERT(!t->sim->def.reseed || t->sim->def.particles.per_cell > 0);
    treacle_sim* sim = t->sim;
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
    TREACLE_TRY(reseed_particles(t->p, &params, &stats));
    sim->next.reseed_births = sim->now.reseed_births + (uint64_t)stats.split;
    t->stats->split = stats.split;
    t->stats->merged = stats.merged;
    return stats.split + stats.merged > 0 ? traffic_sort(t) : TREACLE_OK;
}

treacle_status traffic_find_room(traffic* t, step_work* w) {
    TREACLE_ASSERT(w->p == t->p && !t->is_full);
    double brought;
    if (find_room_is_asked(&w->f, t->sim->sink_count > 0, &brought)) {
        const liquid_setup* setup = w->f.setup;
        double volume = brought + (setup->has.shrinkage ? shrinkage_volume(setup->materials, w->p)
                                                        : particle_volume(w->p));
        t->is_full = w->f.is_full = !find_room(&w->f, &w->made.poses, volume, &t->sim->room);
    }
    return TREACLE_OK;
}
