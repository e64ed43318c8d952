#include "render/camera_place.h"

#include <math.h>
#include <string.h>

// Eye and target between the keys, by Catmull and Rom's curve.
static void follow_keys(const treacle_camera_def* camera, double time, double eye[3],
                        double target[3]) {
    int n = camera->key_count, i = 0;
    while (i < n - 2 && time >= camera->keys[i + 1].time) {
        i += 1;
    }
    const treacle_camera_key* key[4];
    for (int k = 0; k < 4; ++k) {
        int at = i + k - 1;
        key[k] = &camera->keys[at < 0 ? 0 : at >= n ? n - 1 : at];
    }
    double span = key[2]->time - key[1]->time;
    double t = span > 0.0 ? fmin(fmax((time - key[1]->time) / span, 0.0), 1.0) : 0.0;
    const double w[4] = {0.5 * (-t + 2.0 * t * t - t * t * t),
                         0.5 * (2.0 - 5.0 * t * t + 3.0 * t * t * t),
                         0.5 * (t + 4.0 * t * t - 3.0 * t * t * t), 0.5 * (-t * t + t * t * t)};
    for (int a = 0; a < 3; ++a) {
        eye[a] = target[a] = 0.0;
        for (int k = 0; k < 4; ++k) {
            eye[a] += w[k] * key[k]->eye[a];
            target[a] += w[k] * key[k]->target[a];
        }
    }
}

bool camera_place(const treacle_camera_def* camera, double time, double eye[3], double target[3]) {
    if (camera->key_count > 0) {
        follow_keys(camera, time, eye, target);
    } else if (camera->eye_set) {
        memcpy(eye, camera->eye, 3 * sizeof(double));
        memcpy(target, camera->target, 3 * sizeof(double));
    }
    return camera->key_count > 0 || camera->eye_set;
}

void camera_turn(double angle, double eye[3], const double target[3]) {
    if (angle == 0.0) {
        return;
    }
    double c = cos(angle), s = sin(angle);
    double x = eye[0] - target[0], z = eye[2] - target[2];
    eye[0] = target[0] + c * x + s * z;
    eye[2] = target[2] - s * x + c * z;
}
