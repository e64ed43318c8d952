// Random numbers without a generator: a hash of (seed, id, purpose). Whoever asks, in whatever
// order, gets the same number.
#pragma once

#include "base/hash.h"

// Each use has a purpose of its own, so that the choices for one particle are independent. The
// numbers are part of what a scene means: add at the end, never reorder.
typedef enum random_purpose {
    RANDOM_JITTER_X,
    RANDOM_JITTER_Y,
    RANDOM_JITTER_Z,
    RANDOM_EMIT_X,
    RANDOM_EMIT_Y,
    RANDOM_EMIT_Z,
    RANDOM_SPLIT_X,
    RANDOM_SPLIT_Y,
    RANDOM_SPLIT_Z,
    RANDOM_TEST,
    RANDOM_BOX,
    RANDOM_STRENGTH,
} random_purpose;

static inline uint64_t hash_random_bits(uint64_t seed, uint64_t id, random_purpose purpose) {
    return hash_combine(hash_combine(seed, id), (uint64_t)purpose);
}

/// Uniform in [0, 1), a multiple of 2^-53.
static inline double hash_random_f64(uint64_t seed, uint64_t id, random_purpose purpose) {
    return (double)(hash_random_bits(seed, id, purpose) >> 11) * 0x1p-53;
}

/// Uniform in [0, 1), a multiple of 2^-24.
static inline float hash_random_f32(uint64_t seed, uint64_t id, random_purpose purpose) {
    return (float)(hash_random_bits(seed, id, purpose) >> 40) * 0x1p-24f;
}
