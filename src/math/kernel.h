// Interpolation kernels along one axis: weights of the samples around a place.
//
// Samples lie at the integers and x is in units of their spacing. A kernel returns the first sample
// it touches and fills the weights of `width` samples from there on, and, where asked, their
// derivatives by x:
//
//     linear     2 samples   w(d) = 1 - |d|                                  |d| < 1
//     quadratic  3 samples   w(d) = 3/4 - d^2                                |d| < 1/2
//                            w(d) = (3/2 - |d|)^2 / 2                  1/2 <= |d| < 3/2
//     wide       4 samples   w(d) = (2 - |d|) / 4                            |d| < 2
//
// The wide one is the tent of twice the width. [BB08 sec. 6] transfers one particle a cell by "a
// wider SPH-like kernel" without giving it; this is the narrowest tent that leaves no sample
// between such particles without weight, and the only scaling by a whole number that stays exact.
// All three are partitions of unity (weights sum to one, derivatives to zero, up to rounding), so
// none needs normalising inside the liquid, and all reproduce linear functions.
// In d dimensions the weight is the product over the axes; an inactive axis has one sample of
// weight 1.
//
// Each function comes as f64 and f32: the same formula, the arithmetic of the type.
#pragma once

#include <math.h>
#include <stdint.h>

enum {
    KERNEL_LINEAR_WIDTH = 2,
    KERNEL_QUADRATIC_WIDTH = 3,
    KERNEL_WIDE_WIDTH = 4,
    KERNEL_WIDTH_MAX = 4,
};

#define KERNEL_DEFINE(real, type, floor_of)                                                        \
    static inline int32_t kernel_linear_##type(real x, real w[2]) {                                \
        real base = floor_of(x), f = x - base;                                                     \
        w[0] = (real)1 - f;                                                                        \
        w[1] = f;                                                                                  \
        return (int32_t)base;                                                                      \
    }                                                                                              \
    static inline int32_t kernel_linear_slope_##type(real x, real w[2], real dw[2]) {              \
        dw[0] = (real)-1;                                                                          \
        dw[1] = (real)1;                                                                           \
        return kernel_linear_##type(x, w);                                                         \
    }                                                                                              \
    static inline int32_t kernel_quadratic_##type(real x, real w[3]) {                             \
        real base = floor_of(x - (real)0.5), f = x - base; /* f in [1/2, 3/2) */                   \
        real a = (real)1.5 - f, b = f - (real)1, c = f - (real)0.5;                                \
        w[0] = (real)0.5 * (a * a);                                                                \
        w[1] = (real)0.75 - b * b;                                                                 \
        w[2] = (real)0.5 * (c * c);                                                                \
        return (int32_t)base;                                                                      \
    }                                                                                              \
    static inline int32_t kernel_quadratic_slope_##type(real x, real w[3], real dw[3]) {           \
        real f = x - floor_of(x - (real)0.5);                                                      \
        dw[0] = f - (real)1.5;                                                                     \
        dw[1] = (real)-2 * (f - (real)1);                                                          \
        dw[2] = f - (real)0.5;                                                                     \
        return kernel_quadratic_##type(x, w);                                                      \
    }                                                                                              \
    static inline int32_t kernel_wide_##type(real x, real w[4]) {                                  \
        real base = floor_of(x), f = x - base; /* samples base-1 .. base+2 */                      \
        w[0] = (real)0.25 * ((real)1 - f);                                                         \
        w[1] = (real)0.25 * ((real)2 - f);                                                         \
        w[2] = (real)0.25 * ((real)1 + f);                                                         \
        w[3] = (real)0.25 * f;                                                                     \
        return (int32_t)base - 1;                                                                  \
    }                                                                                              \
    static inline int32_t kernel_wide_slope_##type(real x, real w[4], real dw[4]) {                \
        dw[0] = dw[1] = (real)-0.25;                                                               \
        dw[2] = dw[3] = (real)0.25;                                                                \
        return kernel_wide_##type(x, w);                                                           \
    }

KERNEL_DEFINE(double, f64, floor)
KERNEL_DEFINE(float, f32, floorf)
#undef KERNEL_DEFINE
