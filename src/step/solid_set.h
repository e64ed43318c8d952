// All solids of a simulation, posed every step.
//
// What moves by script is a function of time, so that it needs no state and a resumed run has it
// for free.
#pragma once

#include "math/curve.h"
#include "math/field.h"
#include "phys/solid.h"

/// How its surface moves in its own plane.
typedef struct solid_surface {
    bool moves;
    field velocity;
    vec3 spin;
    treacle_curve strength;
    bool has_time; // the velocity is an expression of time
    double h;      // m
} solid_surface;

/// How a solid moves by script: see treacle_solid_def.
typedef struct solid_motion {
    treacle_curve position, rotation; // count 0: none
    vec3 velocity, spin, pivot;
    solid_surface surface;
    mesh_tree *from, *to; // of a solid that changes its shape: room for its mesh during a step
    vec3* places[2];      // of the vertices in them
} solid_motion;

/// All solids; those that move by script come first, in the order of the def.
typedef struct solid_set {
    int count;
    solid* solids;         // [count]
    int scripted_count;    // <= count
    solid_motion* motions; // [scripted_count]
} solid_set;

/// Where the solid is at a moment; of one that changes its shape, solids_reshape says the rest.
solid_pose solids_pose_at(const solid_motion* motion, double time);
/// How the surface of the solid moves at a moment.
solid_belt solids_belt_at(const solid* s, const solid_motion* motion, double time);
/// A solid that changes its shape does so over dt from a moment on: fills the trees, and the forms
/// of its poses at both ends. The same solid may not be asked by two threads.
void solids_reshape(const solid* s, const solid_motion* motion, double time, double dt,
                    solid_pose* const poses[2]);
