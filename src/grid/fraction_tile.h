// The kernel of grid/fraction.c: one tile that the surface cuts.
#pragma once

#include "base/simd.h"
#include "grid/fraction.h"
#include "grid/gather.h"

enum { FRACTION_LOW = 3, FRACTION_HIGH = 2 };

/// block: the level set of the tile with margins FRACTION_LOW and FRACTION_HIGH. tile: 512 values
/// each, or NULL; the first layers[a] along every axis are set.
ISA_DECLARE(void, fraction_tile,
            (const float* block, const int layers[AXES], const fraction_fields* tile));
