// Surface tension.
//
//     div sigma_s = sigma kappa n delta,    a force on the surface towards where it is curved to
//
// n into the air, kappa > 0 where liquid is convex. -n delta is the gradient of the fraction of
// liquid, hence on a face, with the very fractions that the pressure has in the solve [stokes.1],
//
//     b_f = (sigma dt / (rho_0 h)) kappa_f (A_here V_here - A_below V_below)            [tension.1]
//
// With kappa the same everywhere this is the gradient of x~ = V dt sigma kappa / (rho_0 h): the
// pressure takes all of it, and what has one curvature stays at rest up to the error of the solve.
// V is 0 in cells without a pressure; any other fraction of liquid would spoil that balance.
//
// The curvature of a face is the mean of its two cells', by the area L of surface in each,
//
//     kappa_f = (L_here kappa_here + L_below kappa_below) / (L_here + L_below),
//
// with 0.001 more where the surface is near, for fractions change beside cells without surface,
// too.
//
// An explicit force is stable as long as the shortest wave that the grid knows does not swing
// through in one step. Thin liquid has w^2 = sigma k^3 / rho; thick one falls back at the rate
// sigma k / (2 mu), and viscosity that is implicit lets it take larger steps. In terms of
// s = sigma dt^2 / (rho h^3) and r = mu dt / (rho h^2)
//
//     s <= 0.08 + r                                                                     [tension.6]
//
// Staggering: kappa, L, V at cells; b and A on faces. Properties that tests check: balance for one
// curvature, whatever the shape; the pressure in a drop; no force on a plane; the step's limit.
#include "phys/tension.h"

#include <math.h>

#include "grid/tile_loop.h"

static const float near_reach = 1.2f, near_weight = 1e-3f; // cells; over h^2
static const double thin_limit = 0.08, thick_limit = 1.0;  // of [tension.6]

typedef struct tension_job {
    const tension_params* surface;
    const stress_params* liquid;
    const stress_weights* weights;
    const float* volume;
    double* force;
    double unit; // dt / (rho_0 h^2), to N/m times curvature times h
} tension_job;

float tension_weight(float area, float phi) {
    TREACLE_ASSERT(area >= 0.0f);
    return area + (fabsf(phi) < near_reach ? near_weight : 0.0f);
}

// The tension between two cells: the mean where both are known.
static double sigma_of(const tension_params* s, int64_t here, int64_t below) {
    if (s->cell_sigma == NULL) {
        return s->sigma;
    }
    double one = (double)s->cell_sigma[here], two = (double)s->cell_sigma[below];
    return one < 0.0 && two < 0.0 ? s->sigma
           : one < 0.0            ? two
           : two < 0.0            ? one
                                  : 0.5 * (one + two);
}

// sigma kappa h of a face between two cells.
static double pull_of(const tension_params* s, int64_t here, int64_t below) {
    double one = (double)s->cell_weight[here], two = (double)s->cell_weight[below];
    double sum = one + two;
    double kappa = one * (double)s->cell_kappa[here] + two * (double)s->cell_kappa[below];
    return sum > 0.0 ? sigma_of(s, here, below) * (kappa / sum) : 0.0;
}

static double force_on(const tension_job* job, int64_t t, int q, int a) {
    const tile_map* map = job->liquid->map;
    int64_t here = t * TILE_CELLS + q;
    bool is_unknown = !(job->weights->fixed[here] >> a & 1) && job->weights->mass[a][here] > 0.0f;
    if (!tile_cell_counts(map, q) || !is_unknown) {
        return 0.0;
    }
    int64_t below = tile_slot_below(map, t, q, a);
    double above = stress_opening(job->liquid, a, here, false) * (double)job->volume[here];
    double under = stress_opening(job->liquid, a, here, true) * (double)job->volume[below];
    return above == under ? 0.0 : job->unit * pull_of(job->surface, here, below) * (above - under);
}

static void force_tiles(void* data, int64_t begin, int64_t end) {
    const tension_job* job = data;
    for (int64_t t = begin; t < end; ++t) {
        for (int n = 0; n < VISCOSITY_BLOCK; ++n) {
            int a = n / TILE_CELLS;
            bool is_active = job->liquid->domain->is_active[a];
            job->force[t * VISCOSITY_BLOCK + n] =
                is_active ? force_on(job, t, n % TILE_CELLS, a) : 0.0; // [tension.1]
        }
    }
}

void tension_force(const tension_params* surface, const stress_params* liquid,
                   const stress_weights* weights, const float* cell_volume, double* force) {
    TREACLE_ASSERT(surface->cell_kappa != NULL && surface->cell_weight != NULL);
    TREACLE_ASSERT(cell_volume != NULL && force != NULL && liquid->dt > 0.0);
    double h = liquid->domain->h;
    tension_job job = {surface,     liquid, weights,
                       cell_volume, force,  liquid->dt / (liquid->reference_density * h * h)};
    tile_for(liquid->map,
             &(tile_use){
                 .reads = TILE_AROUND,
                 .grain = 4,
                 .writes = {tile_block(force, VISCOSITY_BLOCK * sizeof(double), TILE_TO_HOLDERS)}},
             force_tiles, &job);
}

double tension_step_limit(double h, double rho, double sigma, double mu) {
    TREACLE_ASSERT(h > 0.0 && rho > 0.0 && mu >= 0.0);
    if (!(sigma > 0.0)) {
        return INFINITY;
    }
    // sigma dt^2 - thick mu h dt - thin rho h^3 = 0
    double half = 0.5 * thick_limit * mu * h / sigma;
    return half + sqrt(half * half + thin_limit * rho * h * h * h / sigma);
}
