// Fields on the grid move with the flow: each sample is what was where the flow comes from.
#pragma once

#include "grid/stagger.h"
#include "phys/paths.h"

/// A field that moves: [tiles + 1][512] on the old map and on the new one.
typedef struct semi_field {
    grid_place place;
    const float* from;
    float* to;
} semi_field;

typedef struct semi_params {
    const grid_domain* domain;
    const face_velocity* flow; // its map is the old one
    const tile_map* to;        // the new map
    double dt;                 // s
    double reach;              // cells, at most 5
    int count;
    const semi_field* fields; // beside the velocity
} semi_params;

/// Moves the fields, and the velocity into `velocity`. Tiles that the old map does not have keep
/// what they hold. Values must be known as far around the liquid as it moves.
void semi_lagrangian(const semi_params* params, float* const velocity[AXES]);
