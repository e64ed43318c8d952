// What a solve was asked for and how it went.
//
// A solve that does not reach its target is no error: it says so here, with the best that it has,
// and the caller decides.
#pragma once

#include "solve/regime.h"

enum { SOLVE_HISTORY = 256 };

/// The size of a residual.
typedef enum solve_norm {
    SOLVE_NORM_2,   // root of the sum of squares
    SOLVE_NORM_MAX, // largest magnitude
} solve_norm;

/// Stops as soon as |r| <= max(relative |b|, absolute); with SOLVE_NORM_2 `absolute` is the root of
/// the mean square, so that it has the unit of one unknown in both norms.
typedef struct solve_params {
    solve_norm norm;
    double relative;
    double absolute;
    int max_iterations;
    bool is_warm;               // x holds a first guess; otherwise it is taken as zero
    double patience;            // gives up when so many more iterations seem necessary; 0: never
    const solve_policy* policy; // of the loop; NULL: the default
} solve_params;

static inline solve_params solve_params_default(void) {
    return (solve_params){.norm = SOLVE_NORM_2, .relative = 1e-6, .max_iterations = 200};
}

typedef struct solve_stats {
    bool is_converged;
    bool is_stagnated; // gave up because the residual fell no more
    bool is_slow;      // gave up because the patience of the params was at an end
    bool is_broken;    // met a NaN or a direction of negative energy
    int iterations;
    double unknowns;   // active ones
    double dropped;    // of b, the largest mean over a closed region: it has no solution
    double rhs_norm;   // |b| in the norm of the params
    double target;     // the |r| at which it stops
    double residual;   // the last |r|, carried along by the recurrence
    double factor;     // mean reduction of |r| an iteration
    double seconds;    // wall time
    int history_count; // entries of history: the first SOLVE_HISTORY - 1 and the last
    double history[SOLVE_HISTORY];  // |r| after 0, 1, 2, ... iterations
    char regime[SOLVE_REGIME_NAME]; // how it was solved (solve/regime.h)
} solve_stats;
