// Points and vectors of space, in double.
#pragma once

#include <math.h>
#include <stdbool.h>

typedef struct vec3 {
    double at[3];
} vec3;

static inline vec3 vec3_make(double x, double y, double z) {
    return (vec3){{x, y, z}};
}

static inline vec3 vec3_from(const double x[3]) {
    return (vec3){{x[0], x[1], x[2]}};
}

static inline vec3 vec3_add(vec3 a, vec3 b) {
    return (vec3){{a.at[0] + b.at[0], a.at[1] + b.at[1], a.at[2] + b.at[2]}};
}

static inline vec3 vec3_sub(vec3 a, vec3 b) {
    return (vec3){{a.at[0] - b.at[0], a.at[1] - b.at[1], a.at[2] - b.at[2]}};
}

static inline vec3 vec3_scale(double s, vec3 a) {
    return (vec3){{s * a.at[0], s * a.at[1], s * a.at[2]}};
}

/// a + s b
static inline vec3 vec3_add_scaled(vec3 a, double s, vec3 b) {
    return (vec3){{a.at[0] + s * b.at[0], a.at[1] + s * b.at[1], a.at[2] + s * b.at[2]}};
}

static inline double vec3_dot(vec3 a, vec3 b) {
    return (a.at[0] * b.at[0] + a.at[1] * b.at[1]) + a.at[2] * b.at[2];
}

static inline vec3 vec3_cross(vec3 a, vec3 b) {
    return (vec3){{a.at[1] * b.at[2] - a.at[2] * b.at[1], a.at[2] * b.at[0] - a.at[0] * b.at[2],
                   a.at[0] * b.at[1] - a.at[1] * b.at[0]}};
}

static inline double vec3_length(vec3 a) {
    return sqrt(vec3_dot(a, a));
}

/// a / |a|; zero where a is too short to have a direction.
static inline vec3 vec3_normalise(vec3 a) {
    double length = vec3_length(a);
    return length > 0.0 ? vec3_make(a.at[0] / length, a.at[1] / length, a.at[2] / length)
                        : vec3_make(0.0, 0.0, 0.0);
}

static inline vec3 vec3_min(vec3 a, vec3 b) {
    return (vec3){{fmin(a.at[0], b.at[0]), fmin(a.at[1], b.at[1]), fmin(a.at[2], b.at[2])}};
}

static inline vec3 vec3_max(vec3 a, vec3 b) {
    return (vec3){{fmax(a.at[0], b.at[0]), fmax(a.at[1], b.at[1]), fmax(a.at[2], b.at[2])}};
}

static inline bool vec3_is_finite(vec3 a) {
    return isfinite(a.at[0]) && isfinite(a.at[1]) && isfinite(a.at[2]);
}

/// An axis-aligned box; empty where low > high along any axis.
typedef struct box3 {
    vec3 low, high;
} box3;

static inline bool box3_is_empty(box3 b) {
    return !(b.low.at[0] <= b.high.at[0] && b.low.at[1] <= b.high.at[1] &&
             b.low.at[2] <= b.high.at[2]);
}

static inline box3 box3_union(box3 a, box3 b) {
    if (box3_is_empty(a)) {
        return b;
    }
    return box3_is_empty(b) ? a : (box3){vec3_min(a.low, b.low), vec3_max(a.high, b.high)};
}

static inline box3 box3_intersect(box3 a, box3 b) {
    return (box3){vec3_max(a.low, b.low), vec3_min(a.high, b.high)};
}
