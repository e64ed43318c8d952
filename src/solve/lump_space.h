// A coarse space of rigid motions: six unknowns for each aggregate of faces.
//
// With Z the motions of all aggregates and E = Z^T A Z, a correction is
//
//     z += Z E^-1 Z^T (r - A z).
//
// One aggregate for each free lump takes out the motions that only mass resists, which multigrid
// alone finds slowly at high viscosity. One for each connected part of a tile also takes out
// the bending of threads and sheets.
#pragma once

#include "solve/block_ldl.h"
#include "solve/lump_labels.h"

typedef struct lump_space lump_space;

/// Aggregates of the given scope; with LUMP_SCOPE_GRID only those that no wall holds. *out is NULL
/// if there is none.
treacle_status lump_space_create(const lump_def* def, lump_space** out) TREACLE_NODISCARD;
/// Accepts NULL.
void lump_space_destroy(lump_space* space);
int32_t lump_space_count(const lump_space* space);

/// With bodies: z has their motion at their faces, body_residual are their rows of r - A z, and y
/// their unknowns.
typedef struct lump_vectors {
    const float* r;
    float* z;
    const double* body_residual; // [bodies][6]
    float* y;                    // [bodies][6]
} lump_vectors;
/// z += Z E^-1 Z^T (r - A z) at unknowns, and y.
void lump_space_correct(const lump_space* space, const lump_vectors* v);
/// x += Z E^-1 Z^T r; the unknowns of bodies begin at `tail`.
void lump_space_project(const lump_space* space, int64_t tail, const double* r, double* x);
