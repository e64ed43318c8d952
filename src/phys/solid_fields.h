// Solids as the grid sees them.
#pragma once

#include "grid/face_field.h"
#include "grid/tile_map.h"
#include "phys/solid.h"

/// Cells, beyond which nobody needs to know how far a solid is.
#define SOLID_DISTANCE_MAX 4.0f
/// Faces that are open by less are closed.
#define SOLID_OPEN_MIN 1e-3f

/// [count + 1][512] each; the dummy tile is written by nobody.
typedef struct solid_fields {
    float* cell_phi;      // cells, < 0 in solids, cut off at +-SOLID_DISTANCE_MAX
    uint16_t* cell_id;    // the nearest solid, SOLID_NONE beyond SOLID_DISTANCE_MAX
    float* cell_open;     // 0..1, fraction of the cell's volume outside solids
    face_field face_open; // 0..1, what solids leave open of a face
    face_field face_u;    // m/s, of the solid's material across the face; 0 where it is all open
    uint8_t* cell_across; // bit a: a thin solid is between the cell and the one below along a
    // For rigid bodies; NULL: not wanted. Not copied from fields found before.
    face_field face_closed;  // 1 - face_open; sides of the domain do not count
    face_field face_fill;    // fraction of the box around the face, half of each cell, in solids
    uint16_t* face_id[AXES]; // which solid closes it, SOLID_NONE where it is all open
} solid_fields;

/// Fields found before. Tiles to which no solid has come near or from which none has gone are
/// copied: they would come out the same.
typedef struct solid_fields_before {
    const tile_map* map;
    const solid_pose* poses; // of as many solids
    solid_fields fields;
} solid_fields_before;

typedef struct solid_fields_params {
    const grid_domain* domain;
    const tile_map* map;
    solid_scene scene;
    treacle_walls openings;
    const solid_fields_before* before; // NULL: nothing is known
} solid_fields_params;

void solid_fields_compute(const solid_fields_params* params, const solid_fields* out);
