// Whether a particle store is what its header says it is; see grid/grid_valid.h.
#pragma once

#include "particles/particles.h"

/// How much may be asked of a store.
typedef enum particles_order {
    PARTICLES_GROUPED, // between sorts: groups partition the particles, positions may leave their
                       // tile
    PARTICLES_SORTED,  // as a sort leaves them
} particles_order;

/// Columns exist that the mask names, and have room for all particles; groups partition the
/// particles; what is other ranks' lies within them. Of the particles that are here, numbers are
/// finite and volumes above 0, and if they are said to be sorted they are: by tile, cell and id,
/// each id once in its cell, every position in its tile and domain.
bool particles_is_valid(const particles* p, const grid_domain* domain, particles_order order);
