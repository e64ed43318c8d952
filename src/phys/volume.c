// Density correction. Advection through a discretely divergence-free field still lets particles
// crowd and thin out, and a surface drawn round them loses or gains volume with every step. Here
// particles are moved by the gradient of a potential q that undoes it:
//
//     div d = c / c_0 - 1 =: s,     d = - grad q,     q = 0 on the surface                  [vol.1]
//
// c is the volume of particles that a cell sees through the linear kernel, mirrored at walls, in
// cells, and c_0 = 1 what it would see in evenly filled liquid. Deeper than a cell s has both
// signs; near the surface, where a cell sees air, and in cells that are mostly solid, only crowding
// (s > 0) counts, and nothing where a solid holds itself together [crack.1]. Velocity is not
// touched: this repairs an error of position. The system is that of the pressure [press.1] with
// unit density.
//
// Staggering: q, c at cells, d on faces. Symbols: cell_volume (c), cell_q, face_d.
// Properties that tests check: evenly spread particles stay; the spread falls; volume over a minute
// of sloshing. References: the idea of a displacement from a density defect is common in the field;
// [S19 sec. 4] names the lack of it as a weakness of the method.
#include "phys/volume.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "grid/tile_loop.h"
#include "phys/advect.h"

typedef struct volume_job {
    const volume_params* params;
    double* rhs;
    face_field face_d;
} volume_job;

static bool is_in_domain(const volume_params* params, tile_ix tile, int i) {
    const tile_coord* coord = &params->geometry->params->map->coord[tile];
    const int cell[AXES] = {i % TILE_SIZE, i / TILE_SIZE % TILE_SIZE, i / TILE_SIZE / TILE_SIZE};
    bool is_in = true;
    for (int a = 0; a < AXES; ++a) {
        int at = coord->at[a] * TILE_SIZE + cell[a];
        is_in = is_in && at < params->geometry->params->domain->cells[a];
    }
    return is_in;
}

// s of a cell, 0 outside the liquid [vol.1].
static double excess_at(const volume_params* params, tile_ix tile, int i) {
    const projection_params* geometry = params->geometry->params;
    size_t at = (size_t)tile * TILE_CELLS + (size_t)i;
    float phi = geometry->cell_phi[at];
    bool is_firm = params->cell_firm != NULL && params->cell_firm[at] > 0.5f;
    if (!(phi < 0.0f) || is_firm || !is_in_domain(params, tile, i)) {
        return 0.0;
    }
    double excess = (double)params->cell_volume[at] - 1.0;
    bool is_walled = params->cell_open != NULL && params->cell_open[at] < VOLUME_OPEN_MIN;
    return (phi > -1.0f || is_walled) && excess < 0.0 ? 0.0 : excess;
}

static void excess_tiles(void* data, int64_t begin, int64_t end) {
    const volume_job* job = data;
    for (int64_t t = begin; t < end; ++t) {
        for (int i = 0; i < TILE_CELLS; ++i) {
            double s = excess_at(job->params, (tile_ix)t, i);
            const float* open = job->params->cell_open;
            double room = open != NULL ? (double)open[t * TILE_CELLS + i] : 1.0;
            job->rhs[t * TILE_CELLS + i] = room * fmin(fmax(s, -0.5), 0.5);
        }
    }
}

typedef struct spread_job {
    const volume_params* params;
    bool is_count;
} spread_job;

static double spread_of_tile(void* data, int64_t t) {
    const spread_job* job = data;
    const float* phi = job->params->geometry->params->cell_phi + (size_t)t * TILE_CELLS;
    double sum = 0.0;
    for (int i = 0; i < TILE_CELLS; ++i) {
        if (phi[i] < -1.0f && is_in_domain(job->params, (tile_ix)t, i)) {
            double s = excess_at(job->params, (tile_ix)t, i);
            sum += job->is_count ? 1.0 : s * s;
        }
    }
    return sum;
}

static double spread_of(const volume_params* params) {
    const tile_map* map = params->geometry->params->map;
    spread_job squares = {params, false}, cells = {params, true};
    double count = tile_sum(map, spread_of_tile, &cells);
    double sum = tile_sum(map, spread_of_tile, &squares);
    return count > 0.0 ? sqrt(sum / count) : 0.0;
}

static void clamp_tiles(void* data, int64_t begin, int64_t end) {
    const volume_job* job = data;
    for (int a = 0; a < AXES; ++a) {
        for (int64_t i = begin * TILE_CELLS; i < end * TILE_CELLS; ++i) {
            float d = job->face_d.at[a][i];
            job->face_d.at[a][i] = fminf(fmaxf(d, -VOLUME_SHIFT_MAX), VOLUME_SHIFT_MAX);
        }
    }
}

static treacle_status solve_and_move(volume_job* job, double* cell_q, volume_stats* stats) {
    const projection* geometry = job->params->geometry;
    const tile_map* map = geometry->params->map;
    tile_for(map, &(tile_use){.reads = TILE_ALONE, .grain = 8}, excess_tiles, job);
    TREACLE_TRY(projection_solve(geometry, job->rhs, cell_q, &stats->solve));
    projection_subtract_gradient(geometry, cell_q, job->face_d.at);
    tile_for(map, &(tile_use){.reads = TILE_ALONE, .grain = 8}, clamp_tiles, job);
    face_velocity field = {.map = map, .domain = geometry->params->domain, .u = job->face_d};
    // Displacements are in cells: with dt = h the field moves by itself.
    advect_params params = {.scheme = TREACLE_ADVECTION_EULER,
                            .dt = field.domain->h,
                            .reach = (double)VOLUME_SHIFT_MAX};
    advect_particles(&field, job->params->p, &params);
    return TREACLE_OK;
}

treacle_status volume_correct(const volume_params* params, volume_stats* stats) {
    TREACLE_ASSERT(params->cell_volume != NULL && params->cell_volume != params->cell_open);
    TREACLE_ASSERT(params->geometry->params != NULL);
    TREACLE_ASSERT(params->p->tile_first[params->p->tile_count] == params->p->count);
    const tile_map* map = params->geometry->params->map;
    treacle_context* ctx = map->ctx;
    size_t values = ((size_t)map->count + 1) * TILE_CELLS;
    *stats = (volume_stats){.spread = spread_of(params)};
    volume_job job = {.params = params};
    void* faces = NULL;
    void* cells = NULL;
    treacle_status status = alloc_zero(ctx, AXES * values, sizeof(float), "displacements", &faces);
    if (status == TREACLE_OK) {
        status = alloc_zero(ctx, 2 * values, sizeof(double), "displacement potential", &cells);
    }
    if (status == TREACLE_OK) {
        for (int a = 0; a < AXES; ++a) {
            job.face_d.at[a] = (float*)faces + (size_t)a * values;
        }
        job.rhs = cells;
        status = solve_and_move(&job, job.rhs + values, stats);
    }
    alloc_free(ctx, faces, AXES * values * sizeof(float));
    alloc_free(ctx, cells, 2 * values * sizeof(double));
    return status;
}
