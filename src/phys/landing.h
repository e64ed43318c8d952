// Gaps between liquid that lands and the solid or side that it faces: air, until they close.
#pragma once

#include "grid/domain.h"
#include "grid/face_field.h"
#include "grid/tile_map.h"
#include "phys/separation.h"

typedef struct landing_params {
    const grid_domain* domain;
    const tile_map* map;
    const float* cell_fraction; // of liquid
    const float* cell_open;     // what solids leave open of cells; NULL: all
    face_view face_box;         // fraction of liquid of the box around a face
    face_view face_open;        // what liquid may cross
    face_view face_u;           // m/s, as the gap is expected to close
    const double* cell_impulse; // of the last step: 0 where no liquid was; NULL: all
    double dt;
    const contact_set* contacts; // walls that may let go say themselves what is held; NULL: none
} landing_params;

/// A cell that is no gap, and one that is a gap and stays one in this step.
#define LANDING_NONE 0.0f
#define LANDING_GAP -1.0f

/// The cells of a tile: LANDING_NONE, LANDING_GAP, or > 0 in a gap that closes: m/s that flow into
/// the cell, over what is open of a face, to fill it in the step. False if all are LANDING_NONE.
/// params: NULL where gaps are not looked for.
bool landing_find(const landing_params* params, tile_ix tile, float fill[TILE_CELLS]);
