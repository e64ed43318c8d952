// Density correction: keeps particles evenly spread, and with it the volume.
#pragma once

#include "particles/particles.h"
#include "phys/projection.h"

typedef struct volume_params {
    const projection* geometry; // with unit density
    const float* cell_volume;   // volume of the particles as cells see it, in full cells
    const float* cell_open;     // 0..1, fraction of a cell outside solids; NULL: 1
    const float* cell_firm;     // 0..1, of what holds itself together; NULL: 0
    const particles* p;         // POSITION is moved
} volume_params;

/// How crowded the liquid was before.
typedef struct volume_stats {
    solve_stats solve;
    double spread; // root mean square of volume / target - 1 in cells deeper than one cell
} volume_stats;

treacle_status volume_correct(const volume_params* params, volume_stats* stats) TREACLE_NODISCARD;

/// Cells of which solids leave less are not asked for more particles.
#define VOLUME_OPEN_MIN 0.5f
/// The most that one correction moves a particle, in cells.
#define VOLUME_SHIFT_MAX 0.25f
