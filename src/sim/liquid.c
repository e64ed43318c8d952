// The stages of a step that work on the grid; see the header for their order.
#include "sim/liquid.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/parallel.h"
#include "base/parallel_sum.h"
#include "grid/tile_ranks.h"
#include "particles/particle_ranks.h"
#include "phys/p2g.h"
#include "step/keep_out.h"

static treacle_status take_field(liquid_work* w, const char* name, float** out) {
    return arena_take_zero(w->scratch, w->values, sizeof(float), name, (void**)out);
}

static treacle_status take_faces(liquid_work* w, const char* name, float* out[AXES]) {
    for (int a = 0; a < AXES; ++a) {
        TREACLE_TRY(take_field(w, name, &out[a]));
    }
    return TREACLE_OK;
}

// --- particles to grid -------------------------------------------------------------------------

// Volume and its moments with velocity.
enum { MOMENTS = AXES + 1 };
typedef struct mean_job {
    const particles* p;
    double* moment; // [tiles][MOMENTS]
    int which;
} mean_job;

static void measure_moments(void* data, int64_t begin, int64_t end) {
    const mean_job* job = data;
    const float* volume = particles_f32(job->p, PARTICLE_VOLUME);
    const float* velocity = particles_f32(job->p, PARTICLE_VELOCITY);
    for (int64_t tile = begin; tile < end; ++tile) {
        double sum[MOMENTS] = {0};
        for (particle_ix i = job->p->tile_first[tile]; i < job->p->tile_first[tile + 1]; ++i) {
            for (int a = 0; a < AXES; ++a) {
                sum[a] += (double)volume[i] * (double)velocity[AXES * i + a];
            }
            sum[AXES] += (double)volume[i];
        }
        memcpy(job->moment + MOMENTS * tile, sum, sizeof(sum));
    }
}

static double moment_of_tile(void* data, int64_t tile) {
    const mean_job* job = data;
    return job->moment[MOMENTS * tile + job->which];
}

static treacle_status mean_velocity(const liquid_work* w, float out[AXES]) {
    const grid_domain* domain = w->setup->domain;
    mean_job job = {.p = w->p, .which = AXES};
    TREACLE_TRY(arena_take(w->scratch, (size_t)w->p->tile_count, MOMENTS * sizeof(double),
                           "moments of tiles", (void**)&job.moment));
    particle_ranks_for(domain, w->p, 1, measure_moments, &job);
    double volume = particle_ranks_sum(domain, w->p, moment_of_tile, &job);
    for (job.which = 0; job.which < AXES; ++job.which) {
        double moment = particle_ranks_sum(domain, w->p, moment_of_tile, &job);
        out[job.which] = volume > 0.0 ? (float)(moment / volume) : 0.0f;
    }
    arena_give(w->scratch, job.moment);
    return TREACLE_OK;
}

static p2g_params transfer_of(const liquid_work* w) {
    return (p2g_params){.domain = w->setup->domain,
                        .map = &w->state->map,
                        .from = w->p,
                        .kernel = w->setup->def->kernel,
                        .has_viscosity = liquid_is_viscous(w->setup),
                        .is_affine = w->setup->def->transfer == TREACLE_TRANSFER_APIC,
                        .density = w->setup->density,
                        .thin = &w->given.thin};
}

treacle_status liquid_column_to_grid(liquid_work* w, const float* column, float* to) {
    p2g_params params = transfer_of(w);
    return p2g_scalar(&params, column, to, w->given.volume);
}

// What a particle brings to its cells.
typedef enum scalar_kind {
    SCALAR_DENSITY,  // over the reference
    SCALAR_BUOYANCY, // the weight that it has lost [force.1]
} scalar_kind;

static double buoyancy_of(const liquid_work* w, particle_ix i) {
    const treacle_material_def* m = &w->setup->materials[particles_material(w->p)[i]];
    const float* temperature = particles_f32(w->p, PARTICLE_TEMPERATURE);
    const float* marker = particles_f32(w->p, PARTICLE_MARKER);
    return m->expansion * ((double)temperature[i] - m->reference_temperature) +
           m->marker_buoyancy * (double)marker[i];
}

typedef struct scalar_job {
    const liquid_work* w;
    scalar_kind kind;
    float* out;
} scalar_job;

static void fill_scalars(void* data, int64_t begin, int64_t end) {
    const scalar_job* job = data;
    const liquid_setup* setup = job->w->setup;
    const uint8_t* material = particles_material(job->w->p);
    for (int64_t i = begin; i < end; ++i) {
        job->out[i] = job->kind == SCALAR_BUOYANCY ? (float)buoyancy_of(job->w, i)
                                                   : setup->density[material[i]];
    }
}

// Volumes are compared with what is open around a cell, on both sides of a thin solid; but what a
// cell sees of them tells whether there is liquid on its own.
static treacle_status volumes_on_both_sides(liquid_work* w, const p2g_params* params,
                                            const float* column) {
    p2g_params all = *params;
    all.thin = NULL;
    float* unused = NULL;
    tile_copy(&w->state->map, w->given.seen, w->given.volume, TILE_CELLS * sizeof(float));
    TREACLE_TRY(take_field(w, "densities at cells", &unused));
    treacle_status status = p2g_scalar(&all, column, unused, w->given.volume);
    arena_give(w->scratch, unused);
    return status;
}

// The volume of particles at cells comes along with every one of them.
static treacle_status scalars_to_grid(liquid_work* w, const p2g_params* params, scalar_kind kind,
                                      float* to) {
    float* column = NULL;
    TREACLE_TRY(arena_take(w->scratch, (size_t)w->p->count, sizeof(float), "scalars of particles",
                           (void**)&column));
    scalar_job job = {w, kind, column};
    particle_ranks_near(w->setup->domain, &w->state->map, w->p, fill_scalars, &job);
    treacle_status status = p2g_scalar(params, column, to, w->given.volume);
    if (status == TREACLE_OK && kind == SCALAR_DENSITY && w->given.thin.count > 0) {
        status = volumes_on_both_sides(w, params, column);
    }
    arena_give(w->scratch, column);
    return status;
}

// What particles give to the grid, of columns.
static const uint32_t given_columns = 1u << PARTICLE_POSITION | 1u << PARTICLE_VELOCITY |
                                      1u << PARTICLE_VOLUME | 1u << PARTICLE_MATERIAL |
                                      1u << PARTICLE_AFFINE | 1u << PARTICLE_LOG_FACTOR;

treacle_status liquid_to_grid(liquid_work* w) {
    step_frame f = liquid_frame(w);
    particle_ranks_halo(w->setup->domain, &w->state->map, w->p, given_columns);
    TREACLE_TRY(keep_out_look(&f, w->p, w->poses.to, f.setup->def->kernel, &w->given.thin));
    p2g_params params = transfer_of(w);
    TREACLE_TRY(mean_velocity(w, params.reference));
    TREACLE_TRY(take_faces(w, "masses on faces", w->given.face_mass.at));
    TREACLE_TRY(take_field(w, "densities at cells", &w->given.density));
    TREACLE_TRY(take_field(w, "volumes at cells", &w->given.volume));
    if (w->given.thin.count > 0) {
        TREACLE_TRY(take_field(w, "volumes in sight of cells", &w->given.seen));
    }
    if (w->setup->has_buoyancy) {
        TREACLE_TRY(take_field(w, "buoyancy at cells", &w->given.buoyancy));
        TREACLE_TRY(scalars_to_grid(w, &params, SCALAR_BUOYANCY, w->given.buoyancy));
    }
    if (liquid_is_viscous(w->setup)) {
        TREACLE_TRY(liquid_viscosity_to_grid(w));
    }
    TREACLE_TRY(liquid_elastic_begin(w));
    TREACLE_TRY(scalars_to_grid(w, &params, SCALAR_DENSITY, w->given.density));
    TREACLE_TRY(p2g_velocity(&params, w->state->face_u.at, w->given.face_mass.at));
    if (w->setup->def->transfer == TREACLE_TRANSFER_FLIP) {
        TREACLE_TRY(take_faces(w, "velocity before the flow", w->given.face_u.at));
        for (int a = 0; a < AXES; ++a) {
            tile_copy(&w->state->map, w->given.face_u.at[a], w->state->face_u.at[a],
                      TILE_CELLS * sizeof(float));
        }
    }
    bool comes_later = liquid_has_heat(w->setup) && !w->is_first; // when heat has done its work
    return comes_later ? TREACLE_OK : liquid_find_viscosity(w);
}
