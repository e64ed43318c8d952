// Enthalpy of what melts:
//
//     E = C (T - T_0) + L f                                                               [heat.1]
//
// C heat capacity, L latent heat, f the melted fraction. On the way up f follows f_m(T), which
// rises linearly from 0 at the solidus to 1 at the liquidus; on the way down f_f(T), the same
// between the temperatures of freezing, which may be lower. Between the two curves f stays what it
// was:
//
//     f_m(T) <= f <= f_f(T)                                                               [heat.2]
//
// Given E and the f of before there is one T: that of f as it was, if [heat.2] holds there; else
// the one on the curve that it would have crossed, along which dT/dE is less than 1/C, and 0 where
// the range has no width. Solid is very viscous liquid: nothing else changes at a threshold
// [CMVT02 sec. 5.2].
//
// Symbols: curve->capacity (C), latent (L), melt and freeze (ends of f_m and f_f).
// Properties that tests check: E of T and f and back; monotone; a loop of hysteresis closes.
#include "phys/heat_curve.h"

#include "base/check.h"

static double fraction_of(const double range[2], double temperature) {
    if (temperature >= range[1]) {
        return 1.0;
    }
    return temperature <= range[0] ? 0.0 : (temperature - range[0]) / (range[1] - range[0]);
}

double heat_curve_energy(const heat_curve* curve, double temperature, double melted) {
    TREACLE_ASSERT(curve->capacity > 0.0 && curve->latent >= 0.0);
    TREACLE_ASSERT(melted >= 0.0 && melted <= 1.0);
    return curve->capacity * (temperature - curve->reference) + curve->latent * melted;
}

double heat_curve_melted(const heat_curve* curve, double temperature, double melted) {
    TREACLE_ASSERT(curve->freeze[0] <= curve->melt[0] && curve->freeze[1] <= curve->melt[1]);
    TREACLE_ASSERT(melted >= 0.0 && melted <= 1.0);
    double least = fraction_of(curve->melt, temperature),
           most = fraction_of(curve->freeze, temperature);
    double kept = melted < least ? least : melted > most ? most : melted;
    return curve->latent > 0.0 ? kept : 0.0;
}

// Where E lies on the curve that rises between the ends of a range.
static heat_state on_range(const heat_curve* curve, const double range[2], double energy) {
    double low = heat_curve_energy(curve, range[0], 0.0);
    double high = heat_curve_energy(curve, range[1], 1.0);
    double fraction = (energy - low) / (high - low);
    if (fraction <= 0.0 || fraction >= 1.0) {
        double melted = fraction <= 0.0 ? 0.0 : 1.0;
        double warm = (energy - curve->latent * melted) / curve->capacity;
        return (heat_state){curve->reference + warm, melted, 1.0 / curve->capacity};
    }
    double width = range[1] - range[0];
    return (heat_state){range[0] + fraction * width, fraction, width / (high - low)};
}

heat_state heat_curve_at(const heat_curve* curve, double energy, double melted) {
    TREACLE_ASSERT(curve->capacity > 0.0 && curve->latent >= 0.0);
    TREACLE_ASSERT(melted >= 0.0 && melted <= 1.0);
    double warm = (energy - curve->latent * melted) / curve->capacity;
    heat_state out = {curve->reference + warm, melted, 1.0 / curve->capacity};
    if (!(curve->latent > 0.0)) {
        return out;
    }
    if (melted < fraction_of(curve->melt, out.temperature)) {
        return on_range(curve, curve->melt, energy);
    }
    if (melted > fraction_of(curve->freeze, out.temperature)) {
        return on_range(curve, curve->freeze, energy);
    }
    return out;
}

float heat_curve_law_temperature(const heat_curve* curve, float temperature, float melted) {
    TREACLE_ASSERT(curve->melt[0] <= curve->melt[1]);
    float from = (float)curve->melt[0], to = (float)curve->melt[1];
    if (!(curve->latent > 0.0)) {
        return temperature;
    }
    if (melted <= 0.0f) {
        return temperature < from ? temperature : from;
    }
    if (melted >= 1.0f) {
        return temperature > to ? temperature : to;
    }
    return from + melted * (to - from);
}
