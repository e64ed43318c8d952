// The viscosity of a mixture whose materials depend on the rate of shear.
//
// With f(mu) what is averaged (log mu, mu or 1/mu), F the particles' own factors and phi_m the
// fraction of material m at a cell,
//
//     f(mu) = sum over m of phi_m f(F mu_m(g)) = base + sum over m of portion_m f(mu_m(g))
//                                                                                          [rheo.3]
//
// where the second sum is over materials that depend on g; Newtonian part and shear parts come from
// particles. The loop around a solve is the fixed point
//
//     mu_k = mu(g(u_k)),   u_k+1 = solve(u*, mu_k)                                         [rheo.4]
//
// It lowers the dissipation potential with every pass as long as no material thickens under shear.
// Where one does, with exponent n, log mu moves by 1/n of the way only. Newton's method asks for
// the slope s = d log mu / d log g of the mixture as well, and trusts it as far as the stress that
// the last pass expected along the strain that has come out agrees with the law,
//
//     s <- theta s,   theta = mu_k / mu_k+1 (1 + s_k (c - 1) c g_k^2 / g_k+1^2) within [-1, 1]
//                                                                                          [rheo.8]
//
// with c how much of the strain of pass k there is in that of pass k + 1.
//
// Staggering: all at cells. Symbols: cell_newtonian, cell_shear_part, rate (g), slope (s), along
// (c).
#include "phys/mixture.h"

#include <math.h>

#include "grid/tile_loop.h"
#include "math/elementary.h"
#include "phys/rheology.h"

typedef struct mixture_job {
    const mixture_params* params;
    const mixture_rates* rates;
    float* cell_log_mu;
} mixture_job;

// f(mu) and its derivative by log rate.
typedef struct mean_value {
    double value, slope;
} mean_value;

static mean_value mean_at(const mixture_job* job, int64_t i) {
    const mixture_params* p = job->params;
    const mixture_rates* rates = job->rates;
    mean_value sum = {.value = (double)p->cell_newtonian[i]}; // [rheo.3]
    for (int m = 0; rates->rate != NULL && m < p->material_count; ++m) {
        double shear_part = p->cell_shear_part[m] == NULL ? 0.0 : (double)p->cell_shear_part[m][i];
        if (shear_part > 0.0) {
            const treacle_material_def* material = &p->materials[m];
            double rate = (double)rates->rate[i];
            double part =
                shear_part * rheology_to_mean(p->mean, rheology_viscosity(material, rate));
            double slope = rates->slope != NULL ? rheology_slope(material, rate) : 0.0;
            sum.value += part;
            sum.slope += (p->mean == TREACLE_VISCOSITY_GEOMETRIC ? shear_part : part) * slope;
        }
    }
    return sum;
}

// Of a cell all of whose liquid is hidden behind a thin solid [thin.1] no mean says anything: the
// sum is 0, which is 1 Pa s in the logarithm, and so it is with the others.
static double log_mu_of(treacle_viscosity_mean mean, mean_value at) {
    bool is_log = mean == TREACLE_VISCOSITY_GEOMETRIC || !(at.value > 0.0);
    return is_log ? at.value : elementary_log(rheology_from_mean(mean, at.value));
}

// d log mu / d log rate of the mixture; mu and 1/mu are as steep, up to the sign.
static float slope_of(treacle_viscosity_mean mean, mean_value at) {
    bool is_log = mean == TREACLE_VISCOSITY_GEOMETRIC || !(at.value > 0.0);
    return (float)(is_log ? at.slope : at.slope / at.value);
}

// [rheo.8]
static double trust_of(const mixture_job* job, int64_t i, double log_mu) {
    const mixture_rates* rates = job->rates;
    double along = (double)rates->along[i], rate = (double)rates->rate[i];
    double grown = rate > 0.0 ? (double)rates->rate_before[i] / rate : 0.0;
    double change = (double)rates->slope[i] * (along - 1.0);
    double expected = 1.0 + change * along * (grown * grown);
    double trust = elementary_exp((double)job->cell_log_mu[i] - log_mu) * expected;
    return isnan(along) ? 1.0 : fmax(-1.0, fmin(trust, 1.0));
}

static void mix_tiles(void* data, int64_t begin, int64_t end) {
    const mixture_job* job = data;
    const mixture_rates* rates = job->rates;
    treacle_viscosity_mean mean = job->params->mean;
    for (int64_t i = begin * TILE_CELLS; i < end * TILE_CELLS; ++i) {
        if (!(job->params->cell_volume[i] > 0.0f)) {
            continue;
        }
        mean_value at = mean_at(job, i);
        double log_mu = log_mu_of(mean, at);
        double before = (double)job->cell_log_mu[i];
        double trust = rates->along != NULL ? trust_of(job, i, log_mu) : 1.0;
        job->cell_log_mu[i] = (float)(before + rates->way * (log_mu - before));
        if (rates->slope != NULL) {
            rates->slope[i] = (float)trust * slope_of(mean, at);
        }
    }
}

void mixture_viscosity(const mixture_params* params, const mixture_rates* rates,
                       float* cell_log_mu) {
    TREACLE_ASSERT(params->material_count > 0 && params->materials != NULL);
    TREACLE_ASSERT(params->cell_volume != NULL && params->cell_volume != cell_log_mu);
    TREACLE_ASSERT(rates->way >= 0.0 && rates->way <= 1.0);
    TREACLE_ASSERT(params->cell_newtonian != NULL && cell_log_mu != NULL);
    TREACLE_ASSERT(rates->along == NULL || (rates->rate_before != NULL && rates->slope != NULL));
    mixture_job job = {params, rates, cell_log_mu};
    tile_for(params->map, &(tile_use){.reads = TILE_ALONE, .grain = 4}, mix_tiles, &job);
}

double mixture_way(int material_count, const treacle_material_def* materials) {
    TREACLE_ASSERT(material_count > 0 && materials != NULL);
    double exponent = 1.0;
    for (int m = 0; m < material_count; ++m) {
        const treacle_rheology_def* r = &materials[m].rheology;
        bool has_exponent =
            r->law != TREACLE_RHEOLOGY_NEWTONIAN && r->law != TREACLE_RHEOLOGY_BINGHAM;
        exponent = has_exponent ? fmax(exponent, r->exponent) : exponent;
    }
    return 1.0 / exponent;
}
