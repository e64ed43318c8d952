// The weights of phys/transfer_weights.h for one particle at a time, in float.
#pragma once

#include "base/context.h"
#include "phys/transfer.h"

#define SCALAR float
#define REAL float
#define INT int32_t
#define TRANSFER_NAME(name) thin_##name

static inline float thin_set(float x) {
    return x;
}

static inline int32_t thin_floor(float x) {
    int32_t toward_zero = (int32_t)x;
    return toward_zero - (x < (float)toward_zero);
}

static inline float thin_from_int(int32_t i) {
    return (float)i;
}

#include "phys/transfer_weights.h"

typedef struct thin_stencil {
    thin_axis_weights axis[AXES];
    int at; // index in a block of the first sample
} thin_stencil;

static inline void thin_stencil_at(const transfer_place* place, const float position[AXES],
                                   thin_stencil* out) {
    int base[AXES];
    for (int a = 0; a < AXES; ++a) {
        float g = position[a] - (float)place->offset[a];
        thin_weights(place->kernel, place->is_active[a], g, &out->axis[a]);
        base[a] = out->axis[a].base + BLOCK_HALO;
    }
    out->at = (base[2] * BLOCK_SIZE + base[1]) * BLOCK_SIZE + base[0];
}

/// Where sample (i, j, k) of the stencil is in a block.
static inline int thin_sample_at(const thin_stencil* st, const int at[AXES]) {
    return st->at + (at[2] * BLOCK_SIZE + at[1]) * BLOCK_SIZE + at[0];
}

static inline bool thin_is_seen(uint64_t seen, const int at[AXES]) {
    return seen >> ((at[2] * 4 + at[1]) * 4 + at[0]) & 1;
}
