// How much of what a cell could see of the liquid solids leave it.
#pragma once

#include "grid/tile_map.h"

/// A cell that sees less than this fraction of its surroundings outside solids is never too full:
/// what few particles say of it is chance. One that sees less than the second sees nothing.
#define OPEN_VOLUME_MIN 0.3f
#define OPEN_VOLUME_NONE 1e-3f

/// cell_volume, in full cells, becomes a fraction of what the cell could see. cell_open: 0..1,
/// fraction of a cell outside solids; cell_solid_phi: cells, distance to them.
void open_volume_normalise(const grid_domain* domain, const tile_map* map, const float* cell_open,
                           const float* cell_solid_phi, float* cell_volume);
