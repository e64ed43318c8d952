// A def's field made ready for evaluation: constant, ramp or expression, of 1 or 3 components.
#pragma once

#include "base/context.h"
#include "math/expr.h"
#include "treacle/types.h"

typedef struct field {
    treacle_context* ctx;
    treacle_field_kind kind;
    int components;
    double value_a[3], value_b[3];
    vec3 from;
    vec3 slope; // of the ramp: its fraction at x is slope . (x - from), clamped to 0..1
    expr* expression[3];
} field;

/// Checks and compiles. ERR_SCENE with a sentence for values that are not finite, a ramp without
/// length, or an expression with errors; nothing is then held.
treacle_status field_init(treacle_context* ctx, const treacle_field* def, int components,
                          field* out) TREACLE_NODISCARD;
/// Harmless on a zeroed field, and twice.
void field_finish(field* f);

/// Whether it has the same value everywhere, which may change with time.
bool field_is_uniform(const field* f);

/// Fills out[0 .. components-1].
void field_eval(const field* f, vec3 x, double t, double* out);
/// One component of it: the same bits, without the work for the others.
double field_eval_component(const field* f, int component, vec3 x, double t);
