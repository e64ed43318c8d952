// A coarse space of rigid motions: six unknowns for each aggregate of faces.
//
// With Z the motions of all aggregates and E = Z^T A Z, a correction is
//
//     z += Z E^-1 Z^T (r - A z).
//
// One aggregate for each free body takes out the motions that only mass resists, which multigrid
// alone finds slowly at high viscosity. One for each connected piece of a tile also takes out the
// bending of threads and sheets.
#pragma once

#include "solve/block_ldl.h"
#include "solve/rigid_labels.h"

typedef struct rigid_space rigid_space;

/// Aggregates of the given scope; with RIGID_SCOPE_GRID only those that no wall holds. *out is NULL
/// if there is none.
treacle_status rigid_space_create(const rigid_def* def, rigid_space** out) TREACLE_NODISCARD;
/// Accepts NULL.
void rigid_space_destroy(rigid_space* space);
int32_t rigid_space_count(const rigid_space* space);

/// With bodies: z has their motion at their faces, rest are their rows of r - A z, and y their
/// unknowns.
typedef struct rigid_vectors {
    const float* r;
    float* z;
    const double* rest; // [bodies][6]
    float* y;           // [bodies][6]
} rigid_vectors;
/// z += Z E^-1 Z^T (r - A z) at unknowns, and y.
void rigid_space_correct(const rigid_space* space, const rigid_vectors* v);
/// x += Z E^-1 Z^T r; the unknowns of bodies begin at `tail`.
void rigid_space_project(const rigid_space* space, int64_t tail, const double* r, double* x);
