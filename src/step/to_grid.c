#include "step/to_grid.h"

#include <string.h>

#include "grid/tile_loop.h"
#include "particles/particle_loop.h"
#include "phys/p2g.h"
#include "step/keep_out.h"
#include "step/shrink.h"

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

static treacle_status mean_velocity(const step_frame* f, const particles* p, float out[AXES]) {
    mean_job job = {.p = p, .which = AXES};
    TREACLE_TRY(arena_take(f->scratch, (size_t)p->tile_count, MOMENTS * sizeof(double),
                           "moments of tiles", (void**)&job.moment));
    particle_for(p, &(particle_use){.span = PARTICLES_OWN_TILES, .grain = 1}, measure_moments,
                 &job);
    double volume = particle_sum(p, moment_of_tile, &job);
    for (job.which = 0; job.which < AXES; ++job.which) {
        double moment = particle_sum(p, moment_of_tile, &job);
        out[job.which] = volume > 0.0 ? (float)(moment / volume) : 0.0f;
    }
    arena_give(f->scratch, job.moment);
    return TREACLE_OK;
}

static p2g_params transfer_of(const step_frame* f, const tile_map* map, const particles* p,
                              const thin_view* thin) {
    return (p2g_params){.domain = f->setup->domain,
                        .map = map,
                        .from = p,
                        .kernel = f->setup->def->kernel,
                        .has_viscosity = liquid_is_viscous(f->setup),
                        .is_affine = f->setup->def->transfer == TREACLE_TRANSFER_APIC,
                        .density = f->setup->density,
                        .thin = thin};
}

treacle_status to_grid_column(const step_frame* f, const tile_map* map, const particles* p,
                              const thin_view* thin, const float* column, float* to) {
    TREACLE_ASSERT(to != NULL && (column != NULL || p->count == 0));
    p2g_params params = transfer_of(f, map, p, thin);
    float* unused = NULL;
    TREACLE_TRY(step_take_zero(f, map, "volumes at cells", &unused));
    treacle_status status = p2g_scalar(&params, column, to, unused);
    arena_give(f->scratch, unused);
    return status;
}

// What a particle brings to its cells.
typedef enum scalar_kind {
    SCALAR_DENSITY,  // over the reference
    SCALAR_BUOYANCY, // the weight that it has lost [force.1]
    SCALAR_FIRM,     // how much of it is a solid without a pressure [crack.1]
} scalar_kind;

static double buoyancy_of(const liquid_setup* setup, const particles* p, particle_ix i) {
    const treacle_material_def* m = &setup->materials[particles_material(p)[i]];
    const float* temperature = particles_f32(p, PARTICLE_TEMPERATURE);
    const float* marker = particles_f32(p, PARTICLE_MARKER);
    return m->expansion * ((double)temperature[i] - m->reference_temperature) +
           m->marker_buoyancy * (double)marker[i];
}

static float firm_part(const liquid_setup* setup, const particles* p, particle_ix i) {
    const float* melted = particles_f32(p, PARTICLE_MELTED);
    bool breaks = setup->strain_laws[particles_material(p)[i]].crack.last > 0.0;
    return !breaks ? 0.0f : melted != NULL ? 1.0f - melted[i] : 1.0f;
}

typedef struct scalar_job {
    const liquid_setup* setup;
    const particles* p;
    scalar_kind kind;
    float* out;
} scalar_job;

static void fill_scalars(void* data, int64_t begin, int64_t end) {
    const scalar_job* job = data;
    const uint8_t* material = particles_material(job->p);
    for (int64_t i = begin; i < end; ++i) {
        job->out[i] = job->kind == SCALAR_BUOYANCY ? (float)buoyancy_of(job->setup, job->p, i)
                      : job->kind == SCALAR_FIRM   ? firm_part(job->setup, job->p, i)
                                                   : job->setup->density[material[i]];
    }
}

// Volumes are compared with what is open around a cell, on both sides of a thin solid; but what a
// cell sees of them tells whether there is liquid on its own.
static treacle_status volumes_on_both_sides(const step_frame* f, const p2g_params* params,
                                            const float* column, particle_grid* out) {
    p2g_params all = *params;
    all.thin = NULL;
    float* unused = NULL;
    tile_copy(params->map, out->visible_volume, out->volume, TILE_CELLS * sizeof(float));
    TREACLE_TRY(step_take_zero(f, params->map, "densities at cells", &unused));
    treacle_status status = p2g_scalar(&all, column, unused, out->volume);
    arena_give(f->scratch, unused);
    return status;
}

// The volume of particles at cells comes along with every one of them.
static treacle_status scalars_to_grid(const step_frame* f, const p2g_params* params,
                                      scalar_kind kind, float* to, particle_grid* out) {
    float* column = NULL;
    TREACLE_TRY(arena_take(f->scratch, (size_t)params->from->count, sizeof(float),
                           "scalars of particles", (void**)&column));
    scalar_job job = {f->setup, params->from, kind, column};
    particle_for(params->from,
                 &(particle_use){.span = PARTICLES_EACH_NEAR, .grain = 4096, .map = params->map},
                 fill_scalars, &job);
    treacle_status status = p2g_scalar(params, column, to, out->volume);
    if (status == TREACLE_OK && kind == SCALAR_DENSITY && out->thin.count > 0) {
        status = volumes_on_both_sides(f, params, column, out);
    }
    arena_give(f->scratch, column);
    return status;
}

// What particles give to the grid, of columns.
static const uint32_t given_columns = 1u << PARTICLE_POSITION | 1u << PARTICLE_VELOCITY |
                                      1u << PARTICLE_VOLUME | 1u << PARTICLE_MATERIAL |
                                      1u << PARTICLE_AFFINE | 1u << PARTICLE_LOG_FACTOR;

// FLIP asks for what the flow changes.
static treacle_status keep_velocity(const step_frame* f, const liquid_state* state,
                                    particle_grid* out) {
    TREACLE_TRY(step_take_faces_zero(f, &state->map, "velocity before the flow", &out->face_u));
    for (int a = 0; a < AXES; ++a) {
        tile_copy(&state->map, out->face_u.at[a], state->face_u.at[a], TILE_CELLS * sizeof(float));
    }
    return TREACLE_OK;
}

treacle_status to_grid(const step_frame* f, const solid_poses* poses, particles* p,
                       liquid_state* state, particle_grid* out) {
    TREACLE_ASSERT(state->face_u.at[0] != NULL && state->map.count >= 0);
    TREACLE_ASSERT(f->setup->solids.count == 0 || poses->to != NULL);
    const tile_map* map = &state->map;
    *out = (particle_grid){0};
    particle_ranks_halo(map, p, given_columns);
    TREACLE_TRY(keep_out_look(f, p, poses->to, f->setup->def->kernel, &out->thin));
    p2g_params params = transfer_of(f, map, p, &out->thin);
    TREACLE_TRY(mean_velocity(f, p, params.reference));
    TREACLE_TRY(step_take_faces_zero(f, map, "masses on faces", &out->face_mass));
    TREACLE_TRY(step_take_zero(f, map, "densities at cells", &out->density));
    TREACLE_TRY(step_take_zero(f, map, "volumes at cells", &out->volume));
    if (out->thin.count > 0) {
        TREACLE_TRY(step_take_zero(f, map, "volumes in sight of cells", &out->visible_volume));
    }
    if (f->setup->has.buoyancy) {
        TREACLE_TRY(step_take_zero(f, map, "buoyancy at cells", &out->buoyancy));
        TREACLE_TRY(scalars_to_grid(f, &params, SCALAR_BUOYANCY, out->buoyancy, out));
    }
    if (f->setup->has.cracks) {
        TREACLE_TRY(step_take_zero(f, map, "what is firm at cells", &out->firm));
        TREACLE_TRY(scalars_to_grid(f, &params, SCALAR_FIRM, out->firm, out));
    }
    TREACLE_TRY(scalars_to_grid(f, &params, SCALAR_DENSITY, out->density, out));
    TREACLE_TRY(p2g_velocity(&params, state->face_u.at, out->face_mass.at));
    if (f->setup->def->transfer == TREACLE_TRANSFER_FLIP) {
        TREACLE_TRY(keep_velocity(f, state, out));
    }
    return shrink_to_grid(f, map, p, out);
}
