// Differences between particles of a cell, which the grid does not see.
#pragma once

#include "base/arena.h"
#include "particles/particles.h"

typedef struct even_out_params {
    const grid_domain* domain;
    const tile_map* map;
    const particles* p;
    const float* value;          // [particles], K
    const float* capacity;       // [materials], what a volume holds
    float reference;             // K, near the values
    double diffusivity;          // m^2/s
    const float* cell_solid_phi; // cells, > 0 outside; NULL: no solids
} even_out_params;

/// change, K, of each particle within dt, in the scratch arena; NULL where it is next to nothing.
treacle_status even_out(const even_out_params* params, double dt, arena* scratch,
                        float** change) TREACLE_NODISCARD;
