// The pull of the liquid's surface: the force that its curvature puts on faces.
#pragma once

#include "phys/stress.h"

/// The surface, as a flow needs it. Fields are [count + 1][512].
typedef struct tension_params {
    const float* cell_kappa;  // curvature times h (phys/curvature.h)
    const float* cell_weight; // how much the curvature of a cell counts at a face
    const float* cell_sigma;  // N/m, < 0 where it is not known; NULL: sigma, everywhere
    double sigma;             // N/m
} tension_params;

/// The weight of a cell with that area of surface, over h^2, at that distance from it, in cells.
float tension_weight(float area, float phi);

/// force, [tile][axis][512]: what the surface does to unknown faces in a step, momentum over
/// reference_density h^3, m/s; 0 elsewhere. cell_volume: fraction of liquid of cells with a
/// pressure, 0 in others, the very field of the solve.
void tension_force(const tension_params* surface, const stress_params* liquid,
                   const stress_weights* weights, const float* cell_volume, double* force);

/// How large dt may be where tension is explicit: for cells of h, liquids of density rho, tension
/// sigma and viscosity mu at least [tension.6]; infinite without tension.
double tension_step_limit(double h, double rho, double sigma, double mu);
