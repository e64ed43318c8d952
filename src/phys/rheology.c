// Viscosity that depends on the rate of shear.
//
//     tau = 2 mu(g) D,   D = (grad u + grad u^T)/2,   g = sqrt(2 D : D)                    [rheo.1]
//
// In simple shear g is the slope of the velocity. With K the consistency, n the exponent and tau_y
// the yield stress, the laws are                                                           [rheo.2]
//
//     power law           mu = K g^(n-1)
//     Carreau             mu = mu_oo + (mu_0 - mu_oo) (1 + (lambda g)^2)^((n-1)/2)
//     Bingham             mu = mu_p + tau_y / g
//     Herschel-Bulkley    mu = K g^(n-1) + tau_y / g
//
// The last two have no finite viscosity where nothing moves. Regularisation [BE80]: in all laws
// g stands for sqrt(g^2 + g_c^2) with a small critical rate g_c. Below it the material is a liquid
// of viscosity tau_y / g_c, and it creeps by less than g_c; well above it the stress is too small
// by tau_y (g_c / g)^2 / 2.
//
// Discretisation: g at cells. The stretches D_aa are differences across the cell; of the four edges
// of the cell along each axis the mean square of the shear counts, weighted by their shares of
// liquid: the air beyond the surface has no say. With the mean square, the sum over cells of
// V mu g^2 / 2 is the dissipation of the solver's stress samples. A no-slip side is half a cell
// from the velocities next to it, so the difference over it counts twice; a slip side has no shear.
//
// Staggering: u on faces, g, mu, V at cells, shares at edges.
// Symbols: rate (g), critical_rate (g_c), cell_share, edge_share (V).
// Properties that tests check: limits of all laws; the rate of simple shear, of stretching and of
// rotation (none); a plug between two plates.
#include "phys/rheology.h"

#include <math.h>

#include "grid/gather.h"
#include "grid/tile_ranks.h"
#include "math/elementary.h"
#include "phys/stress.h"

bool rheology_is_needed(const treacle_material_def* material) {
    return material->rheology.law != TREACLE_RHEOLOGY_NEWTONIAN;
}

static double carreau(const treacle_material_def* m, double g) {
    const treacle_rheology_def* r = &m->rheology;
    double scaled = r->time * g;
    double factor = elementary_pow(1.0 + scaled * scaled, 0.5 * (r->exponent - 1.0));
    return r->viscosity_infinite + (m->viscosity - r->viscosity_infinite) * factor;
}

double rheology_viscosity(const treacle_material_def* m, double rate) {
    const treacle_rheology_def* r = &m->rheology;
    double g = sqrt(rate * rate + r->critical_rate * r->critical_rate);
    double mu = m->viscosity;
    switch (r->law) {
    case TREACLE_RHEOLOGY_NEWTONIAN:
        break;
    case TREACLE_RHEOLOGY_POWER_LAW:
        mu = r->consistency * elementary_pow(g, r->exponent - 1.0);
        break;
    case TREACLE_RHEOLOGY_CARREAU:
        mu = carreau(m, g);
        break;
    case TREACLE_RHEOLOGY_BINGHAM:
        mu = m->viscosity + r->yield_stress / g;
        break;
    case TREACLE_RHEOLOGY_HERSCHEL_BULKLEY:
        mu = r->consistency * elementary_pow(g, r->exponent - 1.0) + r->yield_stress / g;
        break;
    }
    return fmin(fmax(mu, VISCOSITY_LEAST), RHEOLOGY_MOST);
}

double rheology_to_mean(treacle_viscosity_mean mean, double mu) {
    switch (mean) {
    case TREACLE_VISCOSITY_ARITHMETIC:
        return mu;
    case TREACLE_VISCOSITY_HARMONIC:
        return 1.0 / mu;
    case TREACLE_VISCOSITY_GEOMETRIC:
        break;
    }
    return elementary_log(mu);
}

double rheology_from_mean(treacle_viscosity_mean mean, double value) {
    switch (mean) {
    case TREACLE_VISCOSITY_ARITHMETIC:
        return value;
    case TREACLE_VISCOSITY_HARMONIC:
        return 1.0 / value;
    case TREACLE_VISCOSITY_GEOMETRIC:
        break;
    }
    return elementary_exp(value);
}

// --- the rate of shear --------------------------------------------------------------------------

enum { SIDE = BLOCK_SIDE(1, 1), VALUES = BLOCK_VALUES(1, 1) };
static const int steps[AXES] = {1, SIDE, SIDE* SIDE};

// A tile with its margin.
typedef struct rate_block {
    const grid_domain* domain;
    float u[AXES][VALUES];
    float edge[AXES][VALUES];
} rate_block;

typedef struct rate_job {
    const rheology_params* params;
    float* out;
} rate_job;

// Shear at an edge times h, and how much it counts.
typedef struct edge_shear {
    double shear, share;
} edge_shear;

// 0: not on a side of axis a. -1: nothing is known there. 1, 2: on the low, high no-slip side.
static int side_of(const grid_domain* domain, int a, int at) {
    bool is_side = !domain->is_periodic[a] && (at == 0 || at == domain->cells[a]);
    if (!is_side) {
        return 0;
    }
    bool is_low = at == 0, sticks = domain->sides[a][is_low ? 0 : 1] == TREACLE_SIDE_NO_SLIP;
    return !sticks ? -1 : is_low ? 1 : 2;
}

// The edge along c whose low corner is cell `cell` of the domain, `i` of the block.
static edge_shear shear_at(const rate_block* block, int c, const int cell[AXES], int i) {
    int a = (c + 1) % AXES, b = (c + 2) % AXES;
    int on_a = side_of(block->domain, a, cell[a]), on_b = side_of(block->domain, b, cell[b]);
    const float *u = block->u[a], *v = block->u[b];
    edge_shear out = {.share = (double)block->edge[c][i]};
    if (on_a < 0 || on_b < 0 || (on_a > 0 && on_b > 0)) {
        out.share = 0.0;
    } else if (on_a > 0) { // v is 0 half a cell away
        out.shear = 2.0 * (double)(on_a == 1 ? v[i] : v[i - steps[a]]);
    } else if (on_b > 0) {
        out.shear = 2.0 * (double)(on_b == 1 ? u[i] : u[i - steps[b]]);
    } else {
        out.shear =
            ((double)u[i] - (double)u[i - steps[b]]) + ((double)v[i] - (double)v[i - steps[a]]);
    }
    return out;
}

// The square of the shear at the edges of a cell along c, times h^2: its mean over the liquid.
static double shear_of_cell(const rate_block* block, int c, const int cell[AXES], int i) {
    int a = (c + 1) % AXES, b = (c + 2) % AXES;
    double sum = 0.0, share = 0.0;
    for (int corner = 0; corner < 4; ++corner) {
        int at[AXES] = {cell[0], cell[1], cell[2]};
        at[a] += corner & 1;
        at[b] += corner >> 1;
        edge_shear e =
            shear_at(block, c, at, i + (corner & 1) * steps[a] + (corner >> 1) * steps[b]);
        sum += e.share * (e.shear * e.shear);
        share += e.share;
    }
    return share > 0.0 ? sum / share : 0.0;
}

static double rate_of_cell(const rate_block* block, const int cell[AXES], int i) {
    const bool* is_active = block->domain->is_active;
    double sum = 0.0;
    for (int a = 0; a < AXES; ++a) {
        if (is_active[a]) {
            double stretch = (double)block->u[a][i + steps[a]] - (double)block->u[a][i];
            sum += 2.0 * stretch * stretch;
        }
        if (is_active[(a + 1) % AXES] && is_active[(a + 2) % AXES]) {
            sum += shear_of_cell(block, a, cell, i);
        }
    }
    return sqrt(sum) / block->domain->h; // [rheo.1]
}

static void rate_tile(const rate_job* job, tile_ix t, rate_block* block) {
    const rheology_params* p = job->params;
    for (int a = 0; a < AXES; ++a) {
        gather_block(p->map, p->face_u[a], t, 1, 1, block->u[a]);
        gather_block(p->map, p->edge_share[a], t, 1, 1, block->edge[a]);
    }
    for (int z = 0; z < tile_layers(p->map, 2); ++z) {
        for (int y = 0; y < tile_layers(p->map, 1); ++y) {
            for (int x = 0; x < tile_layers(p->map, 0); ++x) {
                int q = (z * TILE_SIZE + y) * TILE_SIZE + x, cell[AXES];
                size_t i = (size_t)t * TILE_CELLS + (size_t)q;
                tile_cell_at(p->map, t, q, cell);
                bool is_wet = p->cell_share[i] > 0.0f;
                job->out[i] =
                    is_wet ? (float)rate_of_cell(block, cell, BLOCK_INDEX(1, 1, x, y, z)) : 0.0f;
            }
        }
    }
}

static void rate_tiles(void* data, int64_t begin, int64_t end, int worker) {
    const rate_job* job = data;
    (void)worker;
    rate_block block = {.domain = job->params->domain};
    for (int64_t t = begin; t < end; ++t) {
        rate_tile(job, (tile_ix)t, &block);
    }
}

void rheology_rate(const rheology_params* params, float* cell_rate) {
    rate_job job = {params, cell_rate};
    tile_for(params->map, 4, rate_tiles, &job);
    tile_share_field(params->map, cell_rate);
}
