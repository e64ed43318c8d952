// The loops over tiles of divergence and gradient, once for each instruction set.
#pragma once

#include "base/simd.h"
#include "grid/tile_map.h"

typedef struct stokes_job {
    const tile_map* map;
    const tile_ix* tiles; // loop items are indices into it
    const float* opening[3];
    const float* is_cell; // [tile][512], > 0: the cell has a pressure
    const float* is_face; // [tile][3][512], > 0: the face is an unknown
    const float* u_float; // or
    const double* u;
    const float* p_float; // or
    const double* p;
    double* to;
} stokes_job;

// to = B u at cells with a pressure, 0 elsewhere.
ISA_DECLARE(void, stokes_loop_divergence, (const stokes_job* job, int64_t begin, int64_t end));
// to += B^T p at unknown faces.
ISA_DECLARE(void, stokes_loop_gradient, (const stokes_job* job, int64_t begin, int64_t end));
