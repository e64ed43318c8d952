// Viscosity from temperature [CMVT02 sec. 5.2], in logarithms, as the flow wants it. With the
// fraction s of the zone from..to that lies below T:
//
//     linear      mu = low + (high - low) s                                                [law.1]
//     quadratic   mu = high + (low - high) (1 - s)^2                                       [law.2]
//     arrhenius   mu = mu_0 exp(B (1/T - 1/T_0))                                           [law.3]
//     vft         mu = 10^(a + b / (T - c)), as thick as `most` at c and below             [law.4]
//     table       ln mu linear between points, constant beyond them                        [law.5]
//
// each cut off at `least` and `most`. The law is evaluated at cells, from the temperature that
// particles bring there: viscosity that is averaged on the way would be that of the thickest.
//
// What cools must not get thinner: laws of temperature fall everywhere, or they are refused. Laws
// of the marker may do what they like.
//
// Properties that tests check: values at and between the ends; monotone; what is refused.
#include "phys/viscosity_law.h"

#include <math.h>

#include "base/check.h"
#include "math/curve.h"
#include "math/elementary.h"
#include "phys/viscosity.h"

#define LN_10 2.30258509299404568402

static treacle_status check_range(treacle_context* ctx, const treacle_viscosity_law* def,
                                  const char* name) {
    if (!(def->least > 0.0 && def->most >= def->least && isfinite(def->most))) {
        return check_fail(ctx, TREACLE_ERR_SCENE,
                          "viscosity law of '%s' is cut off at %g and %g Pa s: expected 0 < least "
                          "<= most",
                          name, def->least, def->most);
    }
    return TREACLE_OK;
}

static treacle_status check_ramp(treacle_context* ctx, const treacle_viscosity_law* def,
                                 const char* name) {
    if (!(def->from < def->to && isfinite(def->from) && isfinite(def->to))) {
        return check_fail(ctx, TREACLE_ERR_SCENE,
                          "viscosity law of '%s' has a zone from %g to %g: expected from < to",
                          name, def->from, def->to);
    }
    if (!(def->low > 0.0 && def->high > 0.0 && isfinite(def->low) && isfinite(def->high))) {
        return check_fail(ctx, TREACLE_ERR_SCENE,
                          "viscosity law of '%s' goes from %g to %g Pa s: expected numbers > 0",
                          name, def->low, def->high);
    }
    if (def->of == TREACLE_LAW_OF_TEMPERATURE && def->low < def->high) {
        return check_fail(ctx, TREACLE_ERR_SCENE,
                          "viscosity law of '%s' is not monotone as it must be: it rises from %g "
                          "Pa s when cold to %g Pa s when hot; exchange low and high",
                          name, def->low, def->high);
    }
    return TREACLE_OK;
}

static treacle_status check_formula(treacle_context* ctx, const treacle_viscosity_law* def,
                                    const char* name) {
    bool is_arrhenius = def->kind == TREACLE_LAW_ARRHENIUS;
    double rise = is_arrhenius ? def->activation : def->b;
    if (rise == 0.0) {
        return check_fail(ctx, TREACLE_ERR_SCENE,
                          "viscosity law of '%s' has no numbers: expected %s, or a preset that has "
                          "them",
                          name, is_arrhenius ? "'activation'" : "'a', 'b' and 'c'");
    }
    if (!(rise > 0.0 && isfinite(rise) && isfinite(def->a) && isfinite(def->c))) {
        return check_fail(ctx, TREACLE_ERR_SCENE,
                          "viscosity law of '%s' is not monotone as it must be: %s is %g K, and "
                          "what is heated would get thicker; expected a number > 0",
                          name, is_arrhenius ? "activation" : "b", rise);
    }
    if (is_arrhenius && !(def->reference > 0.0 && isfinite(def->reference))) {
        return check_fail(ctx, TREACLE_ERR_SCENE,
                          "viscosity law of '%s' refers to %g K: expected a temperature above "
                          "absolute zero",
                          name, def->reference);
    }
    return TREACLE_OK;
}

static treacle_status check_table(treacle_context* ctx, const treacle_viscosity_law* def,
                                  const char* name) {
    const treacle_curve* table = &def->table;
    TREACLE_TRY(curve_check(ctx, table, "the table of a viscosity law"));
    for (int i = 0; i < table->count; ++i) {
        double x = table->keys[i].time, mu = table->keys[i].value[0];
        if (!(mu > 0.0)) {
            return check_fail(ctx, TREACLE_ERR_SCENE,
                              "viscosity law of '%s' has %g Pa s at %g: expected a number > 0",
                              name, mu, x);
        }
        bool is_hot = def->of == TREACLE_LAW_OF_TEMPERATURE;
        if (is_hot && i > 0 && mu > table->keys[i - 1].value[0]) {
            return check_fail(ctx, TREACLE_ERR_SCENE,
                              "viscosity law of '%s' is not monotone as it must be: it rises from "
                              "%g Pa s at %g K to %g Pa s at %g K",
                              name, table->keys[i - 1].value[0], table->keys[i - 1].time, mu, x);
        }
        if (is_hot && !(x >= 0.0)) {
            return check_fail(ctx, TREACLE_ERR_SCENE,
                              "viscosity law of '%s' has a point at %g K, below absolute zero",
                              name, x);
        }
    }
    return TREACLE_OK;
}

treacle_status viscosity_law_check(treacle_context* ctx, const treacle_viscosity_law* def,
                                   const char* name) {
    name = name == NULL ? "a material" : name;
    if (def->kind == TREACLE_LAW_NONE) {
        return TREACLE_OK;
    }
    TREACLE_TRY(check_range(ctx, def, name));
    switch (def->kind) {
    case TREACLE_LAW_LINEAR:
    case TREACLE_LAW_QUADRATIC:
        return check_ramp(ctx, def, name);
    case TREACLE_LAW_ARRHENIUS:
    case TREACLE_LAW_VFT:
        return check_formula(ctx, def, name);
    case TREACLE_LAW_TABLE:
        return check_table(ctx, def, name);
    case TREACLE_LAW_NONE:
        break;
    }
    return TREACLE_OK;
}

treacle_status viscosity_law_init(treacle_context* ctx, const treacle_viscosity_law* def,
                                  double viscosity, viscosity_law* out) {
    TREACLE_ASSERT(viscosity >= 0.0);
    *out = (viscosity_law){.ctx = ctx, .def = *def};
    out->def.table = (treacle_curve){0};
    out->log_mu = elementary_log(fmax(viscosity, VISCOSITY_LEAST));
    if (def->kind == TREACLE_LAW_NONE) {
        return TREACLE_OK;
    }
    TREACLE_TRY(viscosity_law_check(ctx, def, NULL));
    out->log_least = elementary_log(def->least);
    out->log_most = elementary_log(def->most);
    if (def->kind != TREACLE_LAW_TABLE) {
        return TREACLE_OK;
    }
    TREACLE_TRY(curve_copy(ctx, &def->table, &out->log_table));
    treacle_key* keys = (treacle_key*)out->log_table.keys; // our own copy
    for (int i = 0; i < out->log_table.count; ++i) {
        keys[i].value[0] = elementary_log(keys[i].value[0]);
    }
    return TREACLE_OK;
}

void viscosity_law_finish(viscosity_law* law) {
    if (law->ctx != NULL) {
        curve_free(law->ctx, &law->log_table);
    }
    *law = (viscosity_law){0};
}

static double ramp(const treacle_viscosity_law* def, double x) {
    double s = fmin(fmax((x - def->from) / (def->to - def->from), 0.0), 1.0);
    double rest = 1.0 - s;
    bool is_linear = def->kind == TREACLE_LAW_LINEAR;
    return elementary_log(def->high + (def->low - def->high) * (is_linear ? rest : rest * rest));
}

static double raw(const viscosity_law* law, double x) {
    const treacle_viscosity_law* def = &law->def;
    switch (def->kind) {
    case TREACLE_LAW_LINEAR:    // [law.1]
    case TREACLE_LAW_QUADRATIC: // [law.2]
        return ramp(def, x);
    case TREACLE_LAW_ARRHENIUS: // [law.3]
        return x > 0.0 ? law->log_mu + def->activation * (1.0 / x - 1.0 / def->reference)
                       : law->log_most;
    case TREACLE_LAW_VFT: // [law.4]
        return x > def->c ? LN_10 * (def->a + def->b / (x - def->c)) : law->log_most;
    case TREACLE_LAW_TABLE: // [law.5]
        return curve_eval_scalar(&law->log_table, x);
    case TREACLE_LAW_NONE:
        break;
    }
    return law->log_mu;
}

double viscosity_law_eval(const viscosity_law* law, double x) {
    TREACLE_ASSERT(law->def.kind == TREACLE_LAW_NONE || law->log_least <= law->log_most);
    if (law->def.kind == TREACLE_LAW_NONE) {
        return law->log_mu;
    }
    return fmin(fmax(raw(law, x), law->log_least), law->log_most);
}
