#include "sim/guard.h"

// Without their sign, the bits of floats are in the order of their values, and those of infinity
// and NaN are above all others.
static const int32_t no_sign = 0x7fffffff;

static inline int32_t bits_of(float value) {
    int32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return bits & no_sign;
}

float ISA(guard_largest)(int64_t count, const float* values) {
    TREACLE_ASSERT(count >= 0);
    i32x8 most = {0};
    int64_t at = 0;
    for (; at + SIMD_LANES <= count; at += SIMD_LANES) {
        i32x8 bits;
        memcpy(&bits, values + at, sizeof(bits));
        bits &= no_sign;
        i32x8 is_more = bits > most;
        most = (is_more & bits) | (~is_more & most);
    }
    int32_t out = 0;
    for (int k = 0; k < SIMD_LANES; ++k) {
        out = most[k] > out ? most[k] : out;
    }
    for (; at < count; ++at) {
        int32_t bits = bits_of(values[at]);
        out = bits > out ? bits : out;
    }
    float largest;
    memcpy(&largest, &out, sizeof(largest));
    return largest;
}
