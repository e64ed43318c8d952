// Cracks in set material, as a band of cells that carries less the further it is stretched [BO83].
//
// Material with a strength f is an elastic solid that shrinks and swells freely, without a
// pressure: sigma = mu_e eps with the whole strain, Young's modulus mu_e and Poisson's ratio 0.
// With the damage d and e_1 the largest principal strain it carries
//
//     sigma = (1 - d) mu_e eps  where e_1 > 0, and all of it where nothing is stretched   [crack.1]
//
// Beyond e_0 = f / mu_e the stress falls along a line to 0 at e_u, and does not come back:
//
//     1 - d = e_0 (e_u - k) / ((e_u - e_0) k),   k the largest e_1 so far                 [crack.2]
//
// The band is b wide and takes the energy G of a unit of area, so that the area below the line is
// the energy over the width, whatever the cell is:
//
//     mu_e e_0 e_u / 2 = G / b,   b = 2 h                                                 [crack.3]
//
// A jump of strain in one cell is seen by particles up to a cell away: hence 2 h. In cells that are
// so wide that e_u would be less than 1.2 e_0 the strength is lower, e_0 = (2 G / (1.2 mu_e
// b))^1/2, and the energy stays.
//
// From d to d' a unit of volume loses the area between the line and the two secants,
//
//     mu_e ((1 - d) k k' - (1 - d') k' k) / 2                                             [crack.4]
//
// While a crack is open the strain of what is pressed together in it is forgotten, in each step by
// the factor 1 - d of the principal strains below 0: else its energy would come back from nothing
// when the crack closes, and all of the stress counts again.                            [crack.5]
//
// Where material melts its cracks heal as its strain goes [strain.5]. The strength of a particle is
// up to a hundredth below that of its material, by its id, and e_u as much more: a bar that is
// pulled evenly breaks at one place.
//
// Staggering: all at particles. Properties that tests check: the stress follows the line and the
// secant back; the energy is G / b for any cell; closed cracks press.
#include "phys/fracture.h"

#include <math.h>

#include "base/check.h"
#include "math/hash_random.h"

// The least e_u / e_0.
static const double least_way = 1.2;
// Cells that a band is wide.
static const double band_cells = 2.0;
// The fraction by which the strengths of particles differ.
static const double scatter = 0.01;

crack_law fracture_law_of(const strain_law* law, double strength, double toughness, double h) {
    TREACLE_ASSERT(h > 0.0 && strength >= 0.0 && toughness >= 0.0);
    if (!(strength > 0.0) || !(law->modulus > 0.0)) {
        return (crack_law){0};
    }
    double density = toughness / (band_cells * h), first = strength / law->modulus;
    double last = 2.0 * density / strength;
    if (last < least_way * first) {
        first = fmin(first, sqrt(2.0 * density / (least_way * law->modulus)));
        last = least_way * first;
    }
    return (crack_law){first, last};
}

crack_law fracture_law_at(const crack_law* law, uint64_t seed, uint64_t id) {
    double part = 1.0 - scatter * hash_random_f64(seed, id, RANDOM_STRENGTH);
    return (crack_law){law->first * part, law->last / part};
}

// k of [crack.2], from the damage.
static double stretched(const crack_law* law, double damage) {
    return law->first * law->last / ((1.0 - damage) * (law->last - law->first) + law->first);
}

double fracture_damage(const crack_law* law, const double eps[STRAIN_PARTS], double before) {
    TREACLE_ASSERT(law->last > law->first && before >= 0.0 && before <= 1.0);
    double bound = 0.0; // above every principal strain
    for (int a = 0; a < AXES; ++a) {
        bound += eps[a] * eps[a] + 2.0 * eps[AXES + a] * eps[AXES + a];
    }
    if (before >= 1.0 || !(bound > law->first * law->first)) {
        return before;
    }
    double principal[AXES];
    strain_principal(eps, principal);
    double most = fmax(fmax(principal[0], principal[1]), principal[2]);
    if (most >= law->last) {
        return 1.0;
    }
    double kept = most > law->first
                      ? law->first * (law->last - most) / ((law->last - law->first) * most)
                      : 1.0;
    return fmax(before, 1.0 - kept);
}

double fracture_kept(double damage, const double eps[STRAIN_PARTS]) {
    if (!(damage > 0.0)) {
        return 1.0;
    }
    double principal[AXES];
    strain_principal(eps, principal);
    return fmax(fmax(principal[0], principal[1]), principal[2]) > 0.0 ? 1.0 - damage : 1.0;
}

double fracture_released(const crack_law* law, double before, double after) {
    TREACLE_ASSERT(before <= after);
    double from = stretched(law, before), to = stretched(law, after);
    return 0.5 * from * to * (after - before);
}

float fracture_heal(float damage, double melted_before, double melted) {
    double kept = melted >= 1.0            ? 0.0
                  : melted < melted_before ? (1.0 - melted_before) / (1.0 - melted)
                                           : 1.0;
    return (float)(kept * (double)damage);
}
