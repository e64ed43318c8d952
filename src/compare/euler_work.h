// Liquid that moves on the grid: no particles carry it. What its stages work on; their order is in
// compare/euler_step.c.
//
// The state is that of the liquid with its carried fields, and the surface (compare/level_set.h).
#pragma once

#include "compare/level_set.h"
#include "particles/sink.h"
#include "phys/tensor.h"
#include "step/find_room.h"
#include "step/step_work.h"

typedef struct euler_work {
    step_work* w; // what all stages share
    level_set_work level;
    const level_set* before; // the last step's surface
    level_set* surface;      // of this step
    bool is_reseeded;
    int sink_count;
    const sink* sinks;
    room_memory* room;
    double due_before; // m^3 that the liquid should have had
    double* due;       // m^3 that it should have after this step
    bool* has_warned;  // that too much of it is missing
    // In the scratch arena: how fast liquid may still come to walls, m/s, as far as there is a gap.
    face_field face_give;
} euler_work;

/// Which fields of liquid_state.carried there are: a bit each.
uint32_t euler_fields(const liquid_setup* setup);
/// Where a carried field lives.
grid_place euler_place_of(int carried);
/// The strain of a state.
tensor_field euler_strain(const liquid_state* state);

/// The velocity of a state, for what moves through it.
face_velocity euler_flow_of(const euler_work* e, const liquid_state* state);
/// The cells that the last step's velocity crosses in this one.
double euler_reach(const euler_work* e);
/// Whether a cell is one of the domain's, of which tiles may have more.
bool euler_is_in_domain(const euler_work* e, const int at[AXES]);
/// The distance to the surface anywhere.
tile_sampler euler_surface_of(const euler_work* e);
