// Vectors of fixed meaning: 8 floats or 8 doubles, whatever the machine has.
//
// A file whose name ends in _simd.c is compiled once for each instruction set (CMakeLists.txt) with
// TREACLE_ISA set to sse2, avx2 or avx512, and names its functions ISA(name). Callers declare them
// with ISA_DECLARE and choose at run time with ISA_CALL. The same source, the same order of the
// same IEEE operations on every set: no fused multiply-add (-ffp-contract=off), no approximate
// reciprocals, sums of lanes in a fixed tree. So the bits are the same on all of them.
#pragma once

#include <string.h>

#include "base/compiler.h"
#include "base/context.h"

enum { SIMD_LANES = 8 };

typedef float f32x4 __attribute__((vector_size(16)));
typedef double f64x4 __attribute__((vector_size(32)));
typedef float f32x8 __attribute__((vector_size(32)));
typedef double f64x8 __attribute__((vector_size(64)));
typedef int32_t i32x8 __attribute__((vector_size(32)));

#define ISA_PASTE_(name, isa) name##_##isa
#define ISA_PASTE(name, isa) ISA_PASTE_(name, isa)
/// In a _simd.c file: the name of a function for the set being compiled.
#define ISA(name) ISA_PASTE(name, TREACLE_ISA)

/// Declares the three versions of a function: ISA_DECLARE(void, axpy, (float* y, int n));
#define ISA_DECLARE(result, name, parameters)                                                      \
    result name##_sse2 parameters;                                                                 \
    result name##_avx2 parameters;                                                                 \
    result name##_avx512 parameters

/// The version for this context: ISA_CALL(ctx, axpy)(y, n).
#define ISA_CALL(ctx, name)                                                                        \
    ((ctx)->isa == TREACLE_ISA_AVX512 ? name##_avx512                                              \
     : (ctx)->isa == TREACLE_ISA_AVX2 ? name##_avx2                                                \
                                      : name##_sse2)

TREACLE_ALWAYS_INLINE f32x8 f32x8_set(float x) {
    return (f32x8){x, x, x, x, x, x, x, x};
}

TREACLE_ALWAYS_INLINE f64x8 f64x8_set(double x) {
    return (f64x8){x, x, x, x, x, x, x, x};
}

TREACLE_ALWAYS_INLINE f32x8 f32x8_load(const float* from) {
    f32x8 v;
    memcpy(&v, from, sizeof(v));
    return v;
}

TREACLE_ALWAYS_INLINE void f32x8_store(float* to, f32x8 v) {
    memcpy(to, &v, sizeof(v));
}

TREACLE_ALWAYS_INLINE f64x8 f64x8_load(const double* from) {
    f64x8 v;
    memcpy(&v, from, sizeof(v));
    return v;
}

TREACLE_ALWAYS_INLINE void f64x8_store(double* to, f64x8 v) {
    memcpy(to, &v, sizeof(v));
}

TREACLE_ALWAYS_INLINE f64x8 f64x8_from_f32x8(f32x8 v) {
    return __builtin_convertvector(v, f64x8);
}

TREACLE_ALWAYS_INLINE f32x8 f32x8_from_f64x8(f64x8 v) {
    return __builtin_convertvector(v, f32x8);
}

TREACLE_ALWAYS_INLINE f32x8 f32x8_from_i32x8(i32x8 v) {
    return __builtin_convertvector(v, f32x8);
}

// Towards zero.
TREACLE_ALWAYS_INLINE i32x8 i32x8_from_f32x8(f32x8 v) {
    return __builtin_convertvector(v, i32x8);
}

/// Lanes of a where the comparison is true (-1), else of b.
TREACLE_ALWAYS_INLINE f32x8 f32x8_select(i32x8 is_true, f32x8 a, f32x8 b) {
    return (f32x8)((is_true & (i32x8)a) | (~is_true & (i32x8)b));
}

/// Lane i is from[i * stride]; lanes from n on are 0 and not read.
TREACLE_ALWAYS_INLINE f32x8 f32x8_load_some(const float* from, int stride, int n) {
    if (n == SIMD_LANES) {
        return (f32x8){from[0],          from[stride],     from[2 * stride], from[3 * stride],
                       from[4 * stride], from[5 * stride], from[6 * stride], from[7 * stride]};
    }
    float lanes[SIMD_LANES] = {0};
    for (int i = 0; i < n; ++i) {
        lanes[i] = from[i * stride];
    }
    return f32x8_load(lanes);
}

/// to[i * stride] = lane i, for the first n lanes.
TREACLE_ALWAYS_INLINE void f32x8_store_some(float* to, int stride, int n, f32x8 v) {
    float lanes[SIMD_LANES];
    f32x8_store(lanes, v);
    for (int i = 0; i < n; ++i) {
        to[i * stride] = lanes[i];
    }
}

/// Lane i is table[index[i]]; lanes from n on are 0.
TREACLE_ALWAYS_INLINE f32x8 f32x8_look_up(const float* table, const uint8_t* index, int n) {
    float lanes[SIMD_LANES] = {0};
    for (int i = 0; i < n; ++i) {
        lanes[i] = table[index[i]];
    }
    return f32x8_load(lanes);
}

/// Eight pairs of neighbours: out[0] is from[at[i]], out[1] is from[at[i] + 1] in lane i.
TREACLE_ALWAYS_INLINE void f32x8_load_pairs(const float* from, const int32_t at[SIMD_LANES],
                                            f32x8 out[2]) {
    typedef double f64x2 __attribute__((vector_size(16)));
    f32x4 two[4]; // each of two places; a pair travels as if it were one double
    for (int i = 0; i < 4; ++i) {
        double low, high;
        memcpy(&low, from + at[2 * i], sizeof(low));
        memcpy(&high, from + at[2 * i + 1], sizeof(high));
        two[i] = (f32x4)(f64x2){low, high};
    }
    f32x8 low = __builtin_shufflevector(two[0], two[1], 0, 1, 2, 3, 4, 5, 6, 7);
    f32x8 high = __builtin_shufflevector(two[2], two[3], 0, 1, 2, 3, 4, 5, 6, 7);
    out[0] = __builtin_shufflevector(low, high, 0, 2, 4, 6, 8, 10, 12, 14);
    out[1] = __builtin_shufflevector(low, high, 1, 3, 5, 7, 9, 11, 13, 15);
}

/// out[i] is lane i of the four vectors.
TREACLE_ALWAYS_INLINE void f32x8_to_quads(const f32x8 from[4], f32x4 out[SIMD_LANES]) {
    // Each half of a vector on its own: lanes 0..3, then 4..7.
    f32x8 low01 = __builtin_shufflevector(from[0], from[1], 0, 8, 1, 9, 4, 12, 5, 13);
    f32x8 high01 = __builtin_shufflevector(from[0], from[1], 2, 10, 3, 11, 6, 14, 7, 15);
    f32x8 low23 = __builtin_shufflevector(from[2], from[3], 0, 8, 1, 9, 4, 12, 5, 13);
    f32x8 high23 = __builtin_shufflevector(from[2], from[3], 2, 10, 3, 11, 6, 14, 7, 15);
    f32x8 quads[4] = {
        __builtin_shufflevector(low01, low23, 0, 1, 8, 9, 4, 5, 12, 13),     // lanes 0 and 4
        __builtin_shufflevector(low01, low23, 2, 3, 10, 11, 6, 7, 14, 15),   // 1 and 5
        __builtin_shufflevector(high01, high23, 0, 1, 8, 9, 4, 5, 12, 13),   // 2 and 6
        __builtin_shufflevector(high01, high23, 2, 3, 10, 11, 6, 7, 14, 15), // 3 and 7
    };
    for (int i = 0; i < 4; ++i) {
        out[i] = __builtin_shufflevector(quads[i], quads[i], 0, 1, 2, 3);
        out[4 + i] = __builtin_shufflevector(quads[i], quads[i], 4, 5, 6, 7);
    }
}

// The sum of the lanes, in pairs: ((0+4)+(2+6)) + ((1+5)+(3+7)).
TREACLE_ALWAYS_INLINE double f64x8_sum(f64x8 v) {
    return ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7]));
}

/// Lanes n .. n + 7 of the sixteen of low and high, n a constant 0..8. For any vectors of 8.
#define SIMD_SLIDE(low, high, n)                                                                   \
    __builtin_shufflevector((low), (high), (n), (n) + 1, (n) + 2, (n) + 3, (n) + 4, (n) + 5,       \
                            (n) + 6, (n) + 7)
