// What the viscosity of the liquid at cells is made of, from particles: the base and the portions
// of [rheo.3] (phys/mixture.c), once a step.
#include "math/elementary.h"
#include "particles/particle_ranks.h"
#include "phys/mixture.h"
#include "phys/rheology.h"
#include "sim/liquid.h"

typedef struct part_job {
    const liquid_work* w;
    int material; // whose portion; -1: the base
    float* out;
} part_job;

static double part_of(const part_job* job, int material, double log_factor) {
    const liquid_setup* setup = job->w->setup;
    treacle_viscosity_mean mean = setup->def->viscosity_solve.mean;
    // Those come at cells: by the rate of shear, by what is carried.
    bool is_later = rheology_is_needed(&setup->materials[material]) ||
                    setup->heat.law[material].def.kind != TREACLE_LAW_NONE;
    bool is_geometric = mean == TREACLE_VISCOSITY_GEOMETRIC;
    if (job->material >= 0) {
        double portion = is_geometric ? 1.0 : rheology_to_mean(mean, elementary_exp(log_factor));
        return material == job->material ? portion : 0.0;
    }
    double log_mu = (is_later ? 0.0 : (double)setup->log_mu[material]) + log_factor;
    if (is_geometric) {
        return log_mu;
    }
    return is_later ? 0.0 : rheology_to_mean(mean, elementary_exp(log_mu));
}

static void fill_parts(void* data, int64_t begin, int64_t end) {
    const part_job* job = data;
    const uint8_t* material = particles_material(job->w->p);
    const float* log_factor = particles_f32(job->w->p, PARTICLE_LOG_FACTOR);
    for (int64_t i = begin; i < end; ++i) {
        double factor = log_factor == NULL ? 0.0 : (double)log_factor[i];
        job->out[i] = (float)part_of(job, material[i], factor);
    }
}

static treacle_status part_to_grid(liquid_work* w, int material, float** out) {
    float* column = NULL;
    TREACLE_TRY(
        arena_take_zero(w->scratch, w->values, sizeof(float), "viscosity at cells", (void**)out));
    TREACLE_TRY(arena_take(w->scratch, (size_t)w->p->count, sizeof(float), "viscosity of particles",
                           (void**)&column));
    part_job job = {w, material, column};
    particle_ranks_near(w->setup->domain, &w->state->map, w->p, fill_parts, &job);
    treacle_status status = liquid_column_to_grid(w, column, *out);
    arena_give(w->scratch, column);
    return status;
}

treacle_status liquid_viscosity_to_grid(liquid_work* w) {
    const liquid_setup* setup = w->setup;
    TREACLE_TRY(arena_take_zero(w->scratch, w->values, sizeof(float), "viscosity at cells",
                                (void**)&w->material.log_mu));
    TREACLE_TRY(arena_take(w->scratch, (size_t)setup->material_count, sizeof(*w->material.portion),
                           "portions of materials", (void**)&w->material.portion));
    TREACLE_TRY(part_to_grid(w, -1, &w->material.base));
    for (int m = 0; m < setup->material_count; ++m) {
        w->material.portion[m] = NULL;
        if (rheology_is_needed(&setup->materials[m])) {
            TREACLE_TRY(part_to_grid(w, m, &w->material.portion[m]));
        }
    }
    return TREACLE_OK;
}

treacle_status liquid_viscosity_at_rest(liquid_work* w) {
    const liquid_setup* setup = w->setup;
    mixture_params params = {.map = &w->state->map,
                             .cell_volume = w->given.volume,
                             .material_count = setup->material_count,
                             .materials = setup->materials,
                             .mean = setup->def->viscosity_solve.mean,
                             .cell_base = w->material.base,
                             .cell_portion = w->material.portion};
    float* rate = NULL;
    if (setup->has_rheology) {
        TREACLE_TRY(
            arena_take_zero(w->scratch, w->values, sizeof(float), "rates of shear", (void**)&rate));
    }
    mixture_viscosity(&params, &(mixture_rates){.rate = rate, .way = 1.0}, w->material.log_mu);
    arena_give(w->scratch, rate);
    return TREACLE_OK;
}
