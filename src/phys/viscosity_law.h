// Viscosity as a function of temperature, or of whatever else the liquid carries.
#pragma once

#include "base/context.h"
#include "treacle/types.h"

/// A law made ready.
typedef struct viscosity_law {
    treacle_context* ctx;
    treacle_viscosity_law def;
    double log_mu; // of the material's viscosity, Pa s
    double log_least, log_most;
    treacle_curve log_table; // ln of the table's values; owned
} viscosity_law;

/// ERR_SCENE with a sentence where the law makes no sense; `name` is the material's.
treacle_status viscosity_law_check(treacle_context* ctx, const treacle_viscosity_law* def,
                                   const char* name) TREACLE_NODISCARD;
/// Checks and makes ready. `viscosity` is the material's, Pa s.
treacle_status viscosity_law_init(treacle_context* ctx, const treacle_viscosity_law* def,
                                  double viscosity, viscosity_law* out) TREACLE_NODISCARD;
/// Harmless on a zeroed law, and twice.
void viscosity_law_finish(viscosity_law* law);

/// ln of Pa s at a temperature, or a value of the marker.
double viscosity_law_eval(const viscosity_law* law, double x);
