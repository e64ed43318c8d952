// Solids of a simulation: made ready once, posed every step.
//
// What moves by script is a function of time, so that it needs no state and a resumed run has it
// for free.
#pragma once

#include "grid/domain.h"
#include "phys/solid_fields.h"

/// How a solid moves by script: see treacle_solid_def.
typedef struct solid_motion {
    treacle_curve position, rotation; // count 0: none
    vec3 velocity, spin, pivot;
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

/// Zeroed on error.
treacle_status solids_create(treacle_context* ctx, const treacle_sim_def* def,
                             const grid_domain* domain, solid_set* out) TREACLE_NODISCARD;
/// Harmless on a zeroed set, and twice.
void solids_destroy(treacle_context* ctx, solid_set* set);

/// Where the solid is at a moment; of one that changes its shape, solids_reshape says the rest.
solid_pose solids_pose_at(const solid_motion* motion, double time);
/// A solid that changes its shape does so over dt from a moment on: fills the trees, and the forms
/// of its poses at both ends. The same solid may not be asked by two threads.
void solids_reshape(const solid* s, const solid_motion* motion, double time, double dt,
                    solid_pose* const poses[2]);

/// The fields of the last step's solids: what has not moved need not be found again. Not state:
/// what it gives is what would be found without it.
typedef struct solid_cache {
    tile_map map;
    int count;         // solids
    solid_pose* poses; // [count]
    float* values;     // one block for all fields but the ids
    uint16_t* ids;
    uint8_t* across;
} solid_cache;

/// As the law wants it; valid while the cache is unchanged.
solid_fields_before solid_cache_view(const solid_cache* cache);
/// Keeps the fields of a map and the poses that they are of. An empty cache on error.
treacle_status solid_cache_keep(solid_cache* cache, const grid_domain* domain, const tile_map* map,
                                const solid_scene* scene,
                                const solid_fields* fields) TREACLE_NODISCARD;
/// Harmless on a zeroed cache, and twice.
void solid_cache_clear(solid_cache* cache);
