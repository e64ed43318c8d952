// Parallel lines through a shape, on a square grid across them: where they enter it, and how wide
// the shape is as they see it.
#pragma once

#include "geometry/shape.h"
#include "grid/domain.h"

// Line (i, j) runs along `direction` through corner + i step u + j step v. In 2D all lines are in
// the mid-plane and v does not count; in 1D there is one line.
typedef struct line_grid {
    const shape* shape;
    vec3 corner, direction, u, v; // unit vectors but the corner, m
    double step;                  // m
    int64_t count_u, count_v;     // steps that cover the shape
    double length;                // m, of a line: from before the shape to behind it
    int axes;                     // that are active
} line_grid;

/// Lines that are `step` apart over the shape's bounds, which must be finite along active axes.
/// `direction` is a unit vector, 0 along inactive axes.
line_grid line_grid_lay(const grid_domain* domain, const shape* s, vec3 direction, double step);

/// Whether the line meets the shape, and where first. i and j need not be whole.
bool line_grid_enters(const line_grid* lines, double i, double j, vec3* entry);

/// The shape's area across the direction, m^2 (in 2D its width times h), by sampling: relative
/// error about 2e-4. Holes narrower than 1/64 of the shape may be missed.
treacle_status line_grid_area(treacle_context* ctx, const grid_domain* domain, const shape* s,
                              vec3 direction, double* out) TREACLE_NODISCARD;
