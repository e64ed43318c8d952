#include "math/curve.h"

#include <math.h>

#include "base/alloc.h"

static bool is_finite_key(const treacle_key* key) {
    return isfinite(key->time) && isfinite(key->value[0]) && isfinite(key->value[1]) &&
           isfinite(key->value[2]);
}

treacle_status curve_check(treacle_context* ctx, const treacle_curve* curve, const char* what) {
    if (curve->count < 1 || curve->keys == NULL) {
        return check_fail(ctx, TREACLE_ERR_SCENE, "%s has no keys; at least one is expected", what);
    }
    for (int i = 0; i < curve->count; ++i) {
        const treacle_key* key = &curve->keys[i];
        if (!is_finite_key(key)) {
            return check_fail(ctx, TREACLE_ERR_SCENE,
                              "key %d of %s holds a number that is not finite", i + 1, what);
        }
        if (i > 0 && !(key[0].time > key[-1].time)) {
            return check_fail(ctx, TREACLE_ERR_SCENE,
                              "key %d of %s is at %g s, not after the one before it at %g s; times "
                              "must increase",
                              i + 1, what, key[0].time, key[-1].time);
        }
    }
    return TREACLE_OK;
}

treacle_status curve_copy(treacle_context* ctx, const treacle_curve* curve, treacle_curve* out) {
    TREACLE_ASSERT(curve->count >= 0 && (curve->keys != NULL || curve->count == 0));
    *out = (treacle_curve){0};
    if (curve->count == 0) {
        return TREACLE_OK;
    }
    void* block = NULL;
    TREACLE_TRY(alloc_array(ctx, (size_t)curve->count, sizeof(treacle_key), "a curve", &block));
    treacle_key* keys = block;
    for (int i = 0; i < curve->count; ++i) {
        keys[i] = curve->keys[i];
    }
    *out = (treacle_curve){.count = curve->count, .keys = keys};
    return TREACLE_OK;
}

void curve_free(treacle_context* ctx, treacle_curve* curve) {
    alloc_free(ctx, (void*)curve->keys, (size_t)curve->count * sizeof(treacle_key));
    *curve = (treacle_curve){0};
}

// The last key at or before t; -1 if t is before the first.
static int key_before(const treacle_curve* curve, double t) {
    int low = 0, high = curve->count; // keys below `low` are at or before t, those from `high` not
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (curve->keys[middle].time <= t) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low - 1;
}

static double value_at(const treacle_curve* curve, double t, int component) {
    int i = key_before(curve, t);
    const treacle_key* key = &curve->keys[i < 0 ? 0 : i];
    double a = key->value[component];
    if (i < 0 || i == curve->count - 1) {
        return a;
    }
    double fraction = (t - key[0].time) / (key[1].time - key[0].time);
    return a * (1.0 - fraction) + key[1].value[component] * fraction;
}

double curve_eval_scalar(const treacle_curve* curve, double t) {
    TREACLE_ASSERT(curve->count > 0 && !isnan(t));
    return value_at(curve, t, 0);
}

void curve_eval(const treacle_curve* curve, double t, double out[3]) {
    TREACLE_ASSERT(curve->count > 0 && !isnan(t));
    for (int c = 0; c < 3; ++c) {
        out[c] = value_at(curve, t, c);
    }
}

void curve_slope(const treacle_curve* curve, double t, double out[3]) {
    TREACLE_ASSERT(curve->count > 0 && !isnan(t));
    int i = key_before(curve, t);
    bool is_constant = i < 0 || i == curve->count - 1;
    for (int c = 0; c < 3; ++c) {
        const treacle_key* key = &curve->keys[is_constant ? 0 : i];
        out[c] =
            is_constant ? 0.0 : (key[1].value[c] - key[0].value[c]) / (key[1].time - key[0].time);
    }
}

// The integral from the first key to t: trapezia of all whole pieces, and a part of one.
static double integral_to(const treacle_curve* curve, double t, int component) {
    const treacle_key* key = curve->keys;
    int last = key_before(curve, t);
    if (last < 0) {
        return (t - key[0].time) * key[0].value[component];
    }
    double sum = 0.0;
    for (int i = 0; i < last; ++i) {
        double mean = 0.5 * (key[i].value[component] + key[i + 1].value[component]);
        sum += (key[i + 1].time - key[i].time) * mean;
    }
    double mean = 0.5 * (key[last].value[component] + value_at(curve, t, component));
    return sum + (t - key[last].time) * mean;
}

double curve_integral_scalar(const treacle_curve* curve, double a, double b) {
    TREACLE_ASSERT(curve->count > 0 && !isnan(a) && !isnan(b));
    return integral_to(curve, b, 0) - integral_to(curve, a, 0);
}

void curve_integral(const treacle_curve* curve, double a, double b, double out[3]) {
    TREACLE_ASSERT(curve->count > 0 && !isnan(a) && !isnan(b));
    for (int c = 0; c < 3; ++c) {
        out[c] = integral_to(curve, b, c) - integral_to(curve, a, c);
    }
}

void curve_way(const treacle_curve* curve, double a, double b, double out[3]) {
    TREACLE_ASSERT(curve->count > 0 && a <= b);
    out[0] = out[1] = out[2] = 0.0;
    int next = key_before(curve, a) + 1;
    for (double from = a; from < b; ++next) {
        double to = next < curve->count ? fmin(curve->keys[next].time, b) : b;
        for (int c = 0; c < 3; ++c) {
            double first = value_at(curve, from, c), last = value_at(curve, to, c);
            double length = to - from;
            out[c] += length *
                      ((b - to) * (0.5 * (first + last)) + length * ((2.0 * first + last) / 6.0));
        }
        from = to;
    }
}
