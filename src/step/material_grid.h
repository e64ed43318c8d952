// What the liquid is made of, at cells and on faces, [count + 1][512] each, in the scratch arena.
#pragma once

#include <stdint.h>

#include "grid/face_field.h"

typedef struct material_grid {
    face_field face_rho; // density over the reference; NULL where all are one
    float* log_mu;       // log of the viscosity in Pa s; NULL without viscosity
    float* base;         // what its mean has beside the portions [rheo.3]; NULL: log_mu is given
    float** portion;     // [materials], NULL for Newtonian ones
    uint8_t* cut;        // what carries no stress, as in phys/stress.h; NULL: all does
} material_grid;
