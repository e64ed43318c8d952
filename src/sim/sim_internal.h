// What a simulation is made of. Stages take the few parts they need, never the whole.
#pragma once

#include "base/arena.h"
#include "compare/level_set.h"
#include "grid/tile_ranks.h"
#include "particles/drop.h"
#include "particles/emitter.h"
#include "particles/particle_sort.h"
#include "particles/particles.h"
#include "particles/sink.h"
#include "sim/plan.h"
#include "step/find_room.h"
#include "step/step_work.h"
#include "treacle/sim.h"

// Sources of ids: the liquids, the emitters, the drops, reseeding, and what fills the rest of the
// domain.
#define SIM_SOURCE_DROPS(def) ((def)->liquid_count + (def)->emitter_count)
#define SIM_SOURCE_RESEED(def) (SIM_SOURCE_DROPS(def) + (def)->drop_count)
#define SIM_SOURCE_REST(def) (SIM_SOURCE_RESEED(def) + 1)

enum {
    SIM_MATERIALS_MAX = 256, // their index is one byte of a particle
    SIM_ARRAYS_MAX = PARTICLE_COLUMN_COUNT + 32,
};

// What belongs to which rank.
typedef struct sim_ranks {
    tile_owners owners; // of the particles; meaningless where key is NULL
    uint64_t* key;  // [2][ranks + 1], of the owners, now and when the step began; NULL: one rank
                    // has all tiles
    int64_t* cells; // [ranks + 1], of the last view
    int64_t* rows;  // [ranks + 1], of the last view
} sim_ranks;

// The state between steps: all of it is in a STATE frame. Whatever is not here is made anew every
// step.
typedef struct sim_state {
    particles particles;
    liquid_state liquid;    // empty while particles fly ballistically
    level_set surface;      // of liquid that the grid carries; else zeroed
    body_state* bodies;     // [bodies of the setup]
    double time;            // s
    int64_t step;           // done
    uint64_t reseed_births; // ids given to particles that came from a split
    double calm;            // 0..1, fraction of gravity that no motion follows: see timestep.c
    double volume_due;      // m^3, of liquid that the grid carries: what came less what was taken
                            // away; NaN: nobody has counted
} sim_state;

/// What was said already.
typedef struct sim_warned {
    bool of_closed; // liquid that solids press on
    bool of_lost;   // volume
} sim_warned;

struct treacle_sim {
    treacle_context* ctx;
    treacle_sim_def def; // its pointers are NULL: what they point to is below, made ready
    sim_plan plan;       // what follows from it
    grid_domain domain;
    sim_ranks ranks;
    grid_domain lattice;   // of the surface, see compare/level_set.h
    treacle_curve gravity; // m/s^2
    int material_count;
    float (*palette)[3]; // [material_count], linear RGB
    int emitter_count;
    emitter* emitters;
    int drop_count;
    drop_list* drops;
    int sink_count;
    sink* sinks;
    liquid_setup setup;

    solid_cache solid_cache; // not state, see there
    sim_warned has_warned;   // not state: a warning is said once a session
    room_memory room;        // not state, see there
    const float* push;       // [particles of now][3], m/s^2, in a step that has one; else NULL
    double push_most;        // m/s^2, the largest of them
    sim_state now;
    particles shown; // in pictures of liquid that the grid carries; no state
    sim_state next;  // that a step works on; swapped with `now` when all went well
    arena scratch;

    treacle_array arrays[SIM_ARRAYS_MAX]; // of the last view
    const int64_t* parts[SIM_ARRAYS_MAX]; // of the last view: which items of an array each rank has
};

/// A material's colour as particles carry it.
void sim_colour(const treacle_sim_def* def, int material, float out[3]);

/// Takes the accelerations of one step, which stay the caller's; NULL: none. ERR_USAGE if they are
/// not numbers or nobody could feel them.
treacle_status sim_push_begin(treacle_sim* sim, const float* acceleration) TREACLE_NODISCARD;
/// Pushes the particles of `next`, as they were copied from `now`, for dt.
void sim_push(treacle_sim* sim, double dt);

/// Bodies of `now` into `next`, for a step to work on.
void sim_copy_bodies(treacle_sim* sim);
