// Solids of a simulation: made ready once, posed every step.
//
// What moves by script is a function of time, so that it needs no state and a resumed run has it
// for free.
#pragma once

#include "grid/domain.h"
#include "phys/solid.h"

/// How a solid moves by script: see treacle_solid_def.
typedef struct solid_motion {
    treacle_curve position, rotation; // count 0: none
    vec3 velocity, spin, pivot;
} solid_motion;

/// All solids; those that move by script come first, in the order of the def.
typedef struct solid_set {
    int count;
    solid* solids;         // [count]
    int scripted_count;    // <= count
    solid_motion* motions; // [scripted_count]
} solid_set;

/// Zeroed on error.
treacle_status solids_create(treacle_context* ctx, const treacle_sim_def* def,
                             const grid_domain* domain, solid_set* out) TREACLE_NODISCARD;
/// Harmless on a zeroed set, and twice.
void solids_destroy(treacle_context* ctx, solid_set* set);

solid_pose solids_pose_at(const solid_motion* motion, double time);
