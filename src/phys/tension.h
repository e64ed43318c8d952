// The pull of the liquid's surface: the force that its curvature puts on faces.
#pragma once

#include "phys/stress.h"

/// The surface, as a flow needs it. Fields are [count + 1][512].
typedef struct tension_params {
    const float* cell_kappa;         // curvature times h (phys/curvature.h)
    const float* cell_weight;        // how much the curvature of a cell counts at a face
    const float* edge_area[AXES][2]; // at edges, over h^2 (grid/sheet.h); NULL: all is explicit
    const float* cell_sigma;         // N/m, < 0 where it is not known; NULL: sigma, everywhere
    double sigma;                    // N/m
} tension_params;

/// The weight of a cell with that area of surface, over h^2, at that distance from it, in cells.
float tension_weight(float area, float phi);

/// force, [tile][axis][512]: what the surface does to unknown faces in a step, momentum over
/// reference_density h^3, m/s; 0 elsewhere. cell_volume: fraction of liquid of cells with a
/// pressure, 0 in others, the very field of the solve.
void tension_force(const tension_params* surface, const stress_params* liquid,
                   const stress_weights* weights, const float* cell_volume, double* force);

/// Adds to the weights what makes the pull implicit [tension.3]; nothing without edge_area.
treacle_status tension_add_weights(const tension_params* surface, const stress_params* liquid,
                                   stress_weights* weights) TREACLE_NODISCARD;
/// out += scale K_s v at unknown faces, with K_s the matrix of those weights; nothing without them.
/// Both are [tile][axis][512].
void tension_add_stiffness(const stress_params* liquid, const stress_weights* weights, double scale,
                           const double* v, double* out);

/// The liquid of a scene that tension moves most.
typedef struct tension_liquid {
    double h;          // m, of a cell
    double rho, sigma; // kg/m^3, N/m
    double mu;         // Pa s, that it has at least
} tension_liquid;
/// How large dt may be where tension is explicit, or implicit [tension.6]; infinite without
/// tension.
double tension_step_limit(const tension_liquid* liquid, bool is_implicit);
