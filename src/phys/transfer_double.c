// The transfer kernels in double: the same lines as the product's, so that a test can tell what the
// law keeps exactly from what float rounding loses. Law: phys/transfer.h [S19 eq. 13-19].
#include <string.h>

#include "base/simd.h"

#define REAL double
#define VEC8 f64x8
#define VEC4 f64x4
#define TRANSFER_NAME(name) transfer_double_##name
#include "phys/transfer_body.h"

void transfer_scatter_double(int64_t count, const double* position, const double* value,
                             const double* slope, const transfer_place* place, double* block) {
    memset(block, 0, (2 * BLOCK_CELLS + BLOCK_TAIL) * sizeof(double));
    for (int64_t p = 0; p < count; ++p) {
        transfer_double_stencil stencil;
        transfer_double_stencil_at(place, position + 3 * p, &stencil);
        transfer_double_scatter_one(&stencil, 1.0, value[p], slope + 3 * p, block);
    }
}

void transfer_gather_double(int64_t count, const double* position, double* value, double* slope,
                            const transfer_place* place, const double* block) {
    for (int64_t p = 0; p < count; ++p) {
        transfer_double_stencil stencil;
        transfer_double_stencil_at(place, position + 3 * p, &stencil);
        value[p] = transfer_double_gather_one(&stencil, block, slope + 3 * p);
    }
}
