#include "render/trace_camera.h"

void trace_camera_aim(trace_camera* c, v3f eye, v3f target, float field_of_view) {
    TREACLE_ASSERT(field_of_view > 0.0f && c->width > 0 && c->height > 0);
    v3f to = v3f_sub(target, eye);
    c->eye = eye;
    c->forward = v3f_normalise(to);
    v3f right = v3f_cross(c->forward, v3f_make(0.0f, 1.0f, 0.0f));
    if (v3f_dot(right, right) < 1e-8f) { // straight up or down
        right = v3f_make(1.0f, 0.0f, 0.0f);
    }
    c->right = v3f_normalise(right);
    c->up = v3f_cross(c->right, c->forward);
    c->half_slope[1] = tanf(0.5f * field_of_view);
    c->half_slope[0] = c->half_slope[1] * (float)c->width / (float)c->height;
    if (!(c->focus > 0.0f)) {
        c->focus = v3f_length(to);
    }
}

// Offset in a pixel, after a tent that is two pixels wide: smooth edges.
static float tent(float u) {
    return u < 0.5f ? sqrtf(2.0f * u) - 1.0f : 1.0f - sqrtf(2.0f - 2.0f * u);
}

trace_ray trace_camera_ray(const trace_camera* c, int x, int y, trace_random* r) {
    TREACLE_ASSERT(x >= 0 && x < c->width && y >= 0 && y < c->height);
    trace_pair p = trace_random_pair(r), lens = trace_random_pair(r);
    float time = c->shutter > 0.0f ? trace_random_one(r) : 0.5f;
    float across = 2.0f * ((float)x + 0.5f + tent(p.a)) / (float)c->width - 1.0f;
    float upward = 1.0f - 2.0f * ((float)y + 0.5f + tent(p.b)) / (float)c->height;
    v3f to = v3f_madd(v3f_madd(c->forward, across * c->half_slope[0], c->right),
                      upward * c->half_slope[1], c->up);
    trace_ray ray = {
        .origin = c->eye, .far = INFINITY, .time = time, .sees_containers = true, .is_first = true};
    if (c->lens > 0.0f) {
        float radius = c->lens * sqrtf(lens.a), phi = 2.0f * TRACE_PI * lens.b;
        v3f offset = v3f_madd(v3f_scale(radius * cosf(phi), c->right), radius * sinf(phi), c->up);
        ray.origin = v3f_add(c->eye, offset);
        to = v3f_sub(v3f_scale(c->focus, to), offset);
    }
    ray.direction = v3f_normalise(to);
    return ray;
}

void trace_camera_motion(const trace_camera* c, v3f place, v3f velocity, float out[2]) {
    v3f at = v3f_sub(place, c->eye);
    float depth = trace_max(v3f_dot(at, c->forward), 1e-6f), along = v3f_dot(velocity, c->forward);
    float x = v3f_dot(at, c->right) / depth, y = v3f_dot(at, c->up) / depth;
    out[0] = 0.5f * (float)c->width * (v3f_dot(velocity, c->right) - x * along) /
             (depth * c->half_slope[0]);
    out[1] = -0.5f * (float)c->height * (v3f_dot(velocity, c->up) - y * along) /
             (depth * c->half_slope[1]);
}
