// Cracks: set material that is stretched too far carries less and less, and at last nothing.
#pragma once

#include "phys/strain.h"

/// Of material that breaks at a stress of `strength`, Pa, and takes `toughness`, J/m^2, for that,
/// in a band as wide as cells of h are; strength 0: never.
crack_law fracture_law_of(const strain_law* law, double strength, double toughness, double h);
/// Bits of material differ by a little: the law of that with the id.
crack_law fracture_law_at(const crack_law* law, uint64_t seed, uint64_t id);
/// The damage, 0 whole to 1 broken, after the strain has been eps.
double fracture_damage(const crack_law* law, const double eps[STRAIN_PARTS], double before);
/// What is carried of the stress: all of it where nothing is stretched.
double fracture_kept(double damage, const double eps[STRAIN_PARTS]);
/// What a rise of damage takes, over the modulus and the volume [crack.4].
double fracture_released(const crack_law* law, double before, double after);
/// The damage of what was melted by the fraction `melted_before` and is now by `melted`.
float fracture_heal(float damage, double melted_before, double melted);
