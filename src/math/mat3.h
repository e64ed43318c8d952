// 3 x 3 matrices, in double. at[row][column].
#pragma once

#include "base/check.h"
#include "math/vec3.h"

typedef struct mat3 {
    double at[3][3];
} mat3;

static inline mat3 mat3_identity(void) {
    return (mat3){{{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}}};
}

static inline vec3 mat3_row(const mat3* a, int row) {
    TREACLE_ASSERT(row >= 0 && row < 3);
    return vec3_from(a->at[row]);
}

static inline vec3 mat3_column(const mat3* a, int column) {
    TREACLE_ASSERT(column >= 0 && column < 3);
    return vec3_make(a->at[0][column], a->at[1][column], a->at[2][column]);
}

/// A x
static inline vec3 mat3_apply(const mat3* a, vec3 x) {
    return vec3_make(vec3_dot(mat3_row(a, 0), x), vec3_dot(mat3_row(a, 1), x),
                     vec3_dot(mat3_row(a, 2), x));
}

/// A^T x
static inline vec3 mat3_apply_transposed(const mat3* a, vec3 x) {
    return vec3_make(vec3_dot(mat3_column(a, 0), x), vec3_dot(mat3_column(a, 1), x),
                     vec3_dot(mat3_column(a, 2), x));
}

mat3 mat3_multiply(const mat3* a, const mat3* b);
mat3 mat3_transpose(const mat3* a);
double mat3_determinant(const mat3* a);
/// False, and *out untouched, where the determinant is zero or not finite.
bool mat3_invert(const mat3* a, mat3* out);
/// The rotation by angles[0] about x, then angles[1] about y, then angles[2] about z (rad), the
/// axes staying where they are: R = Rz Ry Rx. Multiples of a right angle, as near as a double can
/// say them, turn exactly.
mat3 mat3_rotation(const double angles[3]);
/// The rotation about the direction of `turn` by its length, rad.
mat3 mat3_rotation_about(vec3 turn);
