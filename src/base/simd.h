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

// The sum of the lanes, in pairs: ((0+4)+(2+6)) + ((1+5)+(3+7)).
TREACLE_ALWAYS_INLINE double f64x8_sum(f64x8 v) {
    return ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7]));
}

/// Lanes n .. n + 7 of the sixteen of low and high, n a constant 0..8. For any vectors of 8.
#define SIMD_SLIDE(low, high, n)                                                                   \
    __builtin_shufflevector((low), (high), (n), (n) + 1, (n) + 2, (n) + 3, (n) + 4, (n) + 5,       \
                            (n) + 6, (n) + 7)
