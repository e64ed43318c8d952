// What cases read off a simulation.
#pragma once

#include "harness.h"

/// Sums over particles, weighted by volume. Of the whole liquid, or of one material.
typedef struct measure_sums {
    int64_t count;
    double volume;          ///< m^3
    double centre[3];       ///< m
    double velocity[3];     ///< m/s, mean
    double rms_speed;       ///< m/s
    double lowest, highest; ///< m, of any particle, along y
} measure_sums;

enum { MEASURE_ALL = -1 };
treacle_status measure_particles(treacle_sim* sim, int material, measure_sums* out);

/// The mean of the particles' elastic strain: xx, yy, zz, yz, zx, xy.
treacle_status measure_strain(validate* v, treacle_sim* sim, double out[6]);

/// The largest difference of velocity between neighbouring faces of one component, m/s: cell width
/// times the largest entry of the velocity's gradient. Faces count that touch a cell with particles
/// in it.
treacle_status measure_shear(validate* v, treacle_sim* sim, double* out);

/// A field of the state, spread over the domain with one more layer at the far sides: the value of
/// (x, y, z) is at[(z size[1] + y) size[0] + x], 0 where there is no tile.
typedef struct measure_field {
    int64_t size[3];
    float* at; ///< of malloc
} measure_field;
treacle_status measure_field_create(validate* v, treacle_sim* sim, const char* name,
                                    measure_field* out);

/// The straight line through the heights of the surface over x, in every column of cells.
typedef struct measure_level {
    double height; ///< m, in the middle
    double tilt;   ///< m, from one end to the other
} measure_level;
treacle_status measure_surface(validate* v, treacle_sim* sim, measure_level* out);
