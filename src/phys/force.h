// Body forces on faces.
#pragma once

#include "geometry/shape.h"
#include "grid/domain.h"
#include "grid/face_field.h"
#include "grid/tile_map.h"
#include "math/field.h"

/// An acceleration in a part of space, at one moment.
typedef struct force_field {
    const shape* where; // NULL: everywhere
    const field* acceleration;
    double strength;
} force_field;

typedef struct force_params {
    const grid_domain* domain;
    const tile_map* map;
    double time, dt;
    double gravity[AXES]; // m/s^2
    double uniform[AXES]; // m/s^2, of forces that are the same everywhere, mean over the step
    int field_count;
    const force_field* fields;
    const float* cell_buoyancy; // fraction of its weight that the liquid loses; NULL: none
    face_field face_push;       // gets what is added, m/s; NULL: nobody asks
} force_params;

/// What a body at x is accelerated by, m/s^2: gravity and fields, without buoyancy; 0 along
/// inactive axes.
void force_at(const force_params* params, vec3 x, double out[AXES]);

/// face_u += dt (acceleration), on every face of the map.
void force_apply(const force_params* params, float* const face_u[AXES]);
