// What laws of viscosity make of what particles carry, at cells: added to the base of
// liquid_rheology.c, where materials with a law have none.
#include "base/parallel.h"
#include "grid/tile_ranks.h"
#include "math/elementary.h"
#include "phys/p2g.h"
#include "phys/rheology.h"
#include "sim/euler.h"

typedef struct law_job {
    const liquid_work* w;
    int material;                      // whose share is asked for
    float* column;                     // of particles
    const float* share;                // of a material at cells; NULL: all is of one
    const float *temperature, *marker; // at cells; NULL where no law asks
} law_job;

static void fill_shares(void* data, int64_t begin, int64_t end) {
    const law_job* job = data;
    const uint8_t* material = particles_material(job->w->p);
    for (int64_t i = begin; i < end; ++i) {
        job->column[i] = material[i] == job->material ? 1.0f : 0.0f;
    }
}

// Liquid that is colder than it melts counts as what it is: as melted as when it was melted.
static void fill_temperatures(void* data, int64_t begin, int64_t end) {
    const law_job* job = data;
    const particles* p = job->w->p;
    const heat_setup* heat = &job->w->setup->heat;
    const float *temperature = particles_f32(p, PARTICLE_TEMPERATURE),
                *melted = particles_f32(p, PARTICLE_MELTED);
    for (int64_t i = begin; i < end; ++i) {
        const heat_curve* curve = &heat->curve[particles_material(p)[i]];
        float out = temperature[i];
        if (melted != NULL && curve->latent > 0.0) {
            float from = (float)curve->melt[0], to = (float)curve->melt[1];
            float on_range = from + melted[i] * (to - from);
            out = melted[i] <= 0.0f   ? (out < from ? out : from)
                  : melted[i] >= 1.0f ? (out > to ? out : to)
                                      : on_range;
        }
        job->column[i] = out;
    }
}

// As the base has it. A material that is not Newtonian is thickened as if its viscosity were.
static double part_of(const law_job* job, double log_mu) {
    const liquid_setup* setup = job->w->setup;
    treacle_viscosity_mean mean = setup->def->viscosity_solve.mean;
    bool is_scaled = rheology_is_needed(&setup->materials[job->material]);
    if (mean == TREACLE_VISCOSITY_GEOMETRIC) {
        return log_mu - (is_scaled ? setup->heat.law[job->material].log_mu : 0.0);
    }
    return is_scaled ? 0.0 : rheology_to_mean(mean, elementary_exp(log_mu));
}

static void add_law(void* data, int64_t begin, int64_t end) {
    const law_job* job = data;
    const liquid_work* w = job->w;
    const viscosity_law* law = &w->setup->heat.law[job->material];
    bool is_of_marker = law->def.of == TREACLE_LAW_OF_MARKER;
    const float* x = is_of_marker ? job->marker : job->temperature;
    for (int64_t i = begin * TILE_CELLS; i < end * TILE_CELLS; ++i) {
        float share = job->share == NULL ? 1.0f : job->share[i];
        bool counts = w->given.volume[i] > 0.0f && share > 0.0f;
        if (counts) {
            double log_mu = viscosity_law_eval(law, x == NULL ? 0.0 : (double)x[i]);
            w->material.base[i] += (float)((double)share * part_of(job, log_mu));
        }
    }
}

typedef struct law_columns {
    p2g_params params;
    float* column; // room for one of the particles'
} law_columns;

static treacle_status bring(liquid_work* w, const law_columns* columns, const float* from,
                            float** out) {
    TREACLE_TRY(
        arena_take_zero(w->scratch, w->values, sizeof(float), "what laws ask for", (void**)out));
    return p2g_scalar(&columns->params, from, *out, w->given.volume);
}

static treacle_status apply_laws(liquid_work* w, law_job* job, const law_columns* columns) {
    const tile_map* map = &w->state->map;
    for (job->material = 0; job->material < w->setup->material_count; ++job->material) {
        int mark = arena_mark(w->scratch);
        float* share = NULL;
        if (w->setup->material_count > 1) {
            particle_row_for(w->p, 4096, fill_shares, job);
            TREACLE_TRY(bring(w, columns, columns->column, &share));
        }
        job->share = share;
        if (w->setup->heat.law[job->material].def.kind != TREACLE_LAW_NONE) {
            tile_for_held(map, 8, add_law, job);
        }
        arena_give_to(w->scratch, mark);
    }
    return TREACLE_OK;
}

static treacle_status by_laws(liquid_work* w) {
    law_columns columns = {
        .params = {.domain = w->setup->domain, .map = &w->state->map, .from = w->p}};
    TREACLE_TRY(arena_take(w->scratch, (size_t)w->p->count, sizeof(float), "scalars of particles",
                           (void**)&columns.column));
    law_job job = {.w = w, .column = columns.column};
    float *temperature = NULL, *marker = NULL;
    if (w->euler != NULL) {
        TREACLE_TRY(euler_law_temperature(w, &job.temperature));
        return apply_laws(w, &job, &columns);
    }
    if (w->p->column[PARTICLE_TEMPERATURE] != NULL) {
        particle_row_for(w->p, 4096, fill_temperatures, &job);
        TREACLE_TRY(bring(w, &columns, columns.column, &temperature));
    }
    if (w->p->column[PARTICLE_MARKER] != NULL) {
        TREACLE_TRY(bring(w, &columns, particles_f32(w->p, PARTICLE_MARKER), &marker));
    }
    job.temperature = temperature;
    job.marker = marker;
    return apply_laws(w, &job, &columns);
}

treacle_status liquid_find_viscosity(liquid_work* w) {
    if (w->material.base == NULL || !w->setup->heat.has_law) {
        return TREACLE_OK;
    }
    int mark = arena_mark(w->scratch);
    treacle_status status = by_laws(w);
    arena_give_to(w->scratch, mark);
    return status;
}
