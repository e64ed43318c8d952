// What the cases of surface tension share: liquids of jittered points, and what their surface is.
#pragma once

#include "harness.h"

/// A liquid of any shape, in cells of the domain.
typedef struct tension_drop {
    double cell;      ///< m
    int cells[3];     ///< of the domain; 1: flat
    bool is_periodic; ///< along x
    double viscosity, tension, dt;
    uint64_t seed;
    double (*shape)(const double x[3]); ///< < 0 inside; x in cells
    double velocity[2], spin;           ///< cells a second, 1/s, about (16.2, 15.9)
} tension_drop;

/// Puts a point in each half of a cell along every axis, anywhere in its box, where the shape is.
treacle_status tension_lab_put(treacle_sim* sim, const tension_drop* d);

/// Points of the surface: where the distance is 0 between the middles of two cells.
typedef struct tension_surface {
    int64_t count;
    double (*at)[3]; ///< cells; of malloc
} tension_surface;
treacle_status tension_lab_surface(treacle_sim* sim, const tension_drop* d, tension_surface* out);

/// The circle, or the ball, through points that are higher above a plane than `least`, by least
/// squares. `up` is the plane's normal, `foot` a point of it; in cells.
typedef struct tension_plane {
    double foot[3], up[3], least;
} tension_plane;
typedef struct tension_ball {
    double middle[3], radius;
    double angle; ///< degrees, at which it meets the plane, through its inside
    double top;   ///< the highest point above the plane
} tension_ball;
tension_ball tension_lab_fit(const tension_surface* surface, const tension_plane* plane,
                             bool is_flat);

/// The volume of liquid in each column of cells along y, over its base, in cells: how high it
/// stands there. `out` has one value a cell of the xz plane, x fastest.
treacle_status tension_lab_heights(treacle_sim* sim, const tension_drop* d, double* out);
