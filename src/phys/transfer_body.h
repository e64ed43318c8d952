// The two loops of phys/transfer.h for one particle, for whichever number type REAL is, with
// VEC8 and VEC4 its vectors. See transfer_simd.c (float) and transfer_double.c.
#pragma once

#include "phys/transfer.h"
#include "phys/transfer_weights.h"

typedef struct TRANSFER_NAME(stencil) {
    TRANSFER_NAME(axis_weights) axis[AXES];
} TRANSFER_NAME(stencil);

TREACLE_ALWAYS_INLINE void TRANSFER_NAME(stencil_at)(const transfer_place* place,
                                                     const REAL* position,
                                                     TRANSFER_NAME(stencil) * out) {
    for (int a = 0; a < AXES; ++a) {
        REAL g = position[a] - (REAL)place->offset[a];
        TRANSFER_NAME(weights)(place->kernel, place->is_active[a], g, &out->axis[a]);
    }
}

// Index of sample (x base, y, z) of the stencil in a block.
TREACLE_ALWAYS_INLINE int TRANSFER_NAME(row_at)(const TRANSFER_NAME(stencil) * st, int y, int z) {
    int k = st->axis[2].base + z + BLOCK_HALO, j = st->axis[1].base + y + BLOCK_HALO;
    return (k * BLOCK_SIZE + j) * BLOCK_SIZE + st->axis[0].base + BLOCK_HALO;
}

// Adds one particle of weight m with value u and slope c (per cell) to a block of pairs.
TREACLE_ALWAYS_INLINE void TRANSFER_NAME(scatter_one)(const TRANSFER_NAME(stencil) * st, REAL m,
                                                      REAL u, const REAL c[AXES], REAL* block) {
    const TRANSFER_NAME(axis_weights)* x = &st->axis[0];
    VEC8 wx = {x->w[0], x->w[0], x->w[1], x->w[1], x->w[2], x->w[2], x->w[3], x->w[3]};
    VEC8 along = {c[0] * x->d[0], 0, c[0] * x->d[1], 0, c[0] * x->d[2], 0, c[0] * x->d[3], 0};
    for (int k = 0; k < st->axis[2].count; ++k) {
        for (int j = 0; j < st->axis[1].count; ++j) {
            REAL row_u = u + c[1] * st->axis[1].d[j] + c[2] * st->axis[2].d[k];
            REAL row_m = m * (st->axis[1].w[j] * st->axis[2].w[k]);
            VEC8 value = along + (VEC8){row_u, 1, row_u, 1, row_u, 1, row_u, 1};
            REAL* row = block + 2 * TRANSFER_NAME(row_at)(st, j, k);
            VEC8 sum;
            memcpy(&sum, row, sizeof(sum));
            sum += value * (wx * row_m);
            memcpy(row, &sum, sizeof(sum));
        }
    }
}

// The value and slopes (per cell) of a block at one particle.
TREACLE_ALWAYS_INLINE REAL TRANSFER_NAME(gather_one)(const TRANSFER_NAME(stencil) * st,
                                                     const REAL* block, REAL slope[AXES]) {
    const TRANSFER_NAME(axis_weights)* x = &st->axis[0];
    VEC4 wx, sx, value = {0}, along = {0}, across = {0}, up = {0};
    memcpy(&wx, x->w, sizeof(wx));
    memcpy(&sx, x->s, sizeof(sx));
    for (int k = 0; k < st->axis[2].count; ++k) {
        for (int j = 0; j < st->axis[1].count; ++j) {
            REAL wy = st->axis[1].w[j], wz = st->axis[2].w[k];
            VEC4 row;
            memcpy(&row, block + TRANSFER_NAME(row_at)(st, j, k), sizeof(row));
            VEC4 weighted = wx * row;
            value += weighted * (wy * wz);
            along += sx * row * (wy * wz);
            across += weighted * (st->axis[1].s[j] * wz);
            up += weighted * (wy * st->axis[2].s[k]);
        }
    }
    slope[0] = (along[0] + along[2]) + (along[1] + along[3]);
    slope[1] = (across[0] + across[2]) + (across[1] + across[3]);
    slope[2] = (up[0] + up[2]) + (up[1] + up[3]);
    return (value[0] + value[2]) + (value[1] + value[3]);
}
