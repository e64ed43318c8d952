// Implicit viscosity with the true free surface [BB08 sec. 5].
//
//     rho (u - u*) / dt = div tau,   tau = mu (grad u + grad u^T),   tau n = 0 on the surface
//
// is the minimum over u of [BB08 eq. 11]
//
//     E(u) = 1/2 sum_f rho V_f (u_f - u*_f)^2 + dt sum_s mu V_s eps : eps                  [visc.1]
//
// with eps = (grad u + grad u^T)/2, V_f the share of liquid of the box around a face and V_s that
// around a stress sample: cells for eps_aa, edges for eps_ab. There are no boundary rows at the
// surface: where V_s is 0 there is no stress, and that is the free surface. A rigid motion has
// eps = 0 and costs nothing. Over rho_ref and with r = dt / (rho_ref h^2):
//
//     mass at faces     rho_f / rho_ref V_f
//     weight at cells   r mu V_c                weight at edges   r mu V_e                 [visc.2]
//
// Walls lie on grid planes. Faces on a wall are fixed. The edges on a wall hold the shear between
// the liquid and the wall, half a cell away: with the wall's velocity at the mirror place of the
// face, a full cell away, the weight must be doubled at a no-slip side [visc.3] and is 0 at a slip
// side. On an open side half of each box lies outside.
//
// Between samples viscosity is the geometric mean: log mu is averaged [CMVT02 sec. 5.2].
//
// Staggering: u, V_f on faces, mu, V_c at cells, V_e at edges along the third axis.
// Symbols: volume (V), cell_log_mu, face_rho (rho_f / rho_ref).
// Properties that tests check: rigid motion is free; momentum is kept; a film's profile.
#include "phys/viscosity.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/parallel.h"
#include "grid/gather.h"
#include "math/elementary.h"
#include "solve/viscosity_solver.h"

typedef struct visc_job {
    const viscosity_params* params;
    float *cell, *edge[AXES], *mass[AXES]; // weights, [count + 1][512]
    uint8_t* fixed;                        // [count + 1][512], bit a
    double *rhs, *u, *held;                // [count + 1][3][512]
    float* const* face_u;
} visc_job;

static bool is_inside(const grid_domain* domain, const int at[AXES]) {
    return at[0] < domain->cells[0] && at[1] < domain->cells[1] && at[2] < domain->cells[2];
}

// What a place on the side of axis a at index `at` does to a weight there [visc.3]; 1 inside.
static double side_factor(const grid_domain* domain, int a, int at, double no_slip) {
    bool is_side =
        domain->is_active[a] && !domain->is_periodic[a] && (at == 0 || at == domain->cells[a]);
    if (!is_side) {
        return at < domain->cells[a] ? 1.0 : 0.0;
    }
    switch (domain->sides[a][at == 0 ? 0 : 1]) {
    case TREACLE_SIDE_NO_SLIP:
        return no_slip;
    case TREACLE_SIDE_OPEN:
        return 0.5;
    case TREACLE_SIDE_SLIP:
    case TREACLE_SIDE_PERIODIC:
        break;
    }
    return 0.0;
}

// r times the geometric mean of the viscosities of cells; 0 if none is known [CMVT02 sec. 5.2].
static double mean_weight(const viscosity_params* p, int count, const float* const log_mu[]) {
    double sum = 0.0;
    int known = 0;
    for (int i = 0; i < count; ++i) {
        bool is_known = *log_mu[i] > VISCOSITY_NONE;
        sum += is_known ? (double)*log_mu[i] : 0.0;
        known += is_known;
    }
    double r = p->dt / (p->reference_density * p->domain->h * p->domain->h);
    return known > 0 ? r * elementary_exp(sum / known) : 0.0;
}

// Edge along c: between the axes a and b.
static float edge_weight(const visc_job* job, int c, const int at[AXES], double volume,
                         const float* log_mu) {
    const grid_domain* domain = job->params->domain;
    int a = (c + 1) % AXES, b = (c + 2) % AXES;
    static const int side = BLOCK_SIDE(1, 0);
    const int step[AXES] = {1, side, side * side};
    if (!domain->is_active[a] || !domain->is_active[b] || at[c] >= domain->cells[c]) {
        return 0.0f;
    }
    double factor = side_factor(domain, a, at[a], 2.0) * side_factor(domain, b, at[b], 2.0);
    if (!(volume * factor > 0.0)) {
        return 0.0f;
    }
    const float* const around[] = {log_mu, log_mu - step[a], log_mu - step[b],
                                   log_mu - step[a] - step[b]};
    return (float)(mean_weight(job->params, 4, around) * volume * factor); // [visc.2]
}

static float face_mass(const visc_job* job, int a, const int at[AXES], size_t i) {
    const viscosity_params* p = job->params;
    const float* rho = p->face_rho[a];
    bool has_liquid = p->face_open[a][i] > 0.0f && (rho == NULL || isfinite(rho[i]));
    double factor = side_factor(p->domain, a, at[a], 0.0);
    double density = rho == NULL ? 1.0 : (double)rho[i];
    return has_liquid ? (float)(density * (double)p->volume.face[a][i] * factor) : 0.0f;
}

static void weigh_cell(const visc_job* job, tile_ix tile, int q, const float* log_mu) {
    const viscosity_params* p = job->params;
    const grid_domain* domain = p->domain;
    int at[AXES];
    tile_cell_at(p->map, tile, q, at);
    size_t i = (size_t)tile * TILE_CELLS + (size_t)q;
    if (is_inside(domain, at) && p->volume.cell[i] > 0.0f) {
        job->cell[i] = (float)(mean_weight(p, 1, &log_mu) * (double)p->volume.cell[i]);
    }
    for (int a = 0; a < AXES; ++a) {
        job->edge[a][i] = edge_weight(job, a, at, (double)p->volume.edge[a][i], log_mu);
        job->mass[a][i] = domain->is_active[a] ? face_mass(job, a, at, i) : 0.0f;
        bool is_held = !domain->is_active[a] || !(p->face_open[a][i] > 0.0f) ||
                       (p->face_rho[a] != NULL && isinf(p->face_rho[a][i]));
        job->fixed[i] |= (uint8_t)(is_held ? 1u << a : 0u);
    }
}

static void weigh_tiles(void* data, int64_t begin, int64_t end, int worker) {
    const visc_job* job = data;
    const tile_map* map = job->params->map;
    (void)worker;
    for (int64_t t = begin; t < end; ++t) {
        float log_mu[BLOCK_VALUES(1, 0)];
        gather_block(map, job->params->cell_log_mu, (tile_ix)t, 1, 0, log_mu);
        for (int z = 0; z < tile_layers(map, 2); ++z) {
            for (int y = 0; y < tile_layers(map, 1); ++y) {
                for (int x = 0; x < tile_layers(map, 0); ++x) {
                    weigh_cell(job, (tile_ix)t, (z * TILE_SIZE + y) * TILE_SIZE + x,
                               log_mu + BLOCK_INDEX(1, 0, x, y, z));
                }
            }
        }
    }
}

// rhs = M u*, the first guess u*, and the velocities of fixed faces.
static void load_tiles(void* data, int64_t begin, int64_t end, int worker) {
    const visc_job* job = data;
    (void)worker;
    for (int64_t t = begin; t < end; ++t) {
        for (int a = 0; a < AXES; ++a) {
            for (int q = 0; q < TILE_CELLS; ++q) {
                size_t i = (size_t)t * TILE_CELLS + (size_t)q;
                size_t at = ((size_t)t * AXES + (size_t)a) * TILE_CELLS + (size_t)q;
                bool is_held = job->fixed[i] >> a & 1;
                bool is_open = job->params->face_open[a][i] > 0.0f; // walls stand still
                double u = is_open ? (double)job->face_u[a][i] : 0.0;
                job->rhs[at] = (double)job->mass[a][i] * u;
                job->u[at] = u;
                job->held[at] = is_held ? u : 0.0;
            }
        }
    }
}

// face_u = the solution where a face is an unknown.
static void store_tiles(void* data, int64_t begin, int64_t end, int worker) {
    const visc_job* job = data;
    (void)worker;
    for (int64_t t = begin; t < end; ++t) {
        for (int a = 0; a < AXES; ++a) {
            for (int q = 0; q < TILE_CELLS; ++q) {
                size_t i = (size_t)t * TILE_CELLS + (size_t)q;
                size_t at = ((size_t)t * AXES + (size_t)a) * TILE_CELLS + (size_t)q;
                bool is_unknown = job->mass[a][i] > 0.0f || job->u[at] != 0.0;
                if (is_unknown && !(job->fixed[i] >> a & 1)) {
                    job->face_u[a][i] = (float)job->u[at];
                }
            }
        }
    }
}

static treacle_status solve(visc_job* job, solve_stats* stats) {
    const viscosity_params* p = job->params;
    treacle_context* ctx = p->map->ctx;
    parallel_for(ctx, p->map->count, 4, weigh_tiles, job);
    parallel_for(ctx, p->map->count, 8, load_tiles, job);
    viscosity_system system = {.domain = p->domain,
                               .map = p->map,
                               .weights = {.cell = job->cell,
                                           .edge = {job->edge[0], job->edge[1], job->edge[2]},
                                           .mass = {job->mass[0], job->mass[1], job->mass[2]},
                                           .fixed = job->fixed}};
    viscosity_solver* solver = NULL;
    TREACLE_TRY(viscosity_solver_create(ctx, &system, &solver));
    treacle_status status = viscosity_add_fixed(solver, job->held, job->rhs);
    if (status == TREACLE_OK) {
        solve_params params = p->solve;
        params.is_warm = !viscosity_solver_is_stiff(solver);
        status = viscosity_solve(solver, job->rhs, job->u, &params, stats);
    }
    viscosity_solver_destroy(solver);
    if (status == TREACLE_OK) {
        parallel_for(ctx, p->map->count, 8, store_tiles, job);
    }
    return status;
}

enum { WEIGHTS = 1 + 2 * AXES, VECTORS = 3 };

treacle_status viscosity_apply(const viscosity_params* params, float* const face_u[AXES],
                               solve_stats* stats) {
    treacle_context* ctx = params->map->ctx;
    size_t values = ((size_t)params->map->count + 1) * TILE_CELLS;
    visc_job job = {.params = params, .face_u = face_u};
    void *weights = NULL, *vectors = NULL, *fixed = NULL;
    treacle_status status;
    TREACLE_TRY_GOTO(
        alloc_zero(ctx, WEIGHTS * values, sizeof(float), "viscosity weights", &weights), finish);
    TREACLE_TRY_GOTO(
        alloc_zero(ctx, VECTORS * AXES * values, sizeof(double), "viscosity vectors", &vectors),
        finish);
    TREACLE_TRY_GOTO(alloc_zero(ctx, values, 1, "fixed faces", &fixed), finish);
    job.cell = weights;
    for (int a = 0; a < AXES; ++a) {
        job.edge[a] = job.cell + (size_t)(1 + a) * values;
        job.mass[a] = job.cell + (size_t)(1 + AXES + a) * values;
    }
    job.rhs = vectors;
    job.u = job.rhs + AXES * values;
    job.held = job.u + AXES * values;
    job.fixed = fixed;
    TREACLE_TRY_GOTO(solve(&job, stats), finish);
finish:
    alloc_free(ctx, weights, WEIGHTS * values * sizeof(float));
    alloc_free(ctx, vectors, VECTORS * AXES * values * sizeof(double));
    alloc_free(ctx, fixed, values);
    return status;
}
