// The two loops of phys/transfer.h for a group of LANES particles at once: transfer_simd.c has
// eight floats, transfer_double.c a single double. The includer defines
//
//     SCALAR, REAL, INT   a number of one particle; numbers, and whole numbers, of a group
//     QUAD                a vector of four SCALARs
//     set, floor, from_int, load_pairs, to_quads   under TRANSFER_NAME, see transfer_double.c
//
// A function is inlined into loops where the kernel is a constant: nothing in here branches then.
#pragma once

#include "phys/transfer.h"
#include "phys/transfer_weights.h"

// What loops are compiled for. In a full place all axes are active.
typedef struct TRANSFER_NAME(shape) {
    treacle_kernel kernel;
    bool is_full;
    bool has_slope; // else slopes are neither used nor made
} TRANSFER_NAME(shape);

typedef struct TRANSFER_NAME(stencil) {
    TRANSFER_NAME(axis_weights) axis[AXES];
    int32_t at[LANES]; // index in a block of the first sample
} TRANSFER_NAME(stencil);

TREACLE_ALWAYS_INLINE void TRANSFER_NAME(stencil_at)(const transfer_place* place,
                                                     TRANSFER_NAME(shape) shape,
                                                     const REAL position[AXES],
                                                     TRANSFER_NAME(stencil) * out) {
    for (int a = 0; a < AXES; ++a) {
        REAL g = position[a] - (SCALAR)place->offset[a];
        bool is_active = shape.is_full || place->is_active[a];
        TRANSFER_NAME(weights)(shape.kernel, is_active, g, &out->axis[a]);
    }
    INT row = (out->axis[2].base + BLOCK_HALO) * BLOCK_SIZE + (out->axis[1].base + BLOCK_HALO);
    INT at = row * BLOCK_SIZE + (out->axis[0].base + BLOCK_HALO);
    memcpy(out->at, &at, sizeof(at));
}

// What particles give: weight m, value u, slope c (per cell).
typedef struct TRANSFER_NAME(gift) {
    REAL m, u, c[AXES];
} TRANSFER_NAME(gift);

// What row (j, k) of the stencil gets at samples i and i + 1: for each particle the pairs of
// momentum and mass.
TREACLE_ALWAYS_INLINE void TRANSFER_NAME(fraction)(const TRANSFER_NAME(stencil) * st,
                                                   bool has_slope, const TRANSFER_NAME(gift) * gift,
                                                   const int at[AXES], QUAD out[LANES]) {
    const TRANSFER_NAME(axis_weights)* x = &st->axis[0], *y = &st->axis[1], *z = &st->axis[2];
    int i = at[0], j = at[1], k = at[2];
    REAL row_m = gift->m * (y->w[j] * z->w[k]);
    REAL low = x->w[i] * row_m, high = x->w[i + 1] * row_m;
    REAL u_low = gift->u, u_high = gift->u;
    if (has_slope) {
        REAL row_u = gift->u + gift->c[1] * y->d[j] + gift->c[2] * z->d[k];
        u_low = gift->c[0] * x->d[i] + row_u;
        u_high = gift->c[0] * x->d[i + 1] + row_u;
    }
    TRANSFER_NAME(to_quads)((const REAL[4]){u_low * low, low, u_high * high, high}, out);
}

// Adds the first n particles of a group to a block of pairs, one particle after the other.
TREACLE_ALWAYS_INLINE void TRANSFER_NAME(scatter_group)(const TRANSFER_NAME(stencil) * st,
                                                        bool has_slope,
                                                        const TRANSFER_NAME(gift) * gift, int n,
                                                        SCALAR* block) {
    enum { ROWS_MAX = 4 * 4 * 2 };
    QUAD fraction[ROWS_MAX][LANES];
    int row[ROWS_MAX], rows = 0;
    for (int k = 0; k < st->axis[2].count; ++k) {
        for (int j = 0; j < st->axis[1].count; ++j) {
            for (int i = 0; i < st->axis[0].count; i += 2) {
                TRANSFER_NAME(fraction)
                (st, has_slope, gift, (const int[AXES]){i, j, k}, fraction[rows]);
                row[rows++] = 2 * ((k * BLOCK_SIZE + j) * BLOCK_SIZE + i);
            }
        }
    }
    for (int lane = 0; lane < n; ++lane) {
        SCALAR* first = block + 2 * st->at[lane];
        for (int r = 0; r < rows; ++r) {
            QUAD sum;
            memcpy(&sum, first + row[r], sizeof(sum));
            sum += fraction[r][lane];
            memcpy(first + row[r], &sum, sizeof(sum));
        }
    }
}

// The value and, if wanted, slopes (per cell) of a block at each particle.
TREACLE_ALWAYS_INLINE REAL TRANSFER_NAME(gather_group)(const TRANSFER_NAME(stencil) * st,
                                                       bool has_slope, const SCALAR* block,
                                                       REAL slope[AXES]) {
    const TRANSFER_NAME(axis_weights)* x = &st->axis[0], *y = &st->axis[1], *z = &st->axis[2];
    const REAL zero = TRANSFER_NAME(set)(0);
    // Sums over rows, one for each sample along x.
    REAL value[4], along[4], across[4], up[4];
    for (int i = 0; i < 4; ++i) {
        value[i] = along[i] = across[i] = up[i] = zero;
    }
    for (int k = 0; k < z->count; ++k) {
        for (int j = 0; j < y->count; ++j) {
            for (int i = 0; i < x->count; i += 2) {
                REAL u[2];
                TRANSFER_NAME(load_pairs)(block + (k * BLOCK_SIZE + j) * BLOCK_SIZE + i, st->at, u);
                for (int n = i; n < i + 2; ++n) {
                    REAL weighted = x->w[n] * u[n - i];
                    value[n] += weighted * (y->w[j] * z->w[k]);
                    if (has_slope) {
                        along[n] += x->s[n] * u[n - i] * (y->w[j] * z->w[k]);
                        across[n] += weighted * (y->s[j] * z->w[k]);
                        up[n] += weighted * (y->w[j] * z->s[k]);
                    }
                }
            }
        }
    }
    slope[0] = (along[0] + along[2]) + (along[1] + along[3]);
    slope[1] = (across[0] + across[2]) + (across[1] + across[3]);
    slope[2] = (up[0] + up[2]) + (up[1] + up[3]);
    return (value[0] + value[2]) + (value[1] + value[3]);
}
