#include "math/field.h"

#include <string.h>

static treacle_status check_values(treacle_context* ctx, const treacle_field* def, int components) {
    for (int c = 0; c < components; ++c) {
        bool is_ramp = def->kind == TREACLE_FIELD_RAMP;
        if (!isfinite(def->value_a[c]) || (is_ramp && !isfinite(def->value_b[c]))) {
            return check_fail(ctx, TREACLE_ERR_SCENE, "component %d of a field is not finite",
                              c + 1);
        }
    }
    return TREACLE_OK;
}

static treacle_status init_ramp(treacle_context* ctx, const treacle_field* def, field* out) {
    out->from = vec3_from(def->from);
    vec3 along = vec3_sub(vec3_from(def->to), out->from);
    double square = vec3_dot(along, along);
    if (!isfinite(square) || !(square > 0.0)) {
        return check_fail(ctx, TREACLE_ERR_SCENE,
                          "a ramp goes from (%g, %g, %g) to (%g, %g, %g) m; the two places must be "
                          "finite and differ",
                          def->from[0], def->from[1], def->from[2], def->to[0], def->to[1],
                          def->to[2]);
    }
    for (int a = 0; a < 3; ++a) {
        out->slope.at[a] = along.at[a] / square;
    }
    return TREACLE_OK;
}

static treacle_status init_expressions(treacle_context* ctx, const treacle_field* def, field* out) {
    for (int c = 0; c < out->components; ++c) {
        if (def->expression[c] == NULL) {
            return check_fail(ctx, TREACLE_ERR_SCENE,
                              "component %d of a field has no expression; %d are expected", c + 1,
                              out->components);
        }
        TREACLE_TRY(expr_create(ctx, def->expression[c], NULL, &out->expression[c]));
    }
    return TREACLE_OK;
}

static treacle_status init_kind(treacle_context* ctx, const treacle_field* def, field* out) {
    switch (def->kind) {
    case TREACLE_FIELD_CONSTANT:
        return check_values(ctx, def, out->components);
    case TREACLE_FIELD_RAMP:
        TREACLE_TRY(check_values(ctx, def, out->components));
        return init_ramp(ctx, def, out);
    case TREACLE_FIELD_EXPRESSION:
        return init_expressions(ctx, def, out);
    }
    return check_fail(ctx, TREACLE_ERR_SCENE, "there is no field of kind %d", (int)def->kind);
}

treacle_status field_init(treacle_context* ctx, const treacle_field* def, int components,
                          field* out) {
    TREACLE_ASSERT(components == 1 || components == 3);
    *out = (field){.ctx = ctx, .kind = def->kind, .components = components};
    memcpy(out->value_a, def->value_a, sizeof(out->value_a));
    memcpy(out->value_b, def->value_b, sizeof(out->value_b));
    treacle_status status = init_kind(ctx, def, out);
    if (status != TREACLE_OK) {
        field_finish(out);
    }
    return status;
}

void field_finish(field* f) {
    for (int c = 0; c < 3; ++c) {
        expr_destroy(f->expression[c]);
        f->expression[c] = NULL;
    }
}

bool field_is_uniform(const field* f) {
    bool is_uniform = f->kind != TREACLE_FIELD_RAMP;
    for (int c = 0; c < f->components && f->kind == TREACLE_FIELD_EXPRESSION; ++c) {
        is_uniform = is_uniform && !expr_uses_place(f->expression[c]);
    }
    return is_uniform;
}

static double ramp_fraction(const field* f, vec3 x) {
    double fraction = vec3_dot(f->slope, vec3_sub(x, f->from));
    return fraction > 1.0 ? 1.0 : fraction > 0.0 ? fraction : 0.0;
}

// `fraction` is where x lies between the ends of a ramp.
static double component_at(const field* f, int c, vec3 x, double t, double fraction) {
    if (f->kind == TREACLE_FIELD_EXPRESSION) {
        return expr_eval(f->expression[c], x, t);
    }
    return fraction > 0.0 ? f->value_a[c] * (1.0 - fraction) + f->value_b[c] * fraction
                          : f->value_a[c];
}

void field_eval(const field* f, vec3 x, double t, double* out) {
    TREACLE_ASSERT(f->components == 1 || f->components == 3);
    TREACLE_ASSERT(f->kind != TREACLE_FIELD_EXPRESSION || f->expression[0] != NULL);
    double fraction = f->kind == TREACLE_FIELD_RAMP ? ramp_fraction(f, x) : 0.0;
    for (int c = 0; c < f->components; ++c) {
        out[c] = component_at(f, c, x, t, fraction);
    }
}

double field_eval_component(const field* f, int component, vec3 x, double t) {
    TREACLE_ASSERT(component >= 0 && component < f->components);
    double fraction = f->kind == TREACLE_FIELD_RAMP ? ramp_fraction(f, x) : 0.0;
    return component_at(f, component, x, t, fraction);
}
