// Values over time: linear between keys, constant before the first and after the last.
#pragma once

#include "base/context.h"
#include "treacle/types.h"

/// At least one key, times that increase strictly, finite numbers. `what` names the curve in the
/// error (ERR_SCENE).
treacle_status curve_check(treacle_context* ctx, const treacle_curve* curve,
                           const char* what) TREACLE_NODISCARD;
/// A deep copy; free with curve_free.
treacle_status curve_copy(treacle_context* ctx, const treacle_curve* curve,
                          treacle_curve* out) TREACLE_NODISCARD;
void curve_free(treacle_context* ctx, treacle_curve* curve);

/// The three components at time t. The curve must be valid.
void curve_eval(const treacle_curve* curve, double t, double out[3]);
double curve_eval_scalar(const treacle_curve* curve, double t);
/// How fast the three components change from t on, per second.
void curve_slope(const treacle_curve* curve, double t, double out[3]);
/// The integral from a to b (minus that from b to a): exact but for rounding, and a function of the
/// two ends alone, as F(b) - F(a): integrals over adjoining steps sum to the one over all of them.
void curve_integral(const treacle_curve* curve, double a, double b, double out[3]);
/// The integral of (b - t) times the curve from a to b: the way that this acceleration adds to the
/// motion of a body. Exact but for rounding.
void curve_way(const treacle_curve* curve, double a, double b, double out[3]);
double curve_integral_scalar(const treacle_curve* curve, double a, double b);
