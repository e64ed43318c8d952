// The loops over tiles behind viscosity_level.c, once for each instruction set.
#pragma once

#include "solve/viscosity_level.h"

/// Operands of any of the loops; each says which it takes.
typedef struct viscosity_job {
    const viscosity_level* level;
    const tile_ix* tiles; // loop items are indices into it
    const float* b;
    float* x;
    float* y;
    const double* from;
    double* to;
    bool is_reverse;
} viscosity_job;

// Gauss-Seidel on x with right-hand side b.
ISA_DECLARE(void, viscosity_loop_smooth, (void* data, int64_t begin, int64_t end));
// y = b - A x.
ISA_DECLARE(void, viscosity_loop_residual, (void* data, int64_t begin, int64_t end));
// to = A from; partial 0 = from . to.
ISA_DECLARE(void, viscosity_loop_apply, (void* data, int64_t begin, int64_t end));
// to = A x in double; partial 0 = x . to.
ISA_DECLARE(void, viscosity_loop_apply_rounded, (void* data, int64_t begin, int64_t end));

// defect = r - A z at the unknowns of one tile, zero elsewhere.
ISA_DECLARE(void, viscosity_defect,
            (const viscosity_level* level, tile_ix t, const float* r, const float* z,
             double* defect));
