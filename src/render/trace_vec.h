// Points, directions and colours of the path tracer, in float.
#pragma once

#include <math.h>
#include <stdbool.h>

typedef struct v3f {
    float x, y, z;
} v3f;

#define TRACE_PI 3.14159265f

// The larger and the smaller of two; b where a is no number. Unlike fmaxf they are no calls.
static inline float trace_max(float a, float b) {
    return a > b ? a : b;
}
static inline float trace_min(float a, float b) {
    return a < b ? a : b;
}

static inline v3f v3f_make(float x, float y, float z) {
    return (v3f){x, y, z};
}
static inline v3f v3f_from(const float* a) {
    return (v3f){a[0], a[1], a[2]};
}
static inline v3f v3f_from_double(const double* a) {
    return (v3f){(float)a[0], (float)a[1], (float)a[2]};
}
static inline v3f v3f_grey(float s) {
    return (v3f){s, s, s};
}
static inline v3f v3f_add(v3f a, v3f b) {
    return (v3f){a.x + b.x, a.y + b.y, a.z + b.z};
}
static inline v3f v3f_sub(v3f a, v3f b) {
    return (v3f){a.x - b.x, a.y - b.y, a.z - b.z};
}
static inline v3f v3f_mul(v3f a, v3f b) {
    return (v3f){a.x * b.x, a.y * b.y, a.z * b.z};
}
static inline v3f v3f_scale(float s, v3f a) {
    return (v3f){s * a.x, s * a.y, s * a.z};
}
/// a + s b
static inline v3f v3f_madd(v3f a, float s, v3f b) {
    return (v3f){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}
/// a + t (b - a)
static inline v3f v3f_mix(v3f a, v3f b, float t) {
    return v3f_madd(a, t, v3f_sub(b, a));
}
static inline float v3f_dot(v3f a, v3f b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}
static inline v3f v3f_cross(v3f a, v3f b) {
    return (v3f){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
static inline float v3f_length(v3f a) {
    return sqrtf(v3f_dot(a, a));
}
/// a / |a|; straight up where there is no direction.
static inline v3f v3f_normalise(v3f a) {
    float square = v3f_dot(a, a);
    return square > 1e-30f ? v3f_scale(1.0f / sqrtf(square), a) : (v3f){0.0f, 1.0f, 0.0f};
}
static inline v3f v3f_negate(v3f a) {
    return (v3f){-a.x, -a.y, -a.z};
}
static inline float v3f_max(v3f a) {
    return trace_max(a.x, trace_max(a.y, a.z));
}
static inline float v3f_mean(v3f a) {
    return (a.x + a.y + a.z) * (1.0f / 3.0f);
}
/// The luminance of a colour in linear sRGB.
static inline float v3f_luminance(v3f a) {
    return 0.2126f * a.x + 0.7152f * a.y + 0.0722f * a.z;
}
static inline bool v3f_is_black(v3f a) {
    return !(a.x > 0.0f || a.y > 0.0f || a.z > 0.0f);
}
static inline v3f v3f_exp(v3f a) {
    return (v3f){expf(a.x), expf(a.y), expf(a.z)};
}
static inline float v3f_at(v3f a, int channel) {
    return channel == 0 ? a.x : channel == 1 ? a.y : a.z;
}

/// Two directions that with the unit vector n make a right-handed frame.
static inline void v3f_frame(v3f n, v3f* s, v3f* t) {
    float sign = n.z < 0.0f ? -1.0f : 1.0f;
    float a = -1.0f / (sign + n.z), b = n.x * n.y * a;
    *s = (v3f){1.0f + sign * n.x * n.x * a, sign * b, -sign * n.x};
    *t = (v3f){b, sign + n.y * n.y * a, -n.y};
}
static inline v3f v3f_to_world(v3f local, v3f n) {
    v3f s, t;
    v3f_frame(n, &s, &t);
    return v3f_madd(v3f_madd(v3f_scale(local.x, s), local.y, t), local.z, n);
}
static inline v3f v3f_to_local(v3f world, v3f n) {
    v3f s, t;
    v3f_frame(n, &s, &t);
    return (v3f){v3f_dot(world, s), v3f_dot(world, t), v3f_dot(world, n)};
}
/// w about n: both unit.
static inline v3f v3f_reflect(v3f w, v3f n) {
    return v3f_madd(v3f_negate(w), 2.0f * v3f_dot(w, n), n);
}
