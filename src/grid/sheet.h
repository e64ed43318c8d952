// How much of a level set's surface lies in cells and in the boxes around edges.
//
// The surface is that of the very octants of grid/fraction.h: flat pieces in the tetrahedra of an
// octant, so that a plane is exact. Areas are over h^2. With L the area in a box and N_aa the sum
// of area times the squared normal along a:
//
//     cell I       L
//     edge c       of the box around it, with a, b the axes that follow c in turn: L - N_bb, which
//                  weighs the change of u_a along b, and L - N_aa, that of u_b along a
//
// Along a flat axis nothing varies: areas are lengths times one cell.
#pragma once

#include "grid/tile_map.h"

/// [count + 1][512] each; those that are NULL are not computed. The dummy is not written.
typedef struct sheet_fields {
    float* cell;
    float* edge[AXES][2];
} sheet_fields;

typedef struct sheet_params {
    const grid_domain* domain;
    const tile_map* map;
    const float* phi; // at cells, in cells, < 0 inside: as for fraction_compute
} sheet_params;

void sheet_compute(const sheet_params* params, const sheet_fields* out);
