// The weights of particles along one axis. REAL holds a number for each of LANES particles, see
// phys/transfer_body.h.
//
// A particle sits at g, in cells, on the lattice of samples at the integers. Up to four samples
// base .. base+3 see it, with
//
//     w   the weight; the w of an axis sum to one and sum w d = 0 (linear fields are exact)
//     d   sample minus particle, in cells
//     s   the slope weight: sum s u is the slope along the axis of samples u of a linear field
//
//     linear     w = 1 - |d|                    |d| < 1      s = -1, 1 (the gradient of w)
//     quadratic  w = 3/4 - d^2, (3/2 - |d|)^2/2  |d| < 3/2    s = 4 w d
//     wide       w = (1 - |d|/2)/2               |d| < 2      s = w d / sum w d^2
//
// s is w d over the second moment of the weights, the inertia of APIC: with it the transfer there
// and back keeps angular momentum. For the linear kernel this is the gradient of w [S19 eq. 19],
// but without the division by f (1 - f), which vanishes on a sample. The wide tent is meant for one
// particle a cell [BB08 sec. 6]. An inactive axis has one sample of weight one.
#pragma once

#include "treacle/types.h"

typedef struct TRANSFER_NAME(axis_weights) {
    INT base;  // index of the first sample
    int count; // of samples with a weight
    REAL w[4], d[4], s[4];
} TRANSFER_NAME(axis_weights);

TREACLE_ALWAYS_INLINE void TRANSFER_NAME(linear_weights)(REAL g,
                                                         TRANSFER_NAME(axis_weights) * out) {
    out->base = TRANSFER_NAME(floor)(g);
    out->count = 2;
    REAL f = g - TRANSFER_NAME(from_int)(out->base);
    out->w[0] = 1.0f - f, out->w[1] = f;
    out->d[0] = -f, out->d[1] = 1.0f - f;
    out->s[0] = TRANSFER_NAME(set)(-1), out->s[1] = TRANSFER_NAME(set)(1);
    for (int i = 2; i < 4; ++i) {
        out->w[i] = out->d[i] = out->s[i] = TRANSFER_NAME(set)(0);
    }
}

TREACLE_ALWAYS_INLINE void TRANSFER_NAME(quadratic_weights)(REAL g,
                                                            TRANSFER_NAME(axis_weights) * out) {
    INT near = TRANSFER_NAME(floor)(g + 0.5f);
    out->base = near - 1;
    out->count = 3;
    REAL f = g - TRANSFER_NAME(from_int)(near);
    REAL low = 0.5f - f, high = 0.5f + f;
    out->w[0] = 0.5f * low * low, out->w[1] = 0.75f - f * f;
    out->w[2] = 0.5f * high * high, out->w[3] = TRANSFER_NAME(set)(0);
    for (int i = 0; i < 4; ++i) {
        out->d[i] = (SCALAR)(i - 1) - f;
        out->s[i] = 4.0f * out->w[i] * out->d[i];
    }
}

TREACLE_ALWAYS_INLINE void TRANSFER_NAME(wide_weights)(REAL g, TRANSFER_NAME(axis_weights) * out) {
    INT low = TRANSFER_NAME(floor)(g);
    out->base = low - 1;
    out->count = 4;
    REAL f = g - TRANSFER_NAME(from_int)(low), moment = TRANSFER_NAME(set)(0);
    out->w[0] = 0.25f * (1.0f - f), out->w[1] = 0.25f * (2.0f - f);
    out->w[2] = 0.25f * (1.0f + f), out->w[3] = 0.25f * f;
    for (int i = 0; i < 4; ++i) {
        out->d[i] = (SCALAR)(i - 1) - f;
        moment += out->w[i] * out->d[i] * out->d[i];
    }
    for (int i = 0; i < 4; ++i) {
        out->s[i] = out->w[i] * out->d[i] / moment;
    }
}

TREACLE_ALWAYS_INLINE void TRANSFER_NAME(weights)(treacle_kernel kernel, bool is_active, REAL g,
                                                  TRANSFER_NAME(axis_weights) * out) {
    if (!is_active) {
        *out = (TRANSFER_NAME(axis_weights)){.count = 1, .w = {TRANSFER_NAME(set)(1)}};
    } else if (kernel == TREACLE_KERNEL_LINEAR) {
        TRANSFER_NAME(linear_weights)(g, out);
    } else if (kernel == TREACLE_KERNEL_QUADRATIC) {
        TRANSFER_NAME(quadratic_weights)(g, out);
    } else {
        TRANSFER_NAME(wide_weights)(g, out);
    }
}
