// Rigid bodies of a simulation: what of them does not change, and how contacts and joints move
// them.
//
// A body is a solid whose pose is state: bodies stand behind the scripted solids in the solid_set,
// in the order of the def.
#pragma once

#include "phys/rigid_body.h"
#include "sim/solids.h"
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

/// Adds bodies to the solids and makes them ready. Zeroed on error.
treacle_status bodies_create(treacle_context* ctx, const treacle_sim_def* def,
                             const grid_domain* domain, solid_set* solids,
                             body_set* out) TREACLE_NODISCARD;
/// Harmless on a zeroed set, and twice.
void bodies_destroy(treacle_context* ctx, body_set* set);

/// Whether all of a state is.
bool body_is_finite(const body_state* state);
/// The largest speed of any point of any body, m/s.
double bodies_fastest(const body_set* set, const body_state* states);

/// Calls `visit` for all that bodies are in at the start.
treacle_status overlaps_visit(treacle_context* ctx, const grid_domain* domain,
                              const solid_set* solids, const body_set* set,
                              treacle_overlap_fcn* visit, void* user) TREACLE_NODISCARD;
/// ERR_SCENE with names and depth if there is any.
treacle_status overlaps_refuse(treacle_context* ctx, const treacle_sim_def* def,
                               const grid_domain* domain, const solid_set* solids,
                               const body_set* set) TREACLE_NODISCARD;

/// What bodies may run into.
typedef struct body_world {
    const grid_domain* domain;
    const body_set* set;
    solid_scene solids; // all solids; poses of bodies are not read
    int first_body;     // solids before it move by script
    double dt;          // s
    const vec3* fall;   // [bodies], m, what forces add to the way of those that touch nothing
} body_world;

/// Contacts and joints change the velocities, then all bodies move on by dt; those without contacts
/// and joints also by their fall [path.1].
treacle_status bodies_step(treacle_context* ctx, const body_world* world,
                           body_state* states) TREACLE_NODISCARD;
