// The slender viscous rope that coils steadily: a boundary value problem, solved by collocation.
// Internal to src/measure; what it means is in docs/math/coiling.md.
#pragma once

#include "base/compiler.h"
#include "treacle/coiling.h"

enum { ROPE_BRANCHES = TREACLE_COILING_STATES };

/// One steady way to coil.
typedef struct rope_state {
    double height;    // m, from the nozzle to where the rope lies
    double frequency; // rad/s
    double radius;    // m, of the coil
    double thread;    // m, radius of the rope where it lies
} rope_state;

/// All steady states that are found at the height, along the curve of frequency over height that
/// begins with a short rope; the first is the one that is reached first. *count is at most
/// ROPE_BRANCHES, and 0 if none was found.
treacle_status rope_solve(treacle_context* ctx, const treacle_nozzle* nozzle, double height,
                          rope_state out[ROPE_BRANCHES], int* count) TREACLE_NODISCARD;
