// Solids: a shape, where it is, and how it moves.
#pragma once

#include "geometry/mesh_sequence.h"
#include "geometry/mesh_tree.h"
#include "geometry/shape.h"
#include "math/mat3.h"

struct field; // math/field.h

/// How a solid changes its shape during a step: vertices go straight from where one tree has them
/// to where the other has them, in the frame of the shape. Zeroed: it keeps its shape.
typedef struct solid_form {
    const mesh_tree *from, *to; // at the begin and the end of the step
    double fraction;            // of the pose that has it: 0 at the begin, 1 at the end
    double dt;                  // s, of the step; 0: nothing moves
    double reach;               // m, the longest way of a vertex
    double frames[2];           // of the sequence, at the begin and the end
    vec3 pivot;                 // of the solid
} solid_form;

/// How the surface of a solid moves in its own plane [solid.11]. Zeroed: it does not.
typedef struct solid_belt {
    const struct solid* of;       // whose surface it is; NULL: it does not move
    const struct field* velocity; // m/s, in the frame of the shape
    vec3 spin;                    // rad/s, about the pivot
    double factor;                // of both, at this moment
    double time;                  // s, for a velocity that is an expression of it; else 0
    double h;                     // m, over which its normal is measured
} solid_belt;

/// Where a solid is and how it moves at one moment. The point b of its shape is at
/// place + rotate (b - pivot) and moves with velocity + spin x (x - place).
typedef struct solid_pose {
    vec3 place;    // m, of the pivot
    mat3 rotate;   // from the shape's frame to the world's
    vec3 velocity; // m/s, of the pivot
    vec3 spin;     // rad/s
    solid_form form;
    solid_belt belt;
} solid_pose;

/// What of a solid does not change.
typedef struct solid {
    shape* shape;            // NULL with a sequence
    mesh_sequence* sequence; // of a solid that changes its shape; in the frame of a shape
    vec3 pivot;              // m, in the frame of the shape
    bool is_thick;           // nowhere thinner than the kernel of transfers reaches
    bool is_inside_out;
    treacle_wall slip;
    double slip_length; // m
    treacle_separation separation;
    double contact_angle; // rad
} solid;

/// All solids at one moment.
typedef struct solid_scene {
    int count;
    const solid* solids;
    const solid_pose* poses;
} solid_scene;

enum { SOLID_COUNT_MAX = 65534, SOLID_NONE = 65535 };

static inline vec3 solid_to_body(const solid* s, const solid_pose* pose, vec3 x) {
    return vec3_add(s->pivot, mat3_apply_transposed(&pose->rotate, vec3_sub(x, pose->place)));
}

static inline vec3 solid_to_world(const solid* s, const solid_pose* pose, vec3 b) {
    return vec3_add(pose->place, mat3_apply(&pose->rotate, vec3_sub(b, s->pivot)));
}

/// What a change of shape adds to the velocity at x.
vec3 solid_form_velocity(const solid_pose* pose, vec3 x);

/// What a surface that moves in its own plane adds to it.
vec3 solid_belt_velocity(const solid_pose* pose, vec3 x);

/// The velocity of the solid's material at x; where the shape changes, that of the nearest point of
/// its surface.
static inline vec3 solid_velocity(const solid_pose* pose, vec3 x) {
    vec3 v = vec3_add(pose->velocity, vec3_cross(pose->spin, vec3_sub(x, pose->place)));
    v = pose->form.dt > 0.0 ? vec3_add(v, solid_form_velocity(pose, x)) : v;
    return pose->belt.of != NULL ? vec3_add(v, solid_belt_velocity(pose, x)) : v;
}

/// Signed distance to the shape, m, at b in its frame; not turned inside out.
static inline double solid_shape_distance(const solid* s, const solid_form* form, vec3 b) {
    return form->to == NULL ? shape_distance(s->shape, b)
                            : mesh_tree_distance(form->fraction > 0.0 ? form->to : form->from, b);
}

/// Signed distance, m: < 0 in the solid. Never too large in size.
double solid_distance(const solid* s, const solid_pose* pose, vec3 x);
/// The direction in which the distance grows, of unit length; by differences over the width h.
vec3 solid_normal(const solid* s, const solid_pose* pose, vec3 x, double h);
/// The nearest of all solids: its index, or SOLID_NONE if there is none; *distance in m.
int solid_nearest(const solid_scene* scene, vec3 x, double* distance);
