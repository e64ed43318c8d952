// Material that cools or dries shrinks. With b_T and b_m of its material, what a particle loses of
// its volume per kelvin and per unit of its marker, its volume is
//
//     V = V_0 exp(e - e_0),   e = b_T T + b_m m                                         [shrink.1]
//
// V_0 and e_0 are those of its birth; V_0 times the density of the material is its mass, which
// stays. Over a step in which heat has changed e by de the flow is asked for
//
//     div u = (exp(de) - 1) / dt =: s                                                   [shrink.2]
//
// and elastic strain, which is what is left of the stretch, follows
//
//     D' = D - (s / d) I,   d the number of axes of the domain                          [shrink.3]
//
// in place of D: material that is free to shrink has no stress, material that is held is pulled. In
// a plane it shrinks in the plane alone. The trace of D' is zero.
//
// Staggering: e at particles, s at cells, by the linear kernel. Symbols: PARTICLE_REST_SIZE (e_0),
// log_sizes (e - e_0), cell_rate (s), source (s h, of what solids leave open).
// Properties that tests check: sizes for known states; a free block shrinks by just that and stays
// without stress; a bar that is held has the stress of its law; the account is closed.
#include "phys/shrinkage.h"

#include <math.h>

#include "grid/tile_loop.h"
#include "math/elementary.h"
#include "particles/particle_loop.h"

typedef struct size_job {
    const treacle_material_def* materials;
    const particles* p;
    double* out;
} size_job;

static double exponent(const treacle_material_def* materials, const particles* p, particle_ix i) {
    const treacle_shrinkage_def* law = &materials[particles_material(p)[i]].shrinkage;
    const float* temperature = particles_f32(p, PARTICLE_TEMPERATURE);
    const float* marker = particles_f32(p, PARTICLE_MARKER);
    return (temperature != NULL ? law->cooling * (double)temperature[i] : 0.0) +
           (marker != NULL ? law->drying * (double)marker[i] : 0.0);
}

void shrinkage_begin(const treacle_material_def* materials, const particles* p, particle_ix first) {
    TREACLE_ASSERT(first >= 0 && first <= p->count);
    float* rest = particles_f32(p, PARTICLE_REST_SIZE);
    for (particle_ix i = first; rest != NULL && i < p->count; ++i) {
        rest[i] = (float)exponent(materials, p, i);
    }
}

// log of a particle's volume over that of its column [shrink.1].
static double log_size(const size_job* job, particle_ix i) {
    const float* rest = particles_f32(job->p, PARTICLE_REST_SIZE);
    return exponent(job->materials, job->p, i) - (double)rest[i];
}

static void find_sizes(void* data, int64_t begin, int64_t end) {
    const size_job* job = data;
    for (int64_t i = begin; i < end; ++i) {
        job->out[i] = log_size(job, i);
    }
}

void shrinkage_log_sizes(const treacle_material_def* materials, const particles* p, double* out) {
    TREACLE_ASSERT(p->column[PARTICLE_REST_SIZE] != NULL);
    TREACLE_ASSERT(out != NULL || p->count == 0);
    size_job job = {materials, p, out};
    particle_for(p, &(particle_use){.span = PARTICLES_EACH, .grain = 4096}, find_sizes, &job);
}

static double volume_of(const size_job* job, particle_ix i) {
    double volume = (double)particles_f32(job->p, PARTICLE_VOLUME)[i];
    return volume * elementary_exp(log_size(job, i));
}

typedef struct volume_job {
    size_job of;
    float* out;
} volume_job;

static void find_volumes(void* data, int64_t begin, int64_t end) {
    const volume_job* job = data;
    for (int64_t i = begin; i < end; ++i) {
        job->out[i] = (float)volume_of(&job->of, i);
    }
}

void shrinkage_volumes(const treacle_material_def* materials, const particles* p, float* out) {
    TREACLE_ASSERT(p->column[PARTICLE_REST_SIZE] != NULL);
    TREACLE_ASSERT(out != NULL || p->count == 0);
    volume_job job = {{materials, p, NULL}, out};
    particle_for(p, &(particle_use){.span = PARTICLES_EACH, .grain = 4096}, find_volumes, &job);
}

static double volume_of_tile(void* data, int64_t tile) {
    const size_job* job = data;
    double sum = 0.0;
    for (particle_ix i = job->p->tile_first[tile]; i < job->p->tile_first[tile + 1]; ++i) {
        sum += volume_of(job, i);
    }
    return sum;
}

double shrinkage_volume(const treacle_material_def* materials, const particles* p) {
    TREACLE_ASSERT(p->column[PARTICLE_REST_SIZE] != NULL);
    size_job job = {materials, p, NULL};
    return particle_sum(p, volume_of_tile, &job);
}

typedef struct rate_job {
    const double *before, *after;
    double dt;
    float* out;
} rate_job;

static void find_rates(void* data, int64_t begin, int64_t end) {
    const rate_job* job = data;
    for (int64_t i = begin; i < end; ++i) {
        double change = job->after[i] - job->before[i];
        job->out[i] = (float)((elementary_exp(change) - 1.0) / job->dt);
    }
}

void shrinkage_rates(const particles* p, const double* before, const double* after, double dt,
                     float* out) {
    TREACLE_ASSERT(dt > 0.0 && isfinite(dt));
    TREACLE_ASSERT(p->count == 0 || (before != NULL && after != NULL && before != after));
    rate_job job = {before, after, dt, out};
    particle_for(p, &(particle_use){.span = PARTICLES_EACH, .grain = 4096}, find_rates, &job);
}

static void raise_sizes(void* data, int64_t begin, int64_t end) {
    const rate_job* job = data;
    for (int64_t i = begin; i < end; ++i) {
        job->out[i] = (float)elementary_exp(job->before[i]);
    }
}

void shrinkage_sizes(const particles* p, const double* log_sizes, float* out) {
    TREACLE_ASSERT(p->count == 0 || (log_sizes != NULL && out != NULL));
    rate_job job = {.before = log_sizes, .out = out};
    particle_for(p, &(particle_use){.span = PARTICLES_EACH, .grain = 4096}, raise_sizes, &job);
}

// --- at cells ------------------------------------------------------------------------------------

typedef struct source_job {
    const shrinkage_flow* flow;
    float* source;
} source_job;

static void fill_source(void* data, int64_t begin, int64_t end) {
    const source_job* job = data;
    const shrinkage_flow* flow = job->flow;
    for (int64_t i = begin * TILE_CELLS; i < end * TILE_CELLS; ++i) {
        double open = flow->cell_open != NULL ? (double)flow->cell_open[i] : 1.0;
        job->source[i] = (float)((double)flow->cell_rate[i] * flow->domain->h * open);
    }
}

void shrinkage_source(const shrinkage_flow* flow, float* source) {
    TREACLE_ASSERT(flow->cell_rate != NULL && source != NULL && source != flow->cell_rate);
    source_job job = {flow, source};
    tile_for(flow->map, &(tile_use){.reads = TILE_ANYWHERE, .grain = 8}, fill_source, &job);
}

double shrinkage_most(const tile_map* map, const float* source) {
    TREACLE_ASSERT(source != NULL);
    float most = 0.0f;
    for (int64_t i = 0; i < (int64_t)map->count * TILE_CELLS; ++i) {
        most = fmaxf(most, fabsf(source[i]));
    }
    return (double)most;
}
