#include "math/mat3.h"

#include "base/check.h"
#include "math/elementary.h"

mat3 mat3_multiply(const mat3* a, const mat3* b) {
    mat3 c;
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            c.at[i][j] = vec3_dot(mat3_row(a, i), mat3_column(b, j));
        }
    }
    return c;
}

mat3 mat3_transpose(const mat3* a) {
    mat3 t;
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            t.at[i][j] = a->at[j][i];
        }
    }
    return t;
}

double mat3_determinant(const mat3* a) {
    return vec3_dot(mat3_row(a, 0), vec3_cross(mat3_row(a, 1), mat3_row(a, 2)));
}

bool mat3_invert(const mat3* a, mat3* out) {
    TREACLE_ASSERT(out != NULL);
    double determinant = mat3_determinant(a);
    if (determinant == 0.0 || !isfinite(determinant)) {
        return false;
    }
    mat3 inverse;
    for (int j = 0; j < 3; ++j) {
        // Column j of the inverse is orthogonal to the two other rows.
        vec3 column = vec3_cross(mat3_row(a, (j + 1) % 3), mat3_row(a, (j + 2) % 3));
        for (int i = 0; i < 3; ++i) {
            inverse.at[i][j] = column.at[i] / determinant;
        }
    }
    *out = inverse;
    return true;
}

// sin or cos of a double next to a multiple of pi/2 is the distance to it, not 0; and there is no
// other angle of a few turns this near to one.
static double snap(double x) {
    return fabs(x) < 1e-15 ? 0.0 : x;
}

// Turns the plane of the axes b and c, from b to c.
static mat3 turn(int b, int c, double angle) {
    double cosine = snap(elementary_cos(angle)), sine = snap(elementary_sin(angle));
    mat3 r = mat3_identity();
    r.at[b][b] = cosine;
    r.at[b][c] = -sine;
    r.at[c][b] = sine;
    r.at[c][c] = cosine;
    return r;
}

mat3 mat3_rotation(const double angles[3]) {
    TREACLE_ASSERT(isfinite(angles[0]) && isfinite(angles[1]) && isfinite(angles[2]));
    mat3 x = turn(1, 2, angles[0]), y = turn(2, 0, angles[1]), z = turn(0, 1, angles[2]);
    mat3 yx = mat3_multiply(&y, &x);
    return mat3_multiply(&z, &yx);
}

// R = 1 + sin(w) K + (1 - cos(w)) K^2, K x = axis cross x.
mat3 mat3_rotation_about(vec3 turn) {
    TREACLE_ASSERT(vec3_is_finite(turn));
    double angle = vec3_length(turn);
    vec3 n = vec3_normalise(turn);
    double sine = elementary_sin(angle), half = elementary_sin(0.5 * angle);
    mat3 r = mat3_identity();
    for (int j = 0; j < 3; ++j) {
        vec3 once = vec3_cross(n, mat3_column(&r, j));
        vec3 twice = vec3_cross(n, once);
        vec3 column = vec3_add_scaled(vec3_scale(sine, once), 2.0 * half * half, twice);
        for (int i = 0; i < 3; ++i) {
            r.at[i][j] = (i == j ? 1.0 : 0.0) + column.at[i];
        }
    }
    return r;
}
