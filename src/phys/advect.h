// Particles move with the liquid.
#pragma once

#include "particles/particles.h"
#include "phys/flying_lumps.h"
#include "phys/velocity.h"

typedef struct advect_params {
    treacle_advection scheme;
    double dt;
    double reach;              // cells, at most 5: bound on what any particle moves
    const lump_motions* lumps; // that the field is carried along with; NULL: it stands still
} advect_params;

/// Moves POSITION through the field. Positions may leave their tile afterwards; the next sort
/// carries them over.
void advect_particles(const face_velocity* field, const particles* p, const advect_params* params);
