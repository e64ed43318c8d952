// The elastic strain of one bit of material over one step.
#pragma once

#include "base/simd.h"
#include "grid/domain.h"
#include "treacle/types.h"

/// A symmetric tensor: xx, yy, zz, yz, zx, xy. Entry 3 + a is the one between the two other axes.
enum { STRAIN_PARTS = 6 };
/// What is stretched more tears.
#define STRAIN_LONGEST 10.0

/// The largest principal strain at which material is whole, and the least at which it is broken
/// [crack.2]; both 0: it never breaks.
typedef struct crack_law {
    double first, last;
} crack_law;

/// How a material stores and forgets strain.
typedef struct strain_law {
    double modulus;           // mu_e, Pa: stress = mu_e eps
    double decay;             // alpha, 1/s; INFINITY: at once
    double yield;             // gamma; INFINITY: never
    treacle_strain_rate rate; // how strain turns with the material
    bool decays_whole;        // the trace decays, too, not the deviator alone
    crack_law crack;
} strain_law;
/// The law of a material.
strain_law strain_law_of(const treacle_elastic_def* def);

/// How the material moves during the step.
typedef struct strain_motion {
    double stretch[STRAIN_PARTS]; // 1/s, D = (grad u + grad u^T) / 2
    double spin[AXES];            // rad/s, curl u / 2
} strain_motion;

/// eps_new = keep eps + gain dt D, apart from turning [strain.3]; 0 <= keep <= gain <= 1.
typedef struct strain_factors {
    double keep, gain;
} strain_factors;

/// A law and a step of it.
typedef struct strain_step {
    const strain_law* law;
    double dt;
    double decayed; // exp(-alpha dt)
} strain_step;
strain_step strain_begin(const strain_law* law, double dt);

/// Frobenius norm of the deviator.
double strain_norm(const double eps[STRAIN_PARTS]);
/// What is left of the old strain and of the step's stretch.
strain_factors strain_yield(const strain_step* step, const double eps[STRAIN_PARTS],
                            const double stretch[STRAIN_PARTS]);
/// eps after the step.
void strain_advance(const strain_step* step, const strain_motion* motion, double eps[STRAIN_PARTS]);
/// Eight bits of one material, side by side.
typedef struct strain_lanes {
    f64x8 eps[STRAIN_PARTS], stretch[STRAIN_PARTS], spin[AXES];
    f64x8 keep, gain; // by strain_yield
} strain_lanes;
/// eps of each after the step; not of a convected law. Without turning spin is 0.
ISA_DECLARE(void, strain_turn, (strain_lanes * lanes, double dt, bool decays_whole));
/// The nearest strain whose c = I + 2 eps has stretches of 0 to STRAIN_LONGEST; eps itself if all
/// are.
void strain_keep_whole(double eps[STRAIN_PARTS]);
/// The principal strains, in no order.
void strain_principal(const double eps[STRAIN_PARTS], double out[AXES]);
/// Keeps this part of principal strains below 0, if one is above it [crack.5].
void strain_forget_pressed(double kept, float eps[STRAIN_PARTS]);
/// The strain of material whose melted fraction was `before` and is `after`. What has just frozen
/// has no strain.
void strain_melt(double before, double after, float eps[STRAIN_PARTS]);
