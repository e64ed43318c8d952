// The transfer kernels of a tile in float. Law and layout: phys/transfer.h [S19 eq. 13-19].
#include "base/simd.h"

#define REAL float
#define VEC8 f32x8
#define VEC4 f32x4
#define TRANSFER_NAME(name) transfer_float_##name
#include "phys/transfer_body.h"

void ISA(transfer_scatter)(const transfer_source* source, const transfer_place* place,
                           float* block) {
    memset(block, 0, (2 * BLOCK_CELLS + BLOCK_TAIL) * sizeof(float));
    for (int64_t p = 0; p < source->count; ++p) {
        transfer_float_stencil stencil;
        transfer_float_stencil_at(place, source->position + 3 * p, &stencil);
        float m = source->volume[p] * source->volume_scale;
        if (source->density != NULL) {
            m *= source->density[source->material[p]];
        }
        float c[AXES] = {0, 0, 0};
        for (int a = 0; source->slope != NULL && a < AXES; ++a) {
            c[a] = source->slope[source->slope_stride * p + a] * source->slope_scale;
        }
        float u = source->value[source->value_stride * p] - source->reference;
        transfer_float_scatter_one(&stencil, m, u, c, block);
    }
}

void ISA(transfer_gather)(const transfer_target* target, const transfer_place* place,
                          const float* block, const float* old) {
    for (int64_t p = 0; p < target->count; ++p) {
        transfer_float_stencil stencil;
        transfer_float_stencil_at(place, target->position + 3 * p, &stencil);
        float slope[AXES], unused[AXES];
        float value = transfer_float_gather_one(&stencil, block, slope);
        float* own = target->value + target->value_stride * p;
        if (target->keep != NULL) {
            // [S19 eq. 16, 17]: alpha (u_p + new - old) + (1 - alpha) new
            float before = transfer_float_gather_one(&stencil, old, unused);
            value += target->keep[target->material[p]] * (*own - before);
        }
        *own = target->keeps_value ? *own : value;
        for (int a = 0; target->slope != NULL && a < AXES; ++a) {
            target->slope[target->slope_stride * p + a] = slope[a] * target->slope_scale;
        }
    }
}
