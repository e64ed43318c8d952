#include "sim/ballistic.h"

// Eight rows are three vectors, in which the axes run x y z x y z ...: so three patterns of the
// push repeat through the whole column.
enum { ROWS = SIMD_LANES, VECTORS = AXES };

static void repeat(const float by_axis[AXES], f32x8 pattern[VECTORS]) {
    for (int i = 0; i < VECTORS * SIMD_LANES; ++i) {
        pattern[i / SIMD_LANES][i % SIMD_LANES] = by_axis[i % AXES];
    }
}

void ISA(ballistic_rows)(int64_t count, float* position, float* velocity,
                         const ballistic_push* push) {
    TREACLE_ASSERT(count >= 0);
    f32x8 kick[VECTORS], drift[VECTORS], fall[VECTORS];
    repeat(push->kick, kick);
    repeat(push->drift, drift);
    repeat(push->fall, fall);
    int64_t row = 0;
    for (; row + ROWS <= count; row += ROWS) {
        for (int k = 0; k < VECTORS; ++k) {
            float* x = position + AXES * row + SIMD_LANES * k;
            float* v = velocity + AXES * row + SIMD_LANES * k;
            f32x8 before = f32x8_load(v);
            f32x8_store(x, f32x8_load(x) + (before * drift[k] + fall[k]));
            f32x8_store(v, before + kick[k]);
        }
    }
    for (int64_t i = AXES * row; i < AXES * count; ++i) {
        position[i] += velocity[i] * push->drift[i % AXES] + push->fall[i % AXES];
        velocity[i] += push->kick[i % AXES];
    }
}

static inline float squared(const float v[AXES]) {
    return (v[0] * v[0] + v[1] * v[1]) + v[2] * v[2];
}

float ISA(ballistic_max_squared)(int64_t count, const float* velocity) {
    TREACLE_ASSERT(count >= 0);
    float most[ROWS] = {0};
    int64_t row = 0;
    for (; row + ROWS <= count; row += ROWS) {
        for (int k = 0; k < ROWS; ++k) {
            float s = squared(velocity + AXES * (row + k));
            most[k] = s > most[k] ? s : most[k];
        }
    }
    float out = 0.0f;
    for (int k = 0; k < ROWS; ++k) {
        out = most[k] > out ? most[k] : out;
    }
    for (; row < count; ++row) {
        float s = squared(velocity + AXES * row);
        out = s > out ? s : out;
    }
    return out;
}
