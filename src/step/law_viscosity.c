#include "step/law_viscosity.h"

#include "grid/tile_loop.h"
#include "math/elementary.h"
#include "particles/particle_loop.h"
#include "phys/p2g.h"
#include "phys/rheology.h"

typedef struct law_job {
    const liquid_setup* setup;
    const particles* p;
    const particle_grid* given;
    float* newtonian;
    int material;                      // whose fraction is asked for
    float* column;                     // of particles
    const float* fraction;             // of a material at cells; NULL: all is of one
    const float *temperature, *marker; // at cells; NULL where no law asks
} law_job;

static void fill_fractions(void* data, int64_t begin, int64_t end) {
    const law_job* job = data;
    const uint8_t* material = particles_material(job->p);
    for (int64_t i = begin; i < end; ++i) {
        job->column[i] = material[i] == job->material ? 1.0f : 0.0f;
    }
}

static void fill_temperatures(void* data, int64_t begin, int64_t end) {
    const law_job* job = data;
    const particles* p = job->p;
    const heat_setup* heat = &job->setup->heat;
    const float *temperature = particles_f32(p, PARTICLE_TEMPERATURE),
                *melted = particles_f32(p, PARTICLE_MELTED);
    for (int64_t i = begin; i < end; ++i) {
        const heat_curve* curve = &heat->curve[particles_material(p)[i]];
        job->column[i] = melted != NULL
                             ? heat_curve_law_temperature(curve, temperature[i], melted[i])
                             : temperature[i];
    }
}

// As the base has it. A material that is not Newtonian is thickened as if its viscosity were.
static double part_of(const law_job* job, double log_mu) {
    const liquid_setup* setup = job->setup;
    treacle_viscosity_mean mean = setup->def->viscosity_solve.mean;
    bool is_scaled = rheology_is_needed(&setup->materials[job->material]);
    if (mean == TREACLE_VISCOSITY_GEOMETRIC) {
        return log_mu - (is_scaled ? setup->heat.law[job->material].log_mu : 0.0);
    }
    return is_scaled ? 0.0 : rheology_to_mean(mean, elementary_exp(log_mu));
}

static void add_law(void* data, int64_t begin, int64_t end) {
    const law_job* job = data;
    const viscosity_law* law = &job->setup->heat.law[job->material];
    bool is_of_marker = law->def.of == TREACLE_LAW_OF_MARKER;
    const float* x = is_of_marker ? job->marker : job->temperature;
    for (int64_t i = begin * TILE_CELLS; i < end * TILE_CELLS; ++i) {
        float fraction = job->fraction == NULL ? 1.0f : job->fraction[i];
        bool counts = job->given->volume[i] > 0.0f && fraction > 0.0f;
        if (counts) {
            double log_mu = viscosity_law_eval(law, x == NULL ? 0.0 : (double)x[i]);
            job->newtonian[i] += (float)((double)fraction * part_of(job, log_mu));
        }
    }
}

typedef struct law_columns {
    const step_frame* f;
    p2g_params params;
    float* column; // room for one of the particles'
    float* weight; // room for what cells see of the particles' volume
} law_columns;

static treacle_status bring(const law_columns* columns, const float* from, float** out) {
    TREACLE_TRY(step_take_zero(columns->f, columns->params.map, "what laws ask for", out));
    return p2g_scalar(&columns->params, from, *out, columns->weight);
}

static treacle_status apply_laws(law_job* job, const law_columns* columns) {
    const liquid_setup* setup = job->setup;
    arena* scratch = columns->f->scratch;
    for (job->material = 0; job->material < setup->material_count; ++job->material) {
        int mark = arena_mark(scratch);
        float* fraction = NULL;
        if (setup->material_count > 1) {
            particle_for(job->p, &(particle_use){.span = PARTICLES_EACH, .grain = 4096},
                         fill_fractions, job);
            TREACLE_TRY(bring(columns, columns->column, &fraction));
        }
        job->fraction = fraction;
        if (setup->heat.law[job->material].def.kind != TREACLE_LAW_NONE) {
            tile_for(columns->params.map, &(tile_use){.reads = TILE_ALONE, .grain = 8}, add_law,
                     job);
        }
        arena_give_to(scratch, mark);
    }
    return TREACLE_OK;
}

typedef struct cell_job {
    const heat_curve* curve;
    const float *temperature, *melted;
    float* out;
} cell_job;

static void see_tiles(void* data, int64_t begin, int64_t end) {
    const cell_job* job = data;
    for (int64_t i = begin * TILE_CELLS; i < end * TILE_CELLS; ++i) {
        float t = job->temperature[i];
        job->out[i] =
            job->melted != NULL ? heat_curve_law_temperature(job->curve, t, job->melted[i]) : t;
    }
}

// Where the grid carries heat.
static treacle_status see_cells(const step_frame* f, const liquid_state* state, float** out) {
    TREACLE_TRY(step_take_zero(f, &state->map, "what laws ask for", out));
    cell_job job = {&f->setup->heat.curve[0], state->carried[CARRIED_TEMPERATURE],
                    state->carried[CARRIED_MELTED], *out};
    tile_for(&state->map, &(tile_use){.reads = TILE_ANYWHERE, .grain = 8}, see_tiles, &job);
    return TREACLE_OK;
}

static treacle_status by_laws(const step_frame* f, const liquid_state* state, const particles* p,
                              const particle_grid* given, float* newtonian) {
    law_columns columns = {.f = f,
                           .params = {.domain = f->setup->domain, .map = &state->map, .from = p}};
    TREACLE_TRY(arena_take(f->scratch, (size_t)p->count, sizeof(float), "scalars of particles",
                           (void**)&columns.column));
    TREACLE_TRY(step_take(f, &state->map, "volumes at cells", &columns.weight));
    law_job job = {.setup = f->setup,
                   .p = p,
                   .given = given,
                   .newtonian = newtonian,
                   .column = columns.column};
    float *temperature = NULL, *marker = NULL;
    if (state->carried[CARRIED_TEMPERATURE] != NULL) {
        TREACLE_TRY(see_cells(f, state, &temperature));
        job.temperature = temperature;
        return apply_laws(&job, &columns);
    }
    if (p->column[PARTICLE_TEMPERATURE] != NULL) {
        particle_for(p, &(particle_use){.span = PARTICLES_EACH, .grain = 4096}, fill_temperatures,
                     &job);
        TREACLE_TRY(bring(&columns, columns.column, &temperature));
    }
    if (p->column[PARTICLE_MARKER] != NULL) {
        TREACLE_TRY(bring(&columns, particles_f32(p, PARTICLE_MARKER), &marker));
    }
    job.temperature = temperature;
    job.marker = marker;
    return apply_laws(&job, &columns);
}

treacle_status law_viscosity_add(const step_frame* f, const liquid_state* state, const particles* p,
                                 const particle_grid* given, material_grid* out) {
    TREACLE_ASSERT(out->newtonian == NULL || given->volume != NULL);
    if (out->newtonian == NULL || !f->setup->heat.has_law) {
        return TREACLE_OK;
    }
    int mark = arena_mark(f->scratch);
    treacle_status status = by_laws(f, state, p, given, out->newtonian);
    arena_give_to(f->scratch, mark);
    return status;
}
