// Which part of every cell, face and edge box lies inside a level set.
//
// All fractions come from one function, so that they fit together: the level set at cells is
// interpolated to the doubled lattice, every cell splits into 8 octants between lattice points, and
// on each octant the values are joined linearly [geometry.3]. With q = octants of half a cell:
//
//     cell I       the 8 octants 2 I, 2 I + 1 along each axis
//     face a       the 8 octants of the box around the face: 2 I - 1, 2 I along a
//     edge a       the 8 octants of the box around the edge: 2 I - 1, 2 I along the other two axes
//     tent a       the mean of the box's fraction while the box slides from cell I - e_a to cell I;
//                  with g the gradient of p and p~ the integral of p over the part inside of a
//                  cell, tent a * g = difference of p~, exactly, for any plane surface on which
//                  p = 0 [geometry.4]
//     area a       fraction of the area of the face itself
//
// Along a flat axis nothing varies: fractions are those of the flat problem.
#pragma once

#include "grid/face_field.h"
#include "grid/tile_map.h"

/// Fractions, 0..1, [count + 1][512] each; those that are NULL are not computed. Layers beyond the
/// first along flat axes are set to 0, the dummy is not written.
typedef struct fraction_fields {
    float* cell;
    face_field face;
    face_field edge;
    face_field tent;
    face_field area;
} fraction_fields;

typedef struct fraction_params {
    const grid_domain* domain;
    const tile_map* map;
    const float* phi; // at cells, in cells, < 0 inside: a signed distance at least near the surface
} fraction_params;

void fraction_compute(const fraction_params* params, const fraction_fields* out);
