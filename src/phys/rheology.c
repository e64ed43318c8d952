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
// of the cell along each axis the mean square of the shear counts, weighted by their fractions of
// liquid: the air beyond the surface has no say. With the mean square, the sum over cells of
// V mu g^2 / 2 is the dissipation of the solver's stress samples. A no-slip side is half a cell
// from the velocities next to it, so the difference over it counts twice; a slip side has no shear.
//
// Staggering: u on faces, g, mu, V at cells, fractions at edges.
// Symbols: rate (g), critical_rate (g_c), cell_fraction, edge_fraction (V).
// Properties that tests check: limits of all laws; the rate of simple shear, of stretching and of
// rotation (none); a plug between two plates.
#include "phys/rheology.h"

#include <math.h>
#include <string.h>

#include "grid/gather.h"
#include "grid/tile_loop.h"
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
    TREACLE_ASSERT(rate >= 0.0 && !isnan(rate));
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

// d mu / d g^ of the law for g^ = sqrt(g^2 + g_c^2), times g^.
static double steepness(const treacle_material_def* m, double g) {
    const treacle_rheology_def* r = &m->rheology;
    double scaled = r->time * g, square = scaled * scaled;
    switch (r->law) {
    case TREACLE_RHEOLOGY_NEWTONIAN:
        break;
    case TREACLE_RHEOLOGY_POWER_LAW:
        return r->consistency * (r->exponent - 1.0) * elementary_pow(g, r->exponent - 1.0);
    case TREACLE_RHEOLOGY_CARREAU:
        return (carreau(m, g) - r->viscosity_infinite) * (r->exponent - 1.0) * square /
               (1.0 + square);
    case TREACLE_RHEOLOGY_BINGHAM:
        return -r->yield_stress / g;
    case TREACLE_RHEOLOGY_HERSCHEL_BULKLEY:
        return r->consistency * (r->exponent - 1.0) * elementary_pow(g, r->exponent - 1.0) -
               r->yield_stress / g;
    }
    return 0.0;
}

double rheology_slope(const treacle_material_def* m, double rate) {
    TREACLE_ASSERT(rate >= 0.0 && !isnan(rate));
    double critical = m->rheology.critical_rate;
    double square = rate * rate + critical * critical;
    double mu = rheology_viscosity(m, rate);
    bool is_cut = !(mu > VISCOSITY_LEAST) || !(mu < RHEOLOGY_MOST);
    return is_cut ? 0.0 : steepness(m, sqrt(square)) / mu * (rate * rate / square); // [rheo.5]
}

double rheology_to_mean(treacle_viscosity_mean mean, double mu) {
    TREACLE_ASSERT(mean != TREACLE_VISCOSITY_MEAN_AUTO);
    TREACLE_ASSERT(mu > 0.0);
    switch (mean) {
    case TREACLE_VISCOSITY_ARITHMETIC:
        return mu;
    case TREACLE_VISCOSITY_HARMONIC:
        return 1.0 / mu;
    case TREACLE_VISCOSITY_GEOMETRIC:
    case TREACLE_VISCOSITY_MEAN_AUTO:
        break;
    }
    return elementary_log(mu);
}

double rheology_from_mean(treacle_viscosity_mean mean, double value) {
    TREACLE_ASSERT(mean != TREACLE_VISCOSITY_MEAN_AUTO);
    TREACLE_ASSERT(!isnan(value));
    switch (mean) {
    case TREACLE_VISCOSITY_ARITHMETIC:
        return value;
    case TREACLE_VISCOSITY_HARMONIC:
        return 1.0 / value;
    case TREACLE_VISCOSITY_GEOMETRIC:
    case TREACLE_VISCOSITY_MEAN_AUTO:
        break;
    }
    return elementary_exp(value);
}

// --- the rate of shear --------------------------------------------------------------------------

enum { SIDE = BLOCK_SIDE(1, 1), VALUES = BLOCK_VALUES(1, 1) };
static const int steps[AXES] = {1, SIDE, SIDE* SIDE};

// What the shear at the edges along an axis of a tile counts: edges serve four cells each.
typedef struct edge_strains {
    double square[VALUES], product[VALUES], fraction[VALUES];
} edge_strains;

// A tile with its margin.
typedef struct rate_block {
    const grid_domain* domain;
    float u[AXES][VALUES];
    float change[AXES][VALUES]; // of u
    float edge[AXES][VALUES];
    edge_strains strains[AXES];
} rate_block;

typedef struct rate_job {
    const rheology_params* params;
    const float* change[AXES]; // another velocity; NULL: rates are asked for
    float* out;
} rate_job;

// Shear at an edge times h, of the velocity and of its change, and how much it counts.
typedef struct edge_shear {
    double shear, change, fraction;
} edge_shear;

int rheology_side(const grid_domain* domain, int a, int at) {
    TREACLE_ASSERT(a >= 0 && a < AXES);
    TREACLE_ASSERT(at >= 0);
    bool is_side = !domain->is_periodic[a] && (at == 0 || at == domain->cells[a]);
    if (!is_side) {
        return 0;
    }
    bool is_low = at == 0, sticks = domain->sides[a][is_low ? 0 : 1] == TREACLE_SIDE_NO_SLIP;
    return !sticks ? -1 : is_low ? 1 : 2;
}

// Where an edge along c lies: on which sides of the axes a and b, and where in the block.
typedef struct edge_place {
    int a, b, on_a, on_b, i;
    double side_u; // m/s, along the side that it lies on
} edge_place;

static double shear_of(const edge_place* at, const float* u, const float* v) {
    int i = at->i, low_a = i - steps[at->a], low_b = i - steps[at->b];
    if (at->on_a > 0) { // v is that of the side half a cell away
        return 2.0 * ((double)(at->on_a == 1 ? v[i] : v[low_a]) - at->side_u);
    }
    if (at->on_b > 0) {
        return 2.0 * ((double)(at->on_b == 1 ? u[i] : u[low_b]) - at->side_u);
    }
    return ((double)u[i] - (double)u[low_b]) + ((double)v[i] - (double)v[low_a]);
}

// The edge along c whose low corner is cell `cell` of the domain, `i` of the block.
static edge_shear shear_at(const rate_block* block, int c, const int cell[AXES], int i) {
    int a = (c + 1) % AXES, b = (c + 2) % AXES;
    edge_place at = {
        a, b,  rheology_side(block->domain, a, cell[a]), rheology_side(block->domain, b, cell[b]),
        i, 0.0};
    at.side_u = at.on_a > 0   ? block->domain->side_u[a][at.on_a - 1][b]
                : at.on_b > 0 ? block->domain->side_u[b][at.on_b - 1][a]
                              : 0.0;
    if (at.on_a < 0 || at.on_b < 0 || (at.on_a > 0 && at.on_b > 0)) {
        return (edge_shear){0};
    }
    return (edge_shear){.shear = shear_of(&at, block->u[a], block->u[b]),
                        .change = shear_of(&at, block->change[a], block->change[b]),
                        .fraction = (double)block->edge[c][i]};
}

// Squares and products of strains: of the velocity with itself and with its change.
typedef struct strain_pair {
    double square, product;
} strain_pair;

// All edges along c that the cells of a tile have. Where there is no liquid none is asked.
static void find_edges(const rate_block* block, tile_coord tile, int c, edge_strains* out) {
    int n[AXES];
    for (int a = 0; a < AXES; ++a) {
        n[a] = (block->domain->is_active[a] ? TILE_SIZE : 1) + (a == c ? 0 : 1);
    }
    for (int z = 0; z < n[2]; ++z) {
        for (int y = 0; y < n[1]; ++y) {
            for (int x = 0; x < n[0]; ++x) {
                int i = BLOCK_INDEX(1, 1, x, y, z);
                const int cell[AXES] = {TILE_SIZE * tile.at[0] + x, TILE_SIZE * tile.at[1] + y,
                                        TILE_SIZE * tile.at[2] + z};
                edge_shear e = {0};
                if (block->edge[c][i] > 0.0f) {
                    e = shear_at(block, c, cell, i);
                }
                out->square[i] = e.fraction * (e.shear * e.shear);
                out->product[i] = e.fraction * (e.shear * e.change);
                out->fraction[i] = e.fraction;
            }
        }
    }
}

// The means over the liquid of the shear at the four edges of a cell along c, times h^2.
static strain_pair shear_of_cell(const edge_strains* edges, int c, int i) {
    int a = steps[(c + 1) % AXES], b = steps[(c + 2) % AXES];
    const int at[4] = {i, i + a, i + b, i + a + b};
    double square = 0.0, product = 0.0, fraction = 0.0;
    for (int corner = 0; corner < 4; ++corner) {
        square += edges->square[at[corner]];
        product += edges->product[at[corner]];
        fraction += edges->fraction[at[corner]];
    }
    return fraction > 0.0 ? (strain_pair){square / fraction, product / fraction} : (strain_pair){0};
}

static strain_pair strains_of_cell(const rate_block* block, int i) {
    const bool* is_active = block->domain->is_active;
    strain_pair sum = {0};
    for (int a = 0; a < AXES; ++a) {
        if (is_active[a]) {
            double stretch = (double)block->u[a][i + steps[a]] - (double)block->u[a][i];
            double change = (double)block->change[a][i + steps[a]] - (double)block->change[a][i];
            sum.square += 2.0 * stretch * stretch;
            sum.product += 2.0 * stretch * change;
        }
        if (is_active[(a + 1) % AXES] && is_active[(a + 2) % AXES]) {
            strain_pair shear = shear_of_cell(&block->strains[a], a, i);
            sum.square += shear.square;
            sum.product += shear.product;
        }
    }
    return sum;
}

// The rate of shear [rheo.1], or how much of the strain the other velocity has.
static double value_of_cell(const rate_job* job, const rate_block* block, int i) {
    strain_pair strains = strains_of_cell(block, i);
    if (job->change[0] == NULL) {
        return sqrt(strains.square) / block->domain->h;
    }
    return strains.square > 0.0 ? strains.product / strains.square : 0.0;
}

static void load_block(const rate_job* job, tile_ix t, rate_block* block) {
    const rheology_params* p = job->params;
    for (int a = 0; a < AXES; ++a) {
        gather_block(p->map, p->edge_fraction.at[a], t, 1, 1, block->edge[a]);
        if (p->domain->is_active[a]) {
            gather_block(p->map, p->face_u.at[a], t, 1, 1, block->u[a]);
        }
        if (p->domain->is_active[a] && job->change[a] != NULL) {
            gather_block(p->map, job->change[a], t, 1, 1, block->change[a]);
        }
    }
}

static void rate_tile(const rate_job* job, tile_ix t, rate_block* block) {
    const rheology_params* p = job->params;
    const bool* is_active = p->domain->is_active;
    load_block(job, t, block);
    for (int a = 0; a < AXES; ++a) {
        if (is_active[(a + 1) % AXES] && is_active[(a + 2) % AXES]) {
            find_edges(block, p->map->coord[t], a, &block->strains[a]);
        }
    }
    for (int q = 0; q < TILE_CELLS; ++q) {
        size_t i = (size_t)t * TILE_CELLS + (size_t)q;
        if (tile_cell_counts(p->map, q) && p->cell_fraction[i] > 0.0f) {
            int at = BLOCK_INDEX(1, 1, q & 7, q >> 3 & 7, q >> 6);
            job->out[i] = (float)value_of_cell(job, block, at);
        }
    }
}

static void rate_tiles(void* data, int64_t begin, int64_t end) {
    const rate_job* job = data;
    const rheology_params* p = job->params;
    rate_block block;
    block.domain = p->domain;
    memset(block.change, 0, sizeof(block.change));
    float dry = job->change[0] == NULL ? 0.0f : NAN;
    for (int64_t t = begin; t < end; ++t) {
        for (int q = 0; q < TILE_CELLS; ++q) {
            float* out = &job->out[t * TILE_CELLS + q];
            *out = tile_cell_counts(p->map, q) ? dry : *out;
        }
        if (tile_has_positive(p->cell_fraction + t * TILE_CELLS)) {
            rate_tile(job, (tile_ix)t, &block);
        }
    }
}

void rheology_rate(const rheology_params* params, float* cell_rate) {
    TREACLE_ASSERT(cell_rate != NULL && cell_rate != params->cell_fraction);
    TREACLE_ASSERT(params->face_u.at[0] != NULL && params->face_u.at[1] != NULL &&
                   params->face_u.at[2] != NULL);
    rate_job job = {.params = params, .out = cell_rate};
    tile_for(params->map,
             &(tile_use){.reads = TILE_AROUND, .grain = 4, .writes = {{.at = cell_rate}}},
             rate_tiles, &job);
}

void rheology_along(const rheology_params* params, const float* const other[AXES],
                    float* cell_along) {
    TREACLE_ASSERT(cell_along != NULL && cell_along != params->cell_fraction);
    TREACLE_ASSERT(other[0] != NULL && other[1] != NULL && other[2] != NULL);
    rate_job job = {.params = params, .change = {other[0], other[1], other[2]}, .out = cell_along};
    tile_for(params->map,
             &(tile_use){.reads = TILE_AROUND, .grain = 4, .writes = {{.at = cell_along}}},
             rate_tiles, &job);
}
