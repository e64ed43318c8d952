#include "step/material_grid.h"

#include "grid/tile_loop.h"
#include "math/elementary.h"
#include "particles/particle_loop.h"
#include "phys/mixture.h"
#include "phys/rheology.h"
#include "step/to_grid.h"

typedef struct part_job {
    const liquid_setup* setup;
    const particles* p;
    int material; // whose part; -1: the Newtonian part
    float* out;
} part_job;

static double part_of(const part_job* job, int material, double log_factor) {
    const liquid_setup* setup = job->setup;
    treacle_viscosity_mean mean = setup->def->viscosity_solve.mean;
    // Those come at cells: by the rate of shear, by what is carried.
    bool is_later = rheology_is_needed(&setup->materials[material]) ||
                    setup->heat.law[material].def.kind != TREACLE_LAW_NONE;
    bool is_geometric = mean == TREACLE_VISCOSITY_GEOMETRIC;
    if (job->material >= 0) {
        double shear_part = is_geometric ? 1.0 : rheology_to_mean(mean, elementary_exp(log_factor));
        return material == job->material ? shear_part : 0.0;
    }
    double log_mu = (is_later ? 0.0 : (double)setup->log_mu[material]) + log_factor;
    if (is_geometric) {
        return log_mu;
    }
    return is_later ? 0.0 : rheology_to_mean(mean, elementary_exp(log_mu));
}

static void fill_parts(void* data, int64_t begin, int64_t end) {
    const part_job* job = data;
    const uint8_t* material = particles_material(job->p);
    const float* log_factor = particles_f32(job->p, PARTICLE_LOG_FACTOR);
    for (int64_t i = begin; i < end; ++i) {
        double factor = log_factor == NULL ? 0.0 : (double)log_factor[i];
        job->out[i] = (float)part_of(job, material[i], factor);
    }
}

static treacle_status part_to_grid(const step_frame* f, const tile_map* map, const particles* p,
                                   const thin_view* thin, int material, float** out) {
    float* column = NULL;
    TREACLE_TRY(step_take_zero(f, map, "viscosity at cells", out));
    TREACLE_TRY(arena_take(f->scratch, (size_t)p->count, sizeof(float), "viscosity of particles",
                           (void**)&column));
    part_job job = {f->setup, p, material, column};
    particle_for(p, &(particle_use){.span = PARTICLES_EACH_NEAR, .grain = 4096, .map = map},
                 fill_parts, &job);
    treacle_status status = to_grid_column(f, map, p, thin, column, *out);
    arena_give(f->scratch, column);
    return status;
}

// Whether all particles bring the same. Behind thin solids cells may see none of them.
static bool is_uniform(const liquid_setup* setup, const particles* p, const particle_grid* given) {
    return setup->material_count == 1 && !rheology_is_needed(&setup->materials[0]) &&
           setup->heat.law[0].def.kind == TREACLE_LAW_NONE &&
           particles_f32(p, PARTICLE_LOG_FACTOR) == NULL && given->thin.count == 0;
}

typedef struct uniform_job {
    float value;
    float* out;
} uniform_job;

static void fill_uniform(void* data, int64_t begin, int64_t end) {
    const uniform_job* job = data;
    for (int64_t i = begin * TILE_CELLS; i < end * TILE_CELLS; ++i) {
        job->out[i] = job->value;
    }
}

// The Newtonian part. One liquid of one viscosity needs no particles to say so: without their
// rounding cells deep inside are alike, too (phys/stress.c).
static treacle_status bring_newtonian(const step_frame* f, const tile_map* map, const particles* p,
                                      const particle_grid* given, float** out) {
    if (!is_uniform(f->setup, p, given)) {
        return part_to_grid(f, map, p, &given->thin, -1, out);
    }
    const part_job all = {.setup = f->setup, .material = -1};
    TREACLE_TRY(step_take_zero(f, map, "viscosity at cells", out));
    uniform_job job = {(float)part_of(&all, 0, 0.0), *out};
    tile_for(map, &(tile_use){.reads = TILE_ALONE, .grain = 16}, fill_uniform, &job);
    return TREACLE_OK;
}

treacle_status material_grid_bring(const step_frame* f, const tile_map* map, const particles* p,
                                   const particle_grid* given, material_grid* out) {
    TREACLE_ASSERT(out->log_mu == NULL && out->newtonian == NULL);
    TREACLE_ASSERT(given->volume != NULL);
    const liquid_setup* setup = f->setup;
    if (!liquid_is_viscous(setup)) {
        return TREACLE_OK;
    }
    TREACLE_TRY(step_take_zero(f, map, "viscosity at cells", &out->log_mu));
    TREACLE_TRY(arena_take(f->scratch, (size_t)setup->material_count, sizeof(*out->shear_part),
                           "portions of materials", (void**)&out->shear_part));
    TREACLE_TRY(bring_newtonian(f, map, p, given, &out->newtonian));
    for (int m = 0; m < setup->material_count; ++m) {
        out->shear_part[m] = NULL;
        if (rheology_is_needed(&setup->materials[m])) {
            TREACLE_TRY(part_to_grid(f, map, p, &given->thin, m, &out->shear_part[m]));
        }
    }
    return TREACLE_OK;
}

treacle_status material_grid_at_rest(const step_frame* f, const tile_map* map,
                                     const particle_grid* given, material_grid* out) {
    TREACLE_ASSERT(out->log_mu != NULL && given->volume != NULL);
    const liquid_setup* setup = f->setup;
    mixture_params params = {.map = map,
                             .cell_volume = given->volume,
                             .material_count = setup->material_count,
                             .materials = setup->materials,
                             .mean = setup->def->viscosity_solve.mean,
                             .cell_newtonian = out->newtonian,
                             .cell_shear_part = out->shear_part};
    float* rate = NULL;
    if (setup->has.rheology) {
        TREACLE_TRY(step_take_zero(f, map, "rates of shear", &rate));
    }
    mixture_viscosity(&params, &(mixture_rates){.rate = rate, .way = 1.0}, out->log_mu);
    arena_give(f->scratch, rate);
    return TREACLE_OK;
}
