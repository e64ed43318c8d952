// Where values live: the only place in which offsets are written.
//
// Places of values that belong to cell I, in cell widths from its low corner, with axes a, b, c in
// any order:
//
//     cell      (1/2, 1/2, 1/2)                          pressure, distance, temperature
//     face a    0 along a, 1/2 along b and c             velocity component a
//     edge a    1/2 along a, 0 along b and c             shear between b and c
//     node      (0, 0, 0)
//
//           y
//           |       edge z at (0, 0, 1/2) points at the reader
//           +---------+
//           |         |
//     face x|  cell   |       every location is on the low side or in the middle along an axis:
//           |    o    |       one bit. Location and cell are a point 2 I + bit of the doubled
//           |         |       lattice, whose points are half a cell apart.
//           +---------+--- x
//       node  face y
//
// A tile owns the low-side faces, edges and nodes of its cells.
#pragma once

#include "base/check.h"
#include "grid/domain.h"

typedef enum grid_place {
    PLACE_CELL,
    PLACE_FACE_X,
    PLACE_FACE_Y,
    PLACE_FACE_Z,
    PLACE_EDGE_X,
    PLACE_EDGE_Y,
    PLACE_EDGE_Z,
    PLACE_NODE,
} grid_place;

static inline grid_place place_face(int axis) {
    TREACLE_ASSERT(axis >= 0 && axis < 3);
    return (grid_place)(PLACE_FACE_X + axis);
}

static inline grid_place place_edge(int axis) {
    TREACLE_ASSERT(axis >= 0 && axis < 3);
    return (grid_place)(PLACE_EDGE_X + axis);
}

/// 1 if the place is in the middle of the cell along the axis, 0 if on the low side.
static inline int place_half(grid_place place, int axis) {
    if (place == PLACE_CELL || place == PLACE_NODE) {
        return place == PLACE_CELL;
    }
    return place < PLACE_EDGE_X ? place != place_face(axis) : place == place_edge(axis);
}

/// Cells from the low corner of the cell.
static inline float place_offset(grid_place place, int axis) {
    return 0.5f * (float)place_half(place, axis);
}
