// Free flight: particles that feel gravity and nothing else.
//
// x += v dt + integral over the step of (t + dt - s) g(s) ds [path.1], v += integral of g: exact
// for any step. Positions are in cells.
#pragma once

#include "base/simd.h"
#include "grid/domain.h"
#include "particles/particles.h"

/// Rows of three floats as one run of floats, each moved by the entry of its axis.
typedef struct ballistic_push {
    float kick[AXES];  // m/s, added to the velocity: g dt; 0 along an inactive axis
    float drift[AXES]; // cells per m/s: dt / h; 0 along an inactive axis
    float fall[AXES];  // cells, what gravity adds to the way; 0 along an inactive axis
} ballistic_push;

ISA_DECLARE(void, ballistic_rows,
            (int64_t count, float* position, float* velocity, const ballistic_push* push));
/// The largest squared speed of the rows; NaN does not count, inf does.
ISA_DECLARE(float, ballistic_max_squared, (int64_t count, const float* velocity));

/// Moves all particles from one moment to another, s.
void ballistic_advect(const particles* p, const grid_domain* domain, const treacle_curve* gravity,
                      double from, double to);
/// The largest speed, m/s; 0 without particles.
double ballistic_max_speed(const particles* p);
