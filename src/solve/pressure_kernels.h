// The loops over tiles behind pressure_level.c, once for each instruction set.
#pragma once

#include "solve/pressure_level.h"

/// Operands of any of the loops; each says which it takes.
typedef struct pressure_job {
    const pressure_level* level; // fine one
    const pressure_level* coarse;
    const tile_ix* tiles; // loop items are indices into it
    const float* b;
    float* x;
    float* y;
    const double* from;
    double* to;
    bool is_reverse;
    bool is_own_zero;    // take the tile's own values as zero
    bool is_others_zero; // take those of its neighbours as zero
} pressure_job;

// Gauss-Seidel on x with right-hand side b.
ISA_DECLARE(void, pressure_loop_smooth, (void* data, int64_t begin, int64_t end));
// Tiles are coarse ones: y = sums over blocks of b - A x.
ISA_DECLARE(void, pressure_loop_restrict, (void* data, int64_t begin, int64_t end));
// y += x of the coarse cell.
ISA_DECLARE(void, pressure_loop_prolong, (void* data, int64_t begin, int64_t end));
// y = A x unless y is NULL; partial 0 = x . A x.
ISA_DECLARE(void, pressure_loop_apply_float, (void* data, int64_t begin, int64_t end));
// to = A from; partial 0 = from . to.
ISA_DECLARE(void, pressure_loop_apply, (void* data, int64_t begin, int64_t end));
// to = A x in double; partial 0 = x . to.
ISA_DECLARE(void, pressure_loop_apply_rounded, (void* data, int64_t begin, int64_t end));
