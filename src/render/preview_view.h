// How a preview sees: from where, which way, and how large.
//
// All places are relative to the centre of the domain, so that floats suffice far from the origin
// of the world. A view maps a place to (x, y) in pixels, y down, and to its depth in metres along
// the line of sight.
#pragma once

#include <stdbool.h>

#include "treacle/preview.h"

#include "base/check.h"

typedef struct preview_box {
    double centre[3]; // m, in the world
    double half[3];   // m
    double diagonal;  // m
    int flat_axis;    // the inactive axis, or -1
    double fit[2][3]; // m from the centre: corners of what the camera frames
} preview_box;

typedef struct preview_view {
    double eye[3];                      // relative to the box' centre
    double right[3], up[3], forward[3]; // orthonormal
    double scale;                       // pixels a metre, at depth 1 m if there is perspective
    double middle[2];                   // pixel that looks straight forward
    bool has_perspective;
    int width, height; // pixels
} preview_view;

typedef struct preview_point {
    float x, y;  // pixels
    float depth; // m, > 0 in front of the eye
    float scale; // pixels a metre there
} preview_point;

preview_box preview_box_of(const treacle_frame* frame);
/// The camera of the def, or one that frames what is to fit. width and height in pixels of the
/// buffer.
preview_view preview_view_camera(const treacle_preview_def* def, const preview_box* box, int width,
                                 int height);
/// Sees the box along `direction` without perspective, as large as fits into size x size pixels.
preview_view preview_view_light(const double direction[3], const preview_box* box, int size);

preview_point preview_view_project(const preview_view* view, const double place[3]);
/// The direction, not normalised, with depth 1 along the line of sight, in which the pixel looks.
void preview_view_ray(const preview_view* view, double x, double y, double out[3]);

/// +1, -1: corner i (0..7) of the box, along an axis.
static inline double preview_box_sign(int corner, int axis) {
    TREACLE_ASSERT(corner >= 0 && corner < 8 && axis >= 0 && axis < 3);
    return (corner >> axis & 1) != 0 ? 1.0 : -1.0;
}
