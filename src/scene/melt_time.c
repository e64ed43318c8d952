// How long a body takes to melt or to set through.
//
// A body at T_0 melts, or sets, at T_m, with one k, c and rho on both sides of the front. Its side
// is held at T_s beyond T_m. Neumann's front is at s = 2 l sqrt(kappa t), kappa = k/(rho c), with
//
//     (T_s - T_m) / (e^(l^2) erf l) - (T_m - T_0) / (e^(l^2) erfc l) = sqrt(pi) l L/c     [heat.13]
//
// The left side falls with l and the right one grows. Without latent heat it says erf l = (T_s -
// T_m) / (T_s - T_0), the isotherm. A side that touches badly, U watts for a square metre and a
// kelvin, adds what the heat takes to come through it, so that a body of depth d is through after
//
//     t = d^2 / (4 l^2 kappa) + rho d (L + c |T_m - T_0|) / (U |T_s - T_m|)               [heat.14]
//
// and a power P takes t = rho V (L + c |T_m - T_0|) / P.
#include "scene/melt_time.h"

#include <math.h>

#include "base/check.h"

static const double root_of_pi = 1.7724538509055160;

static double per_mass(const melt_body* body) {
    return body->latent + body->capacity * fabs(body->target - body->start);
}

double melt_time_lambda(const melt_body* body, double outside) {
    TREACLE_ASSERT(body->capacity > 0.0);
    double before = outside - body->target, behind = body->target - body->start;
    if (!(before * behind >= 0.0) || before == 0.0) {
        return 0.0;
    }
    double low = 0.0, high = 5.0; // beyond it erfc is less than what a number can tell
    for (int k = 0; k < 60; ++k) {
        double l = 0.5 * (low + high), grown = exp(l * l);
        double flow = fabs(before) / (grown * erf(l)) - fabs(behind) / (grown * erfc(l));
        bool is_below = flow > root_of_pi * l * body->latent / body->capacity;
        low = is_below ? l : low;
        high = is_below ? high : l;
    }
    return 0.5 * (low + high);
}

double melt_time_held(const melt_body* body, double length, double outside, double film) {
    TREACLE_ASSERT(length > 0.0 && film >= 0.0);
    double lambda = melt_time_lambda(body, outside);
    double kappa = body->conductivity / (body->density * body->capacity);
    if (!(lambda > 0.0 && kappa > 0.0 && film > 0.0)) {
        return INFINITY;
    }
    double inside = length * length / (4.0 * lambda * lambda * kappa);
    return inside + body->density * length * per_mass(body) / (film * fabs(outside - body->target));
}

double melt_time_powered(const melt_body* body, double volume, double watts) {
    TREACLE_ASSERT(volume >= 0.0);
    bool comes = watts * (body->target - body->start) > 0.0;
    return comes ? body->density * volume * per_mass(body) / fabs(watts) : INFINITY;
}
