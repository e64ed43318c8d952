// The transfer kernels of a tile in float, eight particles at a time. Law and layout:
// phys/transfer.h [S19 eq. 13-19]; the loops: phys/transfer_body.h.
#include "base/simd.h"

#define SCALAR float
#define REAL f32x8
#define INT i32x8
#define QUAD f32x4
#define TRANSFER_NAME(name) transfer_float_##name
enum { LANES = SIMD_LANES };

TREACLE_ALWAYS_INLINE f32x8 transfer_float_set(float x) {
    return f32x8_set(x);
}

TREACLE_ALWAYS_INLINE f32x8 transfer_float_from_int(i32x8 i) {
    return f32x8_from_i32x8(i);
}

TREACLE_ALWAYS_INLINE i32x8 transfer_float_floor(f32x8 x) {
    i32x8 toward_zero = i32x8_from_f32x8(x);
    return toward_zero + (x < f32x8_from_i32x8(toward_zero)); // a true comparison is -1
}

TREACLE_ALWAYS_INLINE void transfer_float_load_pairs(const float* from, const int32_t at[LANES],
                                                     f32x8 out[2]) {
    f32x8_load_pairs(from, at, out);
}

TREACLE_ALWAYS_INLINE void transfer_float_to_quads(const f32x8 from[4], f32x4 out[LANES]) {
    f32x8_to_quads(from, out);
}

#include "phys/transfer_body.h"

static const transfer_float_shape flat_linear = {TREACLE_KERNEL_LINEAR, true, false};
static const transfer_float_shape sloped_linear = {TREACLE_KERNEL_LINEAR, true, true};

static bool transfer_is_full(const transfer_place* place) {
    return place->is_active[0] && place->is_active[1] && place->is_active[2];
}

TREACLE_ALWAYS_INLINE void fetch_positions(const float* position, int n, f32x8 out[AXES]) {
    for (int a = 0; a < AXES; ++a) {
        out[a] = f32x8_load_some(position + a, AXES, n);
    }
}

TREACLE_ALWAYS_INLINE void scatter(const transfer_source* s, const transfer_place* place,
                                   transfer_float_shape shape, float* block) {
    for (int64_t p = 0; p < s->count; p += LANES) {
        int n = s->count - p < LANES ? (int)(s->count - p) : LANES;
        f32x8 position[AXES];
        fetch_positions(s->position + AXES * p, n, position);
        transfer_float_stencil stencil;
        transfer_float_stencil_at(place, shape, position, &stencil);
        transfer_float_gift gift;
        gift.m = f32x8_load_some(s->volume + p, 1, n) * s->volume_scale;
        if (s->density != NULL) {
            gift.m *= f32x8_look_up(s->density, s->material + p, n);
        }
        gift.u = f32x8_load_some(s->value + s->value_stride * p, s->value_stride, n) - s->reference;
        for (int a = 0; shape.has_slope && a < AXES; ++a) {
            const float* slope = s->slope + s->slope_stride * p + a;
            gift.c[a] = f32x8_load_some(slope, s->slope_stride, n) * s->slope_scale;
        }
        transfer_float_scatter_group(&stencil, shape.has_slope, &gift, n, block);
    }
}

void ISA(transfer_scatter)(const transfer_source* source, const transfer_place* place,
                           float* block) {
    TREACLE_ASSERT(source->count >= 0 && source->value_stride > 0);
    TREACLE_ASSERT(source->density == NULL || source->material != NULL);
    memset(block, 0, (2 * BLOCK_CELLS + BLOCK_TAIL) * sizeof(float));
    bool has_slope = source->slope != NULL;
    if (place->kernel != TREACLE_KERNEL_LINEAR || !transfer_is_full(place)) {
        scatter(source, place, (transfer_float_shape){place->kernel, false, has_slope}, block);
    } else if (has_slope) {
        scatter(source, place, sloped_linear, block);
    } else {
        scatter(source, place, flat_linear, block);
    }
}

typedef struct gather_blocks {
    const float *now, *old;
} gather_blocks;

TREACLE_ALWAYS_INLINE void gather(const transfer_target* t, const transfer_place* place,
                                  transfer_float_shape shape, gather_blocks blocks) {
    for (int64_t p = 0; p < t->count; p += LANES) {
        int n = t->count - p < LANES ? (int)(t->count - p) : LANES;
        f32x8 position[AXES], slope[AXES], unused[AXES];
        fetch_positions(t->position + AXES * p, n, position);
        transfer_float_stencil stencil;
        transfer_float_stencil_at(place, shape, position, &stencil);
        f32x8 value = transfer_float_gather_group(&stencil, shape.has_slope, blocks.now, slope);
        float* own = t->value + t->value_stride * p;
        if (t->keep != NULL) {
            // [S19 eq. 16, 17]: alpha (u_p + new - old) + (1 - alpha) new
            f32x8 before = transfer_float_gather_group(&stencil, false, blocks.old, unused);
            f32x8 change = f32x8_load_some(own, t->value_stride, n) - before;
            value += f32x8_look_up(t->keep, t->material + p, n) * change;
        }
        if (!t->keeps_value) {
            f32x8_store_some(own, t->value_stride, n, value);
        }
        for (int a = 0; shape.has_slope && a < AXES; ++a) {
            float* to = t->slope + t->slope_stride * p + a;
            f32x8_store_some(to, t->slope_stride, n, slope[a] * t->slope_scale);
        }
    }
}

void ISA(transfer_gather)(const transfer_target* target, const transfer_place* place,
                          const float* block, const float* old) {
    TREACLE_ASSERT(target->count >= 0 && target->value_stride > 0);
    TREACLE_ASSERT(target->keep == NULL || (old != NULL && target->material != NULL));
    gather_blocks blocks = {block, old};
    bool has_slope = target->slope != NULL;
    if (place->kernel != TREACLE_KERNEL_LINEAR || !transfer_is_full(place)) {
        gather(target, place, (transfer_float_shape){place->kernel, false, has_slope}, blocks);
    } else if (has_slope) {
        gather(target, place, sloped_linear, blocks);
    } else {
        gather(target, place, flat_linear, blocks);
    }
}
