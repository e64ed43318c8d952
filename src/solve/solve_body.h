// A rigid body's place in a solve: what it displaces, what moves with it, what it pulls at.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "grid/domain.h"
#include "solve/mat6.h"

/// A face of the liquid that a body pulls at: 1/2 weight (u - r . y)^2. The weight is part of the
/// face's mass, too.
typedef struct body_pull {
    int64_t slot; // in a vector
    double weight;
} body_pull;

typedef struct solve_body {
    // In a pressure system, a term of rank six (solve/body_term.h):
    int64_t row_count;
    const int64_t* slot; // [row_count], tile * TILE_CELLS + cell, ascending, each once
    const double (
        *row)[BODY_MOTIONS]; // [row_count]; those at cells without an unknown do not count
    double inverse_mass[BODY_MOTIONS][BODY_MOTIONS];
    // In a viscosity system (solve/drag_term.h):
    double pivot[AXES];                      // cells of the finest level, from the origin
    double mass[BODY_MOTIONS][BODY_MOTIONS]; // of the motions
    bool is_bound;                           // only one motion is left to it, or none:
    double free_motion[BODY_MOTIONS];        // this one. Then the first unknown is its speed
    int64_t pull_count;
    const body_pull* pull; // [pull_count]
} solve_body;
