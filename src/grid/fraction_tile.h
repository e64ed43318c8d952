// The kernel of grid/fraction.c: one tile that the surface cuts.
#pragma once

#include "base/simd.h"
#include "grid/fraction.h"
#include "grid/gather.h"

enum {
    FRACTION_LOW = 3,
    FRACTION_HIGH = 2,
    FRACTION_POINTS = 19, // of the doubled lattice along an axis of a tile, from point -2 on
};

/// block: the level set of the tile with margins FRACTION_LOW and FRACTION_HIGH. tile: 512 values
/// each, or NULL; the first layers[a] along every axis are set.
ISA_DECLARE(void, fraction_tile,
            (const float* block, const int layers[AXES], const fraction_fields* tile));
/// The values of such a block on the doubled lattice, FRACTION_POINTS along each axis, [z][y][x].
ISA_DECLARE(void, fraction_refine, (const float* block, float* points));
/// The same as fraction_tile from values on the doubled lattice, [z][y][x]: point q is half a cell
/// times q - 2 from the tile's low corner along each axis.
ISA_DECLARE(void, fraction_points,
            (const float* points, const int layers[AXES], const fraction_fields* tile));
