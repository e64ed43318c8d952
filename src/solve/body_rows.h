// A term of rank six of a pressure system; see solve/body_term.h.
#pragma once

#include <stdint.h>

#include "solve/six.h"

/// The rows of a body, as a system gives them.
typedef struct body_rows {
    int64_t count;
    const int64_t* slot;               // [count], tile * TILE_CELLS + cell, ascending, each once
    const double (*row)[BODY_MOTIONS]; // [count]; those at cells without an unknown do not count
    double inverse_mass[BODY_MOTIONS][BODY_MOTIONS];
} body_rows;
