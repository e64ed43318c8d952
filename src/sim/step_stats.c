#include "sim/step_stats.h"

#include "particles/particle_loop.h"
#include "phys/shrinkage.h"

typedef struct sum_job {
    const particles* p;
    const treacle_material_def* materials;
} sum_job;

static double tile_energy(void* data, int64_t tile) {
    const sum_job* job = data;
    const particles* p = job->p;
    const float* volume = particles_f32(p, PARTICLE_VOLUME);
    const float* velocity = particles_f32(p, PARTICLE_VELOCITY);
    double sum = 0.0;
    for (particle_ix i = p->tile_first[tile]; i < p->tile_first[tile + 1]; ++i) {
        double x = (double)velocity[AXES * i], y = (double)velocity[AXES * i + 1];
        double z = (double)velocity[AXES * i + 2];
        double mass = job->materials[particles_material(p)[i]].density * (double)volume[i];
        sum += 0.5 * mass * ((x * x + y * y) + z * z);
    }
    return sum;
}

static double tile_enthalpy(void* data, int64_t tile) {
    const sum_job* job = data;
    const particles* p = job->p;
    const double* enthalpy = particles_f64(p, PARTICLE_ENTHALPY);
    double sum = 0.0;
    for (particle_ix i = p->tile_first[tile]; i < p->tile_first[tile + 1]; ++i) {
        double volume = (double)particles_f32(p, PARTICLE_VOLUME)[i];
        sum += job->materials[particles_material(p)[i]].density * volume * enthalpy[i];
    }
    return sum;
}

void step_stats_measure(const treacle_sim* sim, treacle_step_stats* out) {
    TREACLE_ASSERT(sim->now.particles.tile_first[sim->now.particles.tile_count] ==
                   sim->now.particles.count);
    const particles* p = &sim->now.particles;
    sum_job job = {p, sim->setup.materials};
    out->step = sim->now.step;
    out->time = sim->now.time;
    out->memory_peak = treacle_context_memory_peak(sim->ctx);
    if (sim->plan.is_eulerian) { // the rest is measured during the step
        out->tiles = sim->now.liquid.map.count;
        return;
    }
    out->particles = p->count;
    out->tiles = p->tile_count;
    out->volume = p->column[PARTICLE_REST_SIZE] != NULL ? shrinkage_volume(sim->setup.materials, p)
                                                        : particle_volume(p);
    out->kinetic_energy = particle_sum(p, tile_energy, &job);
    if (p->column[PARTICLE_ENTHALPY] != NULL) {
        out->enthalpy = particle_sum(p, tile_enthalpy, &job);
    }
}

double treacle_sim_pressure_unit(const treacle_sim* sim) {
    return sim->setup.reference_density * sim->domain.h;
}

const char* treacle_stage_name(treacle_stage stage) {
    static const char* const names[] = {
#define STAGE_NAME(name, text) text,
        TREACLE_STAGE_LIST(STAGE_NAME)
#undef STAGE_NAME
    };
    return stage >= 0 && stage < TREACLE_STAGE_COUNT ? names[stage] : "unknown";
}
