// Boundary value problems y' = f(y) on 0 <= t <= 1 by collocation: on every interval a cubic that
// meets the equation at both ends and in the middle (Simpson's rule), order 4.
//
//     y1 - y0 = h/6 (f(y0) + 4 f(ym) + f(y1)),   ym = (y0 + y1)/2 + h/8 (f(y0) - f(y1))
//
// Solved by Newton's method with halved steps; derivatives by differences; the band by elimination
// with pivots. Constants that are sought are functions whose slope is 0.
#pragma once

#include <stdbool.h>

#include "base/compiler.h"
#include "treacle/base.h"

typedef struct collocation {
    int size;                   // of y
    int begin_count, end_count; // conditions at t = 0 and 1; together as many as y has numbers
    void (*slopes)(const void* data, const double* y, double* out);
    void (*begin)(const void* data, const double* y, double* out); // 0 where they hold
    void (*end)(const void* data, const double* y, double* out);
    const void* data;
    int nodes;
    double* t;    // [nodes], from 0 to 1
    double* y;    // [nodes][size], the first guess and the solution
    double* last; // [nodes][size], another solution that moves along with the nodes
} collocation;

/// *is_solved says whether Newton's method came to its end; otherwise y is as it was.
treacle_status collocation_solve(treacle_context* ctx, collocation* c,
                                 bool* is_solved) TREACLE_NODISCARD;

/// Moves the nodes to where the solution bends, and the solution with them.
treacle_status collocation_spread(treacle_context* ctx, collocation* c) TREACLE_NODISCARD;
