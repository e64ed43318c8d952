// Increments of a grid leave alone what differs between particles of a cell; conduction does not.
// With S for "to the cells and back",
//
//     T_p -= fraction (1 - S)^2 T_p,  fraction = 1 - exp(-pi^2 k dt / h^2) [heat.9]
//
// takes away what the grid cannot hold, as fast as waves of two cells decay, and next to nothing of
// what it can: once (1 - S) would be as much diffusion again. Sums of heat stay.
#include "phys/even_out.h"

#include "grid/tile_loop.h"
#include "math/elementary.h"
#include "particles/particle_loop.h"
#include "phys/g2p.h"
#include "phys/p2g.h"

#define PI 3.14159265358979323846
// Where a solid cuts kernels off S does not leave slopes as they are, and less of this is better.
#define NEAR_SOLIDS 0.2f
// A fraction below this is not worth the work.
#define FRACTION_LEAST 1e-4

typedef struct even_job {
    const float* value; // of particles, K
    const float* whole; // of particles, 0..1, how much of this is good; NULL: all
    float *mean, *part; // of particles, K
    double fraction;
} even_job;

static void find_part(void* data, int64_t begin, int64_t end) {
    const even_job* job = data;
    for (int64_t i = begin; i < end; ++i) {
        float whole = job->whole == NULL ? 1.0f : job->whole[i];
        job->part[i] = whole * (job->mean[i] - job->value[i]);
    }
}

static void give_part(void* data, int64_t begin, int64_t end) {
    const even_job* job = data;
    for (int64_t i = begin; i < end; ++i) {
        job->mean[i] = (float)(job->fraction * ((double)job->part[i] - (double)job->mean[i]));
    }
}

typedef struct whole_job {
    const float* cell_solid_phi;
    float* out; // at cells
} whole_job;

static void find_whole(void* data, int64_t begin, int64_t end) {
    const whole_job* job = data;
    for (int64_t i = begin * TILE_CELLS; i < end * TILE_CELLS; ++i) {
        job->out[i] = job->cell_solid_phi[i] >= 0.999f ? 1.0f : NEAR_SOLIDS;
    }
}

// Room at cells.
typedef struct even_cells {
    float *value, *weight;
} even_cells;

static treacle_status there_and_back(const even_out_params* params, const even_cells* cells,
                                     const float* column, float reference, float* out) {
    p2g_params to = {.domain = params->domain, .map = params->map, .from = params->p};
    p2g_column from = {.value = column, .weight = params->capacity, .reference = reference};
    TREACLE_TRY(p2g_weighted(&to, &from, cells->value, cells->weight));
    face_velocity on = {.map = params->map, .domain = params->domain};
    g2p_scalar(&on, params->p, cells->value, out);
    return TREACLE_OK;
}

static treacle_status find_near(const even_out_params* params, const even_cells* cells,
                                arena* scratch, even_job* job) {
    float* whole = NULL;
    if (params->cell_solid_phi == NULL) {
        return TREACLE_OK;
    }
    TREACLE_TRY(arena_take(scratch, (size_t)params->p->count, sizeof(float), "nearness of solids",
                           (void**)&whole));
    whole_job at_cells = {params->cell_solid_phi, cells->value};
    tile_for(params->map, &(tile_use){.reads = TILE_ANYWHERE, .grain = 8}, find_whole, &at_cells);
    face_velocity on = {.map = params->map, .domain = params->domain};
    g2p_scalar(&on, params->p, cells->value, whole);
    job->whole = whole;
    return TREACLE_OK;
}

treacle_status even_out(const even_out_params* params, double dt, arena* scratch, float** change) {
    TREACLE_ASSERT(dt > 0.0 && isfinite(dt));
    TREACLE_ASSERT(params->domain->h > 0.0 && params->diffusivity >= 0.0);
    TREACLE_ASSERT(params->value != NULL || params->p->count == 0);
    TREACLE_ASSERT(params->capacity != NULL);
    const particles* p = params->p;
    size_t count = (size_t)p->count, values = tile_map_values(params->map);
    double cells = PI / params->domain->h;
    even_job job = {.value = params->value};
    even_cells room;
    *change = NULL;
    job.fraction = 1.0 - elementary_exp(-params->diffusivity * dt * cells * cells);
    if (!(job.fraction > FRACTION_LEAST)) {
        return TREACLE_OK;
    }
    TREACLE_TRY(arena_take(scratch, count, sizeof(float), "means at particles", (void**)&job.mean));
    TREACLE_TRY(arena_take(scratch, count, sizeof(float), "rest of particles", (void**)&job.part));
    TREACLE_TRY(
        arena_take_zero(scratch, values, sizeof(float), "means at cells", (void**)&room.value));
    TREACLE_TRY(
        arena_take_zero(scratch, values, sizeof(float), "means at cells", (void**)&room.weight));
    TREACLE_TRY(find_near(params, &room, scratch, &job));
    TREACLE_TRY(there_and_back(params, &room, job.value, params->reference, job.mean));
    particle_for(p, &(particle_use){.span = PARTICLES_EACH, .grain = 4096}, find_part, &job);
    TREACLE_TRY(there_and_back(params, &room, job.part, 0.0f, job.mean));
    particle_for(p, &(particle_use){.span = PARTICLES_EACH, .grain = 4096}, give_part, &job);
    *change = job.mean;
    return TREACLE_OK;
}
