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
// In a step the surface moves by dt u, and its curvature changes. What matters of that is the
// energy of changes along the surface, Hysing's [H06], of all components of u: with q = sigma dt^2
// / (rho_0 h^3), L the area over h^2 and N_aa that times the squared normal along a, in the boxes
// of cells and edges,
//
//     E_s = 1/2 sum_cells alpha q L (d - 1)/d sum_a (D_a u_a)^2
//         + 1/2 sum_edges alpha q [(L - N_bb) (D_b u_a)^2 + (L - N_aa) (D_a u_b)^2],    [tension.3]
//     alpha = 1 + min(1, 2 q |kappa h|^3),
//
// is added to what the solve minimises. All weights are positive. The term damps and does not move:
// at rest it is nothing. Pairs with a fixed face have none, which would rub the contact line
// against the wall.
//
// An explicit force is stable as long as the shortest wave that the grid knows does not swing
// through in one step. Thin liquid has w^2 = sigma k^3 / rho; thick one falls back at the rate
// sigma k / (2 mu), and viscosity that is implicit lets it take larger steps. In terms of
// s = sigma dt^2 / (rho h^3) and r = mu dt / (rho h^2)
//
//     s <= 0.08 + r explicit,   s <= 1000 + 100 r implicit                              [tension.6]
//
// Staggering: kappa, L, V at cells; b and A on faces. Properties that tests check: balance for one
// curvature, whatever the shape; the pressure in a drop; no force on a plane; the step's limit.
#include "phys/tension.h"

#include <math.h>

#include "base/alloc.h"
#include "grid/tile_loop.h"

static const float near_reach = 1.2f, near_weight = 1e-3f; // cells; over h^2
// Of [tension.6].
static const double explicit_thin = 0.08, explicit_thick = 1.0;
static const double implicit_thin = 1000.0, implicit_thick = 100.0;

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

// --- the implicit part ---------------------------------------------------------------------------

typedef struct sheet_job {
    const tension_params* surface;
    const stress_params* liquid;
    const stress_weights* weights;
    double scale; // of the stiffness
    const double* from;
    double* to;
} sheet_job;

static double alpha_q(const sheet_job* job, double sigma, double kappa) {
    const stress_params* p = job->liquid;
    double h = p->domain->h, bend = fabs(kappa);
    double q = sigma * p->dt * p->dt / (p->reference_density * h * h * h);
    return q * (1.0 + fmin(1.0, 2.0 * q * bend * bend * bend));
}

static double sigma_at(const tension_params* s, int64_t cell) {
    return s->cell_sigma != NULL && s->cell_sigma[cell] >= 0.0f ? (double)s->cell_sigma[cell]
                                                                : s->sigma;
}

static bool is_held(const sheet_job* job, int a, int64_t face) {
    return face >= (int64_t)job->liquid->map->count * TILE_CELLS ||
           (job->weights->fixed[face] >> a & 1) != 0;
}

static double cell_part(const sheet_job* job, int64_t t, int q) {
    const stress_params* p = job->liquid;
    int64_t here = t * TILE_CELLS + q;
    double area = (double)(job->surface->cell_weight[here] - near_weight);
    int axes = 0;
    bool is_free = area > 0.0;
    for (int a = 0; a < AXES && is_free; ++a) {
        if (p->domain->is_active[a]) {
            ++axes;
            is_free = !is_held(job, a, here) && !is_held(job, a, tile_slot_above(p->map, t, q, a));
        }
    }
    double stiffness =
        is_free ? alpha_q(job, sigma_at(job->surface, here), (double)job->surface->cell_kappa[here])
                : 0.0;
    return is_free ? stiffness * area * (axes - 1) / (2.0 * axes) : 0.0;
}

// Whether an edge along an axis is inside of the domain, and between two axes that are active.
static bool is_inner_edge(const grid_domain* domain, int c, const int at[AXES]) {
    bool is_inner = at[c] < domain->cells[c];
    for (int n = 1; n < AXES; ++n) {
        int a = (c + n) % AXES;
        bool is_side = !domain->is_periodic[a] && (at[a] == 0 || at[a] >= domain->cells[a]);
        is_inner = is_inner && domain->is_active[a] && !is_side;
    }
    return is_inner;
}

// alpha q of the most curved of an edge's cells.
static double edge_part(const sheet_job* job, int64_t t, int q, int c) {
    const tile_map* map = job->liquid->map;
    const tension_params* s = job->surface;
    int a = (c + 1) % AXES, b = (c + 2) % AXES;
    int64_t low = tile_slot_below(map, t, q, a), here = t * TILE_CELLS + q;
    int64_t cells[] = {here, low, tile_slot_below(map, t, q, b),
                       tile_slot_below(map, low / TILE_CELLS, (int)(low % TILE_CELLS), b)};
    double most = 0.0, sigma = 0.0;
    for (int n = 0; n < 4; ++n) {
        most = fmax(most, fabs((double)s->cell_kappa[cells[n]]));
        sigma = fmax(sigma, sigma_at(s, cells[n]));
    }
    return alpha_q(job, sigma, most);
}

static void weigh_tiles(void* data, int64_t begin, int64_t end) {
    const sheet_job* job = data;
    const stress_weights* w = job->weights;
    for (int64_t t = begin; t < end; ++t) {
        for (int q = 0; q < TILE_CELLS; ++q) {
            int64_t i = t * TILE_CELLS + q;
            int at[AXES];
            if (!tile_cell_counts(job->liquid->map, q)) {
                continue;
            }
            tile_cell_at(job->liquid->map, (tile_ix)t, q, at);
            w->sheet_cell[i] = (float)cell_part(job, t, q);
            w->cell[i] += w->sheet_cell[i];
            for (int c = 0; c < AXES; ++c) {
                float one = job->surface->edge_area[c][0][i],
                      two = job->surface->edge_area[c][1][i];
                bool counts = one + two > 0.0f && is_inner_edge(job->liquid->domain, c, at);
                double stiffness = counts ? edge_part(job, t, q, c) : 0.0;
                w->sheet[c][0][i] = (float)(stiffness * (double)one);
                w->sheet[c][1][i] = (float)(stiffness * (double)two);
            }
        }
    }
}

treacle_status tension_add_weights(const tension_params* surface, const stress_params* liquid,
                                   stress_weights* weights) {
    TREACLE_ASSERT(weights->cell != NULL && weights->sheet_cell == NULL);
    size_t values = tile_map_values(liquid->map);
    if (surface->edge_area[0][0] == NULL) {
        return TREACLE_OK;
    }
    TREACLE_TRY(alloc_zero(liquid->map->ctx, STRESS_SHEETS * values, sizeof(float),
                           "weights of the surface", (void**)&weights->sheet_cell));
    for (int n = 0; n < 2 * AXES; ++n) {
        weights->sheet[n / 2][n % 2] = weights->sheet_cell + (size_t)(1 + n) * values;
    }
    sheet_job job = {.surface = surface, .liquid = liquid, .weights = weights};
    tile_for(liquid->map, &(tile_use){.reads = TILE_AROUND, .grain = 4}, weigh_tiles, &job);
    tile_publish(liquid->map, &(tile_values){.at = weights->cell});
    for (size_t n = 0; n < STRESS_SHEETS; ++n) {
        tile_publish(liquid->map, &(tile_values){.at = weights->sheet_cell + n * values});
    }
    return TREACLE_OK;
}

static double value_at(const sheet_job* job, int a, int64_t face) {
    return job->from[face / TILE_CELLS * VISCOSITY_BLOCK + a * TILE_CELLS + face % TILE_CELLS];
}

// A difference between two faces of a component, times its weight; 0 where one is fixed.
static double pull_between(const sheet_job* job, int a, int64_t here, int64_t there,
                           double weight) {
    bool counts = weight > 0.0 && !is_held(job, a, here) && !is_held(job, a, there);
    return counts ? weight * (value_at(job, a, here) - value_at(job, a, there)) : 0.0;
}

static double stiffness_on(const sheet_job* job, int64_t t, int q, int a) {
    const tile_map* map = job->liquid->map;
    const stress_weights* w = job->weights;
    int64_t here = t * TILE_CELLS + q, above = tile_slot_above(map, t, q, a);
    int64_t below = tile_slot_below(map, t, q, a);
    double sum = pull_between(job, a, here, above, 2.0 * (double)w->sheet_cell[here]) +
                 pull_between(job, a, here, below, 2.0 * (double)w->sheet_cell[below]);
    for (int n = 1; n < AXES; ++n) {
        int b = (a + n) % AXES, c = 3 - a - b;
        int64_t low = tile_slot_below(map, t, q, b), high = tile_slot_above(map, t, q, b);
        sum += pull_between(job, a, here, low, (double)w->sheet[c][n - 1][here]) +
               pull_between(job, a, here, high, (double)w->sheet[c][n - 1][high]);
    }
    return sum;
}

static void stiffen_tiles(void* data, int64_t begin, int64_t end) {
    const sheet_job* job = data;
    for (int64_t n = begin * VISCOSITY_BLOCK; n < end * VISCOSITY_BLOCK; ++n) {
        int a = (int)(n / TILE_CELLS % AXES), q = (int)(n % TILE_CELLS);
        if (job->liquid->domain->is_active[a] && tile_cell_counts(job->liquid->map, q)) {
            job->to[n] += job->scale * stiffness_on(job, n / VISCOSITY_BLOCK, q, a);
        }
    }
}

void tension_add_stiffness(const stress_params* liquid, const stress_weights* weights, double scale,
                           const double* v, double* out) {
    TREACLE_ASSERT(v != out);
    sheet_job job = {.liquid = liquid, .weights = weights, .scale = scale, .from = v, .to = out};
    if (weights->sheet_cell == NULL) {
        return;
    }
    tile_for(
        liquid->map,
        &(tile_use){.reads = TILE_AROUND,
                    .grain = 4,
                    .writes = {tile_block(out, VISCOSITY_BLOCK * sizeof(double), TILE_TO_HOLDERS)}},
        stiffen_tiles, &job);
}

double tension_step_limit(const tension_liquid* liquid, bool is_implicit) {
    double h = liquid->h, sigma = liquid->sigma;
    TREACLE_ASSERT(h > 0.0 && liquid->rho > 0.0 && liquid->mu >= 0.0);
    if (!(sigma > 0.0)) {
        return INFINITY;
    }
    // sigma dt^2 - thick mu h dt - thin rho h^3 = 0
    double thin = is_implicit ? implicit_thin : explicit_thin;
    double half = 0.5 * (is_implicit ? implicit_thick : explicit_thick) * liquid->mu * h / sigma;
    return half + sqrt(half * half + thin * liquid->rho * h * h * h / sigma);
}
