// A thin lens with a shutter.
#pragma once

#include "render/trace_random.h"
#include "render/trace_rays.h"

typedef struct trace_camera {
    v3f eye, right, up, forward;
    float half_slope[2]; // tangent of half the field of view, across and up
    float lens;          // radius, m
    float focus;         // m along forward
    float shutter;       // fraction of the exposure of which times are drawn; 0: no motion blur
    int width, height;
} trace_camera;

/// field_of_view is vertical, rad. Looks from eye to target, y up.
void trace_camera_aim(trace_camera* c, v3f eye, v3f target, float field_of_view);
/// A ray through pixel (x, y), y down, somewhere within it.
trace_ray trace_camera_ray(const trace_camera* c, int x, int y, trace_random* r);
/// Pixels by which something that moves with the velocity moves in a second, y down.
void trace_camera_motion(const trace_camera* c, v3f place, v3f velocity, float out[2]);
