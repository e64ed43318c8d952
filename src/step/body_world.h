// How contacts and joints move bodies.
#pragma once

#include "phys/solid.h"
#include "step/body_set.h"

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
