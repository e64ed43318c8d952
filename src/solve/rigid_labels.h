// Which unknowns move together almost rigidly.
//
// Faces are linked strongly when a term of the stress (solve/stress_term.h) joins them whose weight
// is at least a fifth of what full cells have there: a liquid that only touches another through a
// few slivers is on its own. An aggregate is a connected set of strongly linked unknowns: within
// the whole grid, or within each tile. Sets below a dozen unknowns are dissolved; unknowns in none
// then join the neighbour of the lowest number, layer by layer, until all are covered. (Uncovered
// faces at the surface ruin the coarse space: they alone double the iterations.)
#pragma once

#include "solve/viscosity_level.h"

typedef struct rigid_labels {
    treacle_context* ctx;
    tile_ix tile_count;
    int32_t count;    // aggregates
    int32_t* label;   // [tile][3][512], -1: none
    uint8_t* is_held; // [count]: linked strongly to a fixed face
} rigid_labels;

typedef enum rigid_scope {
    RIGID_SCOPE_GRID, // aggregates may span tiles
    RIGID_SCOPE_TILE, // they end at the sides of tiles
} rigid_scope;

/// `whole` is the weight w_c of a full cell, [tile][512]; NULL takes the largest of all.
treacle_status rigid_labels_create(const viscosity_level* level, const float* whole,
                                   rigid_scope scope, rigid_labels* out) TREACLE_NODISCARD;
void rigid_labels_destroy(rigid_labels* labels);
