// The velocity beyond the surface, into which the liquid moves.
#pragma once

#include "grid/domain.h"
#include "grid/tile_map.h"

typedef struct outer_flow {
    const grid_domain* domain;
    const tile_map* map;
    const float* cell_phi;             // distance to the surface, cells
    const uint8_t* face_is_held[AXES]; // velocities that stay: of the flow, of walls
    float reach;                       // cells from the surface in which it is wanted
    float* cell_room;                  // [count + 1][512]
} outer_flow;

/// Takes most of the divergence out of face_u beyond the surface, where it is extrapolated.
void outer_flow_project(const outer_flow* params, float* const face_u[AXES]);
