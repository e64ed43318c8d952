// What material that cools or dries loses of its volume.
#pragma once

#include "particles/particles.h"

/// Remembers for each particle from `first` on the state in which it has the volume of its column.
void shrinkage_begin(const treacle_material_def* materials, const particles* p, particle_ix first);
/// log of the volume of each particle over that of its column [shrink.1]; out is [count].
void shrinkage_log_sizes(const treacle_material_def* materials, const particles* p, double* out);
/// The volumes that particles have, m^3; out is [count]. And their sum.
void shrinkage_volumes(const treacle_material_def* materials, const particles* p, float* out);
double shrinkage_volume(const treacle_material_def* materials, const particles* p);
/// How fast particles gain volume in a step of dt in which their sizes went from `before` to
/// `after`, 1/s, of what they are [shrink.2]; out is [count].
void shrinkage_rates(const particles* p, const double* before, const double* after, double dt,
                     float* out);
/// exp of each; out is [count].
void shrinkage_sizes(const particles* p, const double* log_sizes, float* out);

/// What the flow is asked for at cells. Fields are [count + 1][512].
typedef struct shrinkage_flow {
    const grid_domain* domain;
    const tile_map* map;
    const float* cell_rate; // 1/s
    const float* cell_open; // 0..1, fraction of a cell outside solids; NULL: 1
} shrinkage_flow;
/// source = the divergence times the width of a cell, m/s [shrink.2].
void shrinkage_source(const shrinkage_flow* flow, float* source);
/// The largest of the sources, without its sign.
double shrinkage_most(const tile_map* map, const float* source);
