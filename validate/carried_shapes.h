// Shapes that a given flow carries [SUITE 14], for particles and for the level set.
#pragma once

#include "cases.h"

/// Negative inside; need be a distance only in sign.
typedef double carried_border(double x, double y);

typedef struct carried_shape {
    const char* name;
    double side; // of the square, m
    int cells, steps;
    double until;      // s
    const char* shape; // in the scene
    carried_border* border;
    double area, length; // exact, m^2 and m
    treacle_field velocity;
    bool is_reversed; // runs back to its start from half time on
    double area_tolerance;
} carried_shape;

/// Zalesak's disc: radius 15, slot 5 x 25, in a square of 100 cells, turns once in 628 steps.
carried_shape carried_zalesak(void);
/// The single vortex: a disc of radius 0.15 in a unit square of 128 cells is drawn into a spiral
/// and back again, u = cos(pi t/T) curl(sin^2(pi x) sin^2(pi y) / pi), T = 8.
carried_shape carried_vortex(void);
