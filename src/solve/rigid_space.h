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
/// if there is none. `whole` as in rigid_labels_create.
treacle_status rigid_space_create(const viscosity_level* level, const float* whole,
                                  rigid_scope scope, rigid_space** out) TREACLE_NODISCARD;
/// Accepts NULL.
void rigid_space_destroy(rigid_space* space);
int32_t rigid_space_count(const rigid_space* space);

/// z += Z E^-1 Z^T (r - A z).
void rigid_space_correct(const rigid_space* space, const float* r, float* z);
/// x += Z E^-1 Z^T r.
void rigid_space_project(const rigid_space* space, const double* r, double* x);
