// The loops over tiles of the coupled operator, once for each instruction set.
#pragma once

#include "base/simd.h"
#include "solve/pressure_level.h"
#include "solve/viscosity_level.h"

/// Operands of any of the loops; each says which it takes.
typedef struct stokes_job {
    const viscosity_level* faces;
    const pressure_level* cells;
    const tile_ix* tiles;                     // loop items are indices into it
    const float *opening[AXES], *below[AXES]; // as cells above and below a face see it
    const uint64_t* cell_rows;                // [tile], rows of cells that count; NULL: all
    const double *u, *p;                      // outer vectors, or
    const float *u_float, *p_float;           // corrections
    const double* b;
    const float* r;
    double* to;
    float *out, *defect;
} stokes_job;

// to = b - (A u + B^T p) at unknown faces; without the minus where b is NULL.
ISA_DECLARE(void, stokes_loop_forces, (void* data, int64_t begin, int64_t end));
// to = b - B u at cells with a pressure, 0 elsewhere; B u where b is NULL.
ISA_DECLARE(void, stokes_loop_divergence, (void* data, int64_t begin, int64_t end));
// out = A u_float + B^T p_float at unknown faces, 0 elsewhere, computed in double; rows that do not
// count are left alone.
ISA_DECLARE(void, stokes_loop_image, (void* data, int64_t begin, int64_t end));
// The same to `to`, in double; rows without an unknown are left alone.
ISA_DECLARE(void, stokes_loop_image_wide, (void* data, int64_t begin, int64_t end));
// out = B u_float, defect = out - r at cells with a pressure, 0 elsewhere, computed in double; rows
// that do not count are left alone.
ISA_DECLARE(void, stokes_loop_defect, (void* data, int64_t begin, int64_t end));
