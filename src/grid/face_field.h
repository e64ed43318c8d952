// Values at places of which a cell owns one along each axis: on faces, or at edges.
#pragma once

#include "grid/domain.h"

/// One array for each axis, [count + 1][512]; NULL where there is none.
typedef struct face_field {
    float* at[AXES];
} face_field;

/// The same to read.
typedef struct face_view {
    const float* at[AXES];
} face_view;

static inline face_view face_view_of(face_field f) {
    return (face_view){{f.at[0], f.at[1], f.at[2]}};
}
