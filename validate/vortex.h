// The Taylor-Green vortices without viscosity, and how much of their motion is left.
//
// Four eddies in a periodic unit square, or one in a square with slip walls,
//
//     u = -U cos(k x) sin(k y),  v = U sin(k x) cos(k y)         U = 1 m/s, k = 2 pi/m (periodic)
//     u =  U sin(k x) cos(k y),  v = -U cos(k x) sin(k y)        k = pi/m (walls)
//
// are steady flows: what they lose is lost by the method. A viscosity nu would take the energy down
// by exp(-4 nu k^2 t), and a method has the numerical viscosity that explains its loss.
//
// The energy is that of the flow: of the velocity on faces, after the pressure solve,
//
//     E = 1/2 sum over faces u_f^2 h^2,   E = U^2/4 for the exact flow at the start,
//
// not that of the particles. Particles of FLIP carry noise that the grid does not see, and in those
// of APIC a part of the energy is in their affine velocities.
#pragma once

#include "harness.h"

typedef struct vortex_def {
    int cells;            // along a side
    bool has_walls;       // else periodic
    const char* transfer; // pic, flip or apic
    double flip_blend;    // ignored but for flip
    bool is_quadratic;    // kernel; else linear
    double viscosity;     // m^2/s, > 0: with flip_from_viscosity
    double courant;       // steps of courant h / U
    bool is_second;       // order of the splitting; else first
    double until;         // s
} vortex_def;

/// E(until) / E(0), mean over `seeds` random placements of the particles, 4 to a cell.
treacle_status vortex_energy(validate* v, const vortex_def* def, int seeds, double* out);
/// The viscosity, m^2/s, that takes the energy down to that share.
double vortex_viscosity(const vortex_def* def, double energy);
