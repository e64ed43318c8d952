// Small matrices of the six motions of a rigid body.
#pragma once

enum { BODY_MOTIONS = 6 };

/// out = A^-1 of a symmetric positive matrix; rows and columns whose diagonal is zero stay zero.
void mat6_invert(const double a[BODY_MOTIONS][BODY_MOTIONS],
                 double out[BODY_MOTIONS][BODY_MOTIONS]);

/// out = A v
static inline void mat6_multiply(const double a[BODY_MOTIONS][BODY_MOTIONS], const double* v,
                                 double* out) {
    for (int i = 0; i < BODY_MOTIONS; ++i) {
        double sum = 0.0;
        for (int j = 0; j < BODY_MOTIONS; ++j) {
            sum += a[i][j] * v[j];
        }
        out[i] = sum;
    }
}

static inline double mat6_dot(const double* x, const double* y) {
    double sum = 0.0;
    for (int i = 0; i < BODY_MOTIONS; ++i) {
        sum += x[i] * y[i];
    }
    return sum;
}
