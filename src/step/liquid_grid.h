// How much of cells, faces and edges is liquid.
#pragma once

#include "base/arena.h"
#include "grid/fraction.h"

typedef struct liquid_grid {
    fraction_fields fraction; // for the unified flow; tents are the masses of faces
    bool is_current;          // they are fractions of the surface as it is now
} liquid_grid;

/// Room for the fractions, in the scratch arena, if there is none yet.
treacle_status liquid_grid_take(arena* scratch, const tile_map* map,
                                liquid_grid* out) TREACLE_NODISCARD;
