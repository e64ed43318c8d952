// Gives the heat that cells have gained back to the particles, or to the grid that carries it, as
// increments.
#pragma once

#include "step/heat_grid.h"

/// Fields at cells, [count + 1][512].
typedef struct heat_gained {
    const float* capacity;        // J/K
    const double *before, *after; // J
} heat_gained;

/// To particles, which also even out what the grid does not see of them [heat.9]; or to the carried
/// fields of the state.
treacle_status warm(const heat_place* at, const heat_kind* kind,
                    const heat_gained* gained) TREACLE_NODISCARD;
