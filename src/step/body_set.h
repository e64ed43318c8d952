// Rigid bodies of a simulation: what of them does not change.
//
// A body is a solid whose pose is state: bodies stand behind the scripted solids in the solid_set,
// in the order of the def.
#pragma once

#include "math/curve.h"
#include "phys/rigid_body.h"
#include "treacle/sim.h"

/// A joint, made ready. Positions and directions are those of the start.
typedef struct body_joint {
    treacle_joint_kind kind;
    int body, to; // to < 0: the world
    vec3 anchor, axis;
} body_joint;

enum { BODY_NAME_CAPACITY = 48 };

typedef struct rigid_body {
    char name[BODY_NAME_CAPACITY]; // for messages, cut off
    double density, friction, restitution;
    body_mass mass;
    double radius; // m, of a ball about the pivot that holds the shape
    treacle_curve force, torque;
    int sample_count;
    vec3* samples; // on the surface, m, from the pivot, in the shape's frame
} rigid_body;

typedef struct body_set {
    int count;
    rigid_body* bodies;
    body_state* start; // [count]
    int joint_count;
    body_joint* joints;
} body_set;

/// Kinetic energy of all, J.
double body_set_energy(const body_set* set, const body_state* states);
