// The viscosity at cells, of all materials that are there.
#pragma once

#include "grid/tile_map.h"
#include "treacle/types.h"

/// What materials bring to cells. Fields are [count + 1][512].
typedef struct mixture_params {
    const tile_map* map;
    const float* cell_volume; // > 0 where there is liquid
    int material_count;
    const treacle_material_def* materials;
    treacle_viscosity_mean mean;
    const float* cell_newtonian;   // what the mean has beside the parts that shear changes [rheo.3]
    float* const* cell_shear_part; // [materials]; NULL for those that do not depend on shear
} mixture_params;

/// At which rates of shear.
typedef struct mixture_rates {
    const float* rate;                // 1/s; NULL: nothing depends on it
    float* slope;                     // d log mu / d log rate, made; NULL: nobody asks
    const float *rate_before, *along; // of the pass before, whose slope is in `slope`, and how much
                                      // of its strain is left (phys/rheology.h); NULL: no such pass
    double way;                       // 0..1, from the viscosity that is there
} mixture_rates;

/// The fraction of the way that a fixed point may go: 1/n, n the largest exponent above 1 [rheo.4].
double mixture_way(int material_count, const treacle_material_def* materials);
/// log of Pa s at cells that have liquid; others keep what they have.
void mixture_viscosity(const mixture_params* params, const mixture_rates* rates,
                       float* cell_log_mu);
