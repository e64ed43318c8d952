// Free flight: particles that feel gravity and nothing else.
//
// Symplectic Euler: v += g dt, then x += v dt. Positions are in cells.
#pragma once

#include "base/simd.h"
#include "grid/domain.h"
#include "particles/particles.h"

/// Rows of three floats as one run of floats, each moved by the entry of its axis.
typedef struct ballistic_push {
    float kick[AXES];  // m/s, added to the velocity: g dt; 0 along an inactive axis
    float drift[AXES]; // cells per m/s: dt / h; 0 along an inactive axis
} ballistic_push;

ISA_DECLARE(void, ballistic_rows,
            (int64_t count, float* position, float* velocity, const ballistic_push* push));
/// The largest squared speed of the rows; NaN does not count, inf does.
ISA_DECLARE(float, ballistic_max_squared, (int64_t count, const float* velocity));

/// Moves all particles by one step; `kick` is the integral of gravity over it, m/s.
void ballistic_advect(const particles* p, const grid_domain* domain, const double kick[AXES],
                      double dt);
/// The largest speed, m/s; 0 without particles.
double ballistic_max_speed(const grid_domain* domain, const particles* p);
