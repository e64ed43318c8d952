// Makes a level set the distance to its surface, which stays where it is.
#pragma once

#include "grid/tile_map.h"

typedef struct redistance_params {
    const grid_domain* domain;
    const tile_map* map;
    float limit; // cells, >= 2: distances beyond are cut off
} redistance_params;

/// phi: at cells, in cells, < 0 inside; [count + 1][512], the dummy not written. Afterwards it is
/// the signed distance to the surface phi = 0, at most limit; every cell keeps its sign.
treacle_status redistance(const redistance_params* params, float* phi) TREACLE_NODISCARD;
