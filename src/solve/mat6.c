#include "solve/mat6.h"

#include <string.h>

void mat6_invert(const double a[BODY_MOTIONS][BODY_MOTIONS],
                 double out[BODY_MOTIONS][BODY_MOTIONS]) {
    // Gauss and Jordan on [a | 1], without pivoting: a is symmetric and positive. A motion that has
    // no inertia, as three of six in two dimensions, becomes a row of the unit matrix with a zero
    // beside it, and so a zero row of the inverse.
    double m[BODY_MOTIONS][2 * BODY_MOTIONS] = {{0}};
    for (int i = 0; i < BODY_MOTIONS; ++i) {
        memcpy(m[i], a[i], BODY_MOTIONS * sizeof(double));
        m[i][i] = a[i][i] > 0.0 ? a[i][i] : 1.0;
        m[i][BODY_MOTIONS + i] = a[i][i] > 0.0 ? 1.0 : 0.0;
    }
    for (int k = 0; k < BODY_MOTIONS; ++k) {
        for (int i = 0; i < BODY_MOTIONS; ++i) {
            double ratio = m[i][k] / m[k][k];
            for (int j = 0; j < 2 * BODY_MOTIONS && i != k; ++j) {
                m[i][j] -= ratio * m[k][j];
            }
        }
    }
    for (int i = 0; i < BODY_MOTIONS; ++i) {
        for (int j = 0; j < BODY_MOTIONS; ++j) {
            double here = m[i][BODY_MOTIONS + j] / m[i][i],
                   there = m[j][BODY_MOTIONS + i] / m[j][j];
            // Rounding has made the two differ: their mean is symmetric, as the factors that use it
            // need.
            out[i][j] = 0.5 * (here + there);
        }
    }
}
