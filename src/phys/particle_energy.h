// What particles have of energy.
#pragma once

#include "base/arena.h"
#include "particles/particles.h"
#include "phys/strain.h"

/// J
typedef struct particle_energy {
    double kinetic, elastic;
    double pushed; // dt g . momentum / 2
    double height; // minus the potential energy
    double mass;   // kg
} particle_energy;

typedef struct particle_energy_params {
    const grid_domain* domain;
    const particles* p;
    const float* density;          // [materials], over reference_density
    double reference_density;      // kg/m^3
    const strain_law* strain_laws; // [materials]; NULL: nothing is elastic
    const double* gravity;         // [3], m/s^2
    treacle_kernel kernel;         // of velocity
    bool is_affine;                // particles have affine motion
    bool has_motion;               // else masses and places alone
} particle_energy_params;

/// In a step of dt.
treacle_status particle_energy_measure(const particle_energy_params* params, double dt,
                                       arena* scratch, particle_energy* out) TREACLE_NODISCARD;
