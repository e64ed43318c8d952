// The particles of one tile through a block of velocity; see phys/advect.c for the law.
#pragma once

#include "base/simd.h"
#include "grid/domain.h"
#include "treacle/types.h"

typedef struct advect_tile {
    int64_t count;
    float* position;      // [count][3], cells from the tile's low corner
    const float* u[AXES]; // blocks of size^3 with `halo` samples before the tile's own
    int halo, size;
    bool is_active[AXES];
    treacle_advection scheme;
    float dt_over_h;
    const float* motion; // [count][2 AXES], frame and shift of lumps [path.2]; NULL: all zero
} advect_tile;

ISA_DECLARE(void, advect_move, (const advect_tile* tile));
