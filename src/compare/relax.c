// Pressure by relaxation, the method of Harlow and Welch and of Foster and Metaxas [S19 eq. 23,
// 24]: each cell in turn takes out its own divergence.
//
//     D_i = - sum over faces +-u_f                                          [S19 eq. 23]
//     p_i += beta D_i / (2 dt (1/dx^2 + 1/dy^2 + 1/dz^2))                   [S19 eq. 24]
//
// differs from [S19 eq. 23, 24]: the second term of the printed D has u for v, and the printed
// factor of D is upside down. With x = dt p / (rho_ref h) and at surfaces and walls it becomes
//
//     x_i += beta (b_i - (A x)_i) / A_ii                                              [relax.1]
//
// successive over-relaxation of [press.1]. Cells of one colour of a checkerboard do not see each
// other: they go in parallel, so the bits do not depend on threads. It converges like 1 - O(1/n) a
// sweep for n cells across and is here to be compared with.
#include "compare/relax.h"

#include <math.h>

#include "base/profile.h"
#include "grid/gather.h"
#include "grid/tile_loop.h"

typedef struct relax_job {
    const projection* p;
    const double* rhs;
    double* x;
    int colour;
} relax_job;

static size_t relax_place_of(const tile_map* map, tile_ix tile, const int cell[AXES]) {
    int side[AXES];
    for (int a = 0; a < AXES; ++a) {
        side[a] = block_side_of(cell[a]);
    }
    tile_ix at = map->neighbour[tile][TILE_NEIGHBOUR(side[0], side[1], side[2])];
    return (size_t)at * TILE_CELLS + (size_t)(block_row_at(cell[1], cell[2]) + (cell[0] & 7));
}

// The residual of one cell, and its diagonal.
static double residual_at(const relax_job* job, tile_ix tile, const int cell[AXES],
                          double* diagonal) {
    const projection* p = job->p;
    const tile_map* map = p->params->map;
    size_t own = relax_place_of(map, tile, cell);
    double sum = (double)p->cell_extra[own] * job->x[own];
    *diagonal = (double)p->cell_extra[own];
    for (int a = 0; a < AXES; ++a) {
        if (map->is_flat[a]) {
            continue;
        }
        int low[AXES] = {cell[0], cell[1], cell[2]}, high[AXES] = {cell[0], cell[1], cell[2]};
        low[a] -= 1;
        high[a] += 1;
        size_t below = relax_place_of(map, tile, low), above = relax_place_of(map, tile, high);
        double w_low = (double)p->face_w[a][own], w_high = (double)p->face_w[a][above];
        sum += w_low * (job->x[own] - job->x[below]) + w_high * (job->x[own] - job->x[above]);
        *diagonal += w_low + w_high;
    }
    return job->rhs[own] - sum;
}

static void relax_tiles(void* data, int64_t begin, int64_t end) {
    const relax_job* job = data;
    for (int64_t t = begin; t < end; ++t) {
        for (int i = 0; i < TILE_CELLS; ++i) {
            int cell[AXES] = {i % TILE_SIZE, i / TILE_SIZE % TILE_SIZE, i / TILE_SIZE / TILE_SIZE};
            if (((cell[0] + cell[1] + cell[2]) & 1) != job->colour) {
                continue;
            }
            double diagonal = 0.0, residual = residual_at(job, (tile_ix)t, cell, &diagonal);
            if (diagonal > 0.0) {
                job->x[t * TILE_CELLS + i] += RELAX_BETA * residual / diagonal; // [relax.1]
            }
        }
    }
}

static double square_of_tile(void* data, int64_t t) {
    const relax_job* job = data;
    double sum = 0.0;
    for (int i = 0; i < TILE_CELLS; ++i) {
        int cell[AXES] = {i % TILE_SIZE, i / TILE_SIZE % TILE_SIZE, i / TILE_SIZE / TILE_SIZE};
        double diagonal = 0.0, residual = residual_at(job, (tile_ix)t, cell, &diagonal);
        sum += diagonal > 0.0 ? residual * residual : 0.0;
    }
    return sum;
}

static double rhs_square_of_tile(void* data, int64_t t) {
    const relax_job* job = data;
    double sum = 0.0;
    for (int64_t i = t * TILE_CELLS; i < (t + 1) * TILE_CELLS; ++i) {
        sum += job->rhs[i] * job->rhs[i];
    }
    return sum;
}

void relax_pressure(const projection* p, double* rhs, double* cell_impulse, solve_stats* stats) {
    TREACLE_ASSERT(rhs != NULL && cell_impulse != NULL && rhs != cell_impulse);
    TREACLE_ASSERT(p->face_w[0] != NULL && p->cell_extra != NULL);
    TREACLE_ASSERT(p->params->solve.max_iterations > 0);
    const tile_map* map = p->params->map;
    const solve_params* params = &p->params->solve;
    relax_job job = {.p = p, .rhs = rhs, .x = cell_impulse};
    double began = profile_now();
    *stats = (solve_stats){0};
    stats->rhs_norm = sqrt(parallel_sum(map->ctx, map->count, rhs_square_of_tile, &job));
    stats->target = params->relative * stats->rhs_norm;
    stats->residual = stats->rhs_norm;
    while (stats->residual > stats->target && stats->iterations < params->max_iterations) {
        for (job.colour = 0; job.colour < 2; ++job.colour) {
            tile_for(map, &(tile_use){.reads = TILE_ANYWHERE, .grain = 4}, relax_tiles, &job);
        }
        stats->iterations += 1;
        stats->residual = sqrt(parallel_sum(map->ctx, map->count, square_of_tile, &job));
    }
    stats->is_converged = stats->residual <= stats->target;
    stats->seconds = profile_now() - began;
}
