// The transfer kernels in double: the same lines as the product's, so that a test can tell what the
// law keeps exactly from what float rounding loses. Law: phys/transfer.h [S19 eq. 13-19].
#include <string.h>

#include "base/simd.h"

#define SCALAR double
#define REAL double
#define INT int32_t
#define QUAD f64x4
#define TRANSFER_NAME(name) transfer_double_##name
enum { LANES = 1 };

// The same number for all particles of the group.
static inline double transfer_double_set(double x) {
    return x;
}

static inline int32_t transfer_double_floor(double x) {
    int32_t toward_zero = (int32_t)x;
    return toward_zero - (x < (double)toward_zero);
}

static inline double transfer_double_from_int(int32_t i) {
    return (double)i;
}

// out[0] = from[at], out[1] = from[at + 1] of each particle.
static inline void transfer_double_load_pairs(const double* from, const int32_t at[LANES],
                                              double out[2]) {
    out[0] = from[at[0]];
    out[1] = from[at[0] + 1];
}

// Numbers 0, 1, 2, 3 of each particle side by side.
static inline void transfer_double_to_quads(const double from[4], f64x4 out[LANES]) {
    out[0] = (f64x4){from[0], from[1], from[2], from[3]};
}

#include "phys/transfer_body.h"

static transfer_double_stencil stencil_of(const transfer_place* place, const double* position) {
    transfer_double_stencil out;
    transfer_double_shape shape = {.kernel = place->kernel};
    transfer_double_stencil_at(place, shape, position, &out);
    return out;
}

void transfer_scatter_double(int64_t count, const double* position, const double* value,
                             const double* slope, const transfer_place* place, double* block) {
    TREACLE_ASSERT(count >= 0 && block != NULL);
    memset(block, 0, (2 * BLOCK_CELLS + BLOCK_TAIL) * sizeof(double));
    for (int64_t p = 0; p < count; ++p) {
        const double* c = slope + AXES * p;
        transfer_double_gift gift = {.m = 1.0, .u = value[p], .c = {c[0], c[1], c[2]}};
        transfer_double_stencil stencil = stencil_of(place, position + AXES * p);
        transfer_double_scatter_group(&stencil, true, &gift, LANES, block);
    }
}

void transfer_gather_double(int64_t count, const double* position, double* value, double* slope,
                            const transfer_place* place, const double* block) {
    TREACLE_ASSERT(count >= 0 && block != NULL);
    for (int64_t p = 0; p < count; ++p) {
        transfer_double_stencil stencil = stencil_of(place, position + AXES * p);
        value[p] = transfer_double_gather_group(&stencil, true, block, slope + AXES * p);
    }
}
