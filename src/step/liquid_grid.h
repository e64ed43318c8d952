// How much of cells, faces and edges is liquid.
#pragma once

#include "grid/fraction.h"

typedef struct liquid_grid {
    fraction_fields fraction; // for the unified flow; tents are the masses of faces
    bool is_current;          // they are fractions of the surface as it is now
} liquid_grid;
