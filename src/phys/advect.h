// Particles move with the liquid.
#pragma once

#include "particles/particles.h"
#include "phys/pieces.h"
#include "phys/velocity.h"

typedef struct advect_params {
    treacle_advection scheme;
    double dt;
    double reach;             // cells, at most 5: bound on what any particle moves
    const piece_rows* pieces; // that the field is carried along with; NULL: it stands still
} advect_params;

/// Moves POSITION through the field. Positions may leave their tile afterwards; the next sort
/// carries them over.
void advect_particles(const face_velocity* field, const particles* p, const advect_params* params);
