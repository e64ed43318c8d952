// Solids: a shape, where it is, and how it moves.
#pragma once

#include "math/mat3.h"
#include "math/shape.h"

/// Where a solid is and how it moves at one moment. The point b of its shape is at
/// place + rotate (b - pivot) and moves with velocity + spin x (x - place).
typedef struct solid_pose {
    vec3 place;    // m, of the pivot
    mat3 rotate;   // from the shape's frame to the world's
    vec3 velocity; // m/s, of the pivot
    vec3 spin;     // rad/s
} solid_pose;

/// What of a solid does not change.
typedef struct solid {
    shape* shape;
    vec3 pivot; // m, in the frame of the shape
    bool is_inside_out;
    treacle_wall wall;
    double slip_length; // m
    treacle_separation separation;
} solid;

/// All solids at one moment.
typedef struct solid_scene {
    int count;
    const solid* solids;
    const solid_pose* poses;
} solid_scene;

enum { SOLID_COUNT_MAX = 65535, SOLID_NONE = 65535 };

static inline vec3 solid_to_body(const solid* s, const solid_pose* pose, vec3 x) {
    return vec3_add(s->pivot, mat3_apply_transposed(&pose->rotate, vec3_sub(x, pose->place)));
}

static inline vec3 solid_to_world(const solid* s, const solid_pose* pose, vec3 b) {
    return vec3_add(pose->place, mat3_apply(&pose->rotate, vec3_sub(b, s->pivot)));
}

/// Of the material at x.
static inline vec3 solid_velocity(const solid_pose* pose, vec3 x) {
    return vec3_add(pose->velocity, vec3_cross(pose->spin, vec3_sub(x, pose->place)));
}

/// Signed distance, m: < 0 in the solid. Never too large in size.
double solid_distance(const solid* s, const solid_pose* pose, vec3 x);
/// The direction in which the distance grows, of unit length; by differences over the width h.
vec3 solid_normal(const solid* s, const solid_pose* pose, vec3 x, double h);
/// The nearest of all solids: its index, or SOLID_NONE if there is none; *distance in m.
int solid_nearest(const solid_scene* scene, vec3 x, double* distance);
