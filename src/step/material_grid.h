// What the liquid is made of, at cells and on faces, [count + 1][512] each, in the scratch arena.
#pragma once

#include <stdint.h>

#include "grid/face_field.h"
#include "particles/particles.h"
#include "step/particle_grid.h"
#include "step/step_frame.h"

typedef struct material_grid {
    face_field face_rho; // density over the reference; NULL where all are one
    float* log_mu;       // log of the viscosity in Pa s; NULL without viscosity
    float* newtonian;    // what its mean has beside the parts that shear changes [rheo.3]; NULL:
                         // log_mu is given
    float** shear_part;  // [materials], NULL for Newtonian ones
    uint8_t* cut;        // what carries no stress, as in phys/stress.h; NULL: all does
} material_grid;

/// What the viscosity at cells is made of, from particles: the Newtonian part and the parts that
/// shear changes of [rheo.3] (phys/mixture.c), and room for log_mu; once a step. Nothing where the
/// flow has no viscosity.
treacle_status material_grid_bring(const step_frame* f, const tile_map* map, const particles* p,
                                   const particle_grid* given,
                                   material_grid* out) TREACLE_NODISCARD;
/// The viscosity at cells without any shear.
treacle_status material_grid_at_rest(const step_frame* f, const tile_map* map,
                                     const particle_grid* given,
                                     material_grid* out) TREACLE_NODISCARD;
