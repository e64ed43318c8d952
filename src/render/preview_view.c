#include "render/preview_view.h"

#include <math.h>

#include "base/check.h"
#include "render/camera_place.h"

enum { AXIS_COUNT = 3, CORNERS = 8 };

// Fraction of the picture that stays free around the box.
static const double margin = 0.06;

static double dot(const double a[3], const double b[3]) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross(const double a[3], const double b[3], double out[3]) {
    for (int i = 0; i < AXIS_COUNT; ++i) {
        int j = (i + 1) % 3;
        int k = (i + 2) % 3;
        out[i] = a[j] * b[k] - a[k] * b[j];
    }
}

// False, and v unchanged, where there is no direction.
static bool normalise(double v[3]) {
    double length = sqrt(dot(v, v));
    if (!(length > 1e-12)) {
        return false;
    }
    for (int i = 0; i < AXIS_COUNT; ++i) {
        v[i] /= length;
    }
    return true;
}

// tan by Lambert's continued fraction, exact to rounding for 0 <= x < pi/2 and the same everywhere.
static double tangent(double x) {
    double value = 0.0;
    for (int odd = 31; odd >= 3; odd -= 2) {
        value = x * x / (odd - value);
    }
    return x / (1.0 - value);
}

preview_box preview_box_of(const treacle_frame* frame) {
    preview_box box = {.flat_axis = -1};
    double sum = 0.0;
    for (int i = 0; i < AXIS_COUNT; ++i) {
        box.half[i] = 0.5 * frame->cell * frame->cells[i];
        box.centre[i] = frame->origin[i] + box.half[i];
        box.fit[0][i] = -box.half[i];
        box.fit[1][i] = box.half[i];
        sum += 4.0 * box.half[i] * box.half[i];
        if (frame->cells[i] == 1) {
            box.flat_axis = i;
        }
    }
    box.diagonal = sqrt(sum);
    return box;
}

// Completes a view that looks forward, with up as near to `up` as can be.
static void orient(preview_view* view, const double forward[3], const double up[3]) {
    for (int i = 0; i < AXIS_COUNT; ++i) {
        view->forward[i] = forward[i];
    }
    normalise(view->forward);
    cross(view->forward, up, view->right);
    if (!normalise(view->right)) {
        const double other[3] = {0.0, 0.0, -1.0};
        cross(view->forward, other, view->right);
        if (!normalise(view->right)) {
            const double last[3] = {1.0, 0.0, 0.0};
            cross(view->forward, last, view->right);
            normalise(view->right);
        }
    }
    cross(view->right, view->forward, view->up);
}

// Moves the eye along its line of sight and sideways until the projected box fills the picture and
// sits in its middle. `slope` is half the extent of the picture at depth 1, across and up.
static void frame_box(preview_view* view, const preview_box* box, const double slope[2]) {
    double target[3];
    for (int i = 0; i < AXIS_COUNT; ++i) {
        target[i] = 0.5 * (box->fit[0][i] + box->fit[1][i]);
    }
    for (int round = 0; round < 8; ++round) {
        double away = 0.0;
        for (int c = 0; c < CORNERS; ++c) {
            double p[3];
            for (int i = 0; i < AXIS_COUNT; ++i) {
                p[i] = box->fit[c >> i & 1][i] - target[i];
            }
            double depth = dot(p, view->forward);
            away = fmax(away, fabs(dot(p, view->right)) / slope[0] - depth);
            away = fmax(away, fabs(dot(p, view->up)) / slope[1] - depth);
        }
        double low[2] = {INFINITY, INFINITY};
        double high[2] = {-INFINITY, -INFINITY};
        for (int c = 0; c < CORNERS; ++c) {
            double p[3];
            for (int i = 0; i < AXIS_COUNT; ++i) {
                p[i] = box->fit[c >> i & 1][i] - target[i];
            }
            double depth = dot(p, view->forward) + away;
            double at[2] = {dot(p, view->right) / depth, dot(p, view->up) / depth};
            for (int k = 0; k < 2; ++k) {
                low[k] = fmin(low[k], at[k]);
                high[k] = fmax(high[k], at[k]);
            }
        }
        for (int i = 0; i < AXIS_COUNT; ++i) {
            view->eye[i] = target[i] - away * view->forward[i];
            target[i] += 0.5 * away *
                         ((low[0] + high[0]) * view->right[i] + (low[1] + high[1]) * view->up[i]);
        }
    }
}

static void choose_direction(const treacle_preview_def* def, const preview_box* box,
                             double forward[3], double up[3]) {
    // From the right, above and in front: tan of the height is 0.36, of the turn 0.55.
    const double three_quarter[3] = {-0.55, -0.42, -1.0};
    for (int i = 0; i < AXIS_COUNT; ++i) {
        forward[i] = box->flat_axis < 0 ? three_quarter[i] : 0.0;
        up[i] = i == 1 ? 1.0 : 0.0;
    }
    if (box->flat_axis >= 0) {
        forward[box->flat_axis] = -1.0;
    } else {
        const double ahead[3] = {0.0, 0.0, 0.0};
        camera_turn(def->turn, forward, ahead);
    }
}

preview_view preview_view_camera(const treacle_preview_def* def, const preview_box* box, int width,
                                 int height) {
    TREACLE_ASSERT(width > 0 && height > 0 && def->field_of_view > 0.0);
    preview_view view = {.has_perspective = true, .width = width, .height = height};
    double half_slope = tangent(0.5 * def->field_of_view);
    view.scale = 0.5 * height / half_slope;
    view.middle[0] = 0.5 * width;
    view.middle[1] = 0.5 * height;
    double forward[3];
    double up[3];
    choose_direction(def, box, forward, up);
    if (def->eye_set) {
        double eye[3] = {def->eye[0], def->eye[1], def->eye[2]};
        camera_turn(def->turn, eye, def->target);
        for (int i = 0; i < AXIS_COUNT; ++i) {
            view.eye[i] = eye[i] - box->centre[i];
            forward[i] = def->target[i] - eye[i];
            up[i] = i == 1 ? 1.0 : 0.0;
        }
        orient(&view, forward, up);
        return view;
    }
    orient(&view, forward, up);
    const double slope[2] = {(1.0 - margin) * half_slope * width / height,
                             (1.0 - margin) * half_slope};
    frame_box(&view, box, slope);
    return view;
}

preview_view preview_view_light(const double direction[3], const preview_box* box, int size) {
    TREACLE_ASSERT(size > 0);
    preview_view view = {.width = size, .height = size, .middle = {0.5 * size, 0.5 * size}};
    const double up[3] = {0.0, 1.0, 0.0};
    orient(&view, direction, up);
    double extent = 0.0;
    for (int c = 0; c < CORNERS; ++c) {
        double p[3];
        for (int i = 0; i < AXIS_COUNT; ++i) {
            p[i] = preview_box_sign(c, i) * box->half[i];
        }
        extent = fmax(extent, fmax(fabs(dot(p, view.right)), fabs(dot(p, view.up))));
    }
    view.scale = 0.48 * size / extent;
    for (int i = 0; i < AXIS_COUNT; ++i) {
        view.eye[i] = -box->diagonal * view.forward[i];
    }
    return view;
}

preview_point preview_view_project(const preview_view* view, const double place[3]) {
    double q[3];
    for (int i = 0; i < AXIS_COUNT; ++i) {
        q[i] = place[i] - view->eye[i];
    }
    double depth = dot(q, view->forward);
    double scale = view->has_perspective ? view->scale / depth : view->scale;
    return (preview_point){
        .x = (float)(view->middle[0] + scale * dot(q, view->right)),
        .y = (float)(view->middle[1] - scale * dot(q, view->up)),
        .depth = (float)depth,
        .scale = (float)scale,
    };
}

void preview_view_ray(const preview_view* view, double x, double y, double out[3]) {
    TREACLE_ASSERT(view->scale > 0.0);
    double across = (x - view->middle[0]) / view->scale;
    double upward = (view->middle[1] - y) / view->scale;
    for (int i = 0; i < AXIS_COUNT; ++i) {
        out[i] = view->forward[i] + across * view->right[i] + upward * view->up[i];
    }
}
