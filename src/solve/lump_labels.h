// Which unknowns move together almost rigidly.
//
// Faces are linked strongly when a term of the stress (solve/stress_term.h) joins them whose weight
// is at least a fifth of the largest that a cell around it has: a liquid that only touches another
// through a few slivers is on its own, and so is one much stiffer than what it swims in. An
// aggregate is a connected set of strongly linked unknowns: within the whole grid, or within each
// tile. In at most 256 tiles it is smaller: there only 0.7 is strong, so that aggregates end at
// necks, and a tile that is not full of unknowns is split into its octants. Sets below a dozen
// unknowns are dissolved; unknowns in none then join the neighbour of the lowest number, layer by
// layer, until all are covered. (Uncovered faces at the surface ruin the coarse space: they alone
// double the iterations.)
//
// Where stiff and thin liquid lie side by side (solve/lump_strength.h) sets of two faces stay, and
// no octant cuts them: a speck of solid in its melt moves as one, and nothing else finds that.
//
// A body (solve/drag_term.h) is one aggregate. Within the whole grid it joins all liquid that
// sticks to it, and moves with that; within tiles it is an aggregate of its own. A body that is not
// free to move in every way holds what sticks to it.
#pragma once

#include "solve/drag_term.h"
#include "solve/regime.h"
#include "solve/viscosity_level.h"

/// Zeroed: there are none.
typedef struct solve_body_list {
    int32_t count;
    const solve_body* at;
} solve_body_list;

typedef struct lump_labels {
    treacle_context* ctx;
    tile_ix tile_count;
    int32_t count;    // aggregates
    int32_t* label;   // [tile][3][512], -1: none; faces of bodies have that of their body
    uint8_t* is_held; // [count]: linked strongly to a fixed face
} lump_labels;

typedef enum lump_scope {
    LUMP_SCOPE_GRID, // aggregates may span tiles
    LUMP_SCOPE_TILE, // they end at the sides of tiles
} lump_scope;

/// `bodies` are those of the level's owners; all must outlive what is made of it.
typedef struct lump_def {
    const viscosity_level* level;
    const solve_body_list* bodies;
    const lump_policy* policy;
    const solve_regime* regime; // whether aggregates are small, and whether there are specks
    lump_scope scope;
} lump_def;

/// Labels the faces of a level. In the scope of the whole grid, if all aggregates are held, none is
/// counted and labels mean nothing.
treacle_status lump_labels_create(const lump_def* def, lump_labels* out) TREACLE_NODISCARD;
void lump_labels_destroy(lump_labels* labels);
