// What a solid beside the liquid does to the weights of its stress.
#pragma once

#include <stdbool.h>

#include "grid/domain.h"
#include "grid/gather.h"

/// Cells; a solid further away from a cell's middle touches none of its faces and edges.
#define SLIP_REACH 1.5f
/// The nearest solid, where there is none, and where the liquid has let go of it.
enum { SLIP_NONE = 65535, SLIP_LET_GO = 65534 };

/// How the liquid moves along a solid, lengths in cells.
typedef struct slip_kind {
    treacle_wall slip;
    double slip_length;
} slip_kind;

/// Distances to the nearest solid around a cell: a block of margins (1, 1), cells, > 0 outside.
typedef struct slip_block {
    float phi[BLOCK_VALUES(1, 1)];
} slip_block;

/// Factors of the weights that belong to a cell, and the drag on its low faces.
typedef struct slip_effect {
    double cell, edge[AXES];
    bool is_behind[AXES]; // the face moves as the solid does
    bool is_free;         // faces that the solid closes move as the stress lets them
    double drag[AXES];    // over r mu
} slip_effect;

/// The effect of a solid that the liquid has let go of. Its surface is that of the liquid, and the
/// fractions of liquid know that one.
slip_effect slip_let_go(void);
/// The effect on the cell at `at` of the block.
slip_effect slip_stress(const slip_block* block, int at, const grid_domain* domain,
                        const slip_kind* kind);
/// Whether liquid sticks to a wall of this kind.
bool slip_sticks(const slip_kind* kind);
/// How much steeper the velocity changes between two neighbouring faces across axis a than their
/// difference says: 1 / theta of [visc.4] where a wall stands between them, else 1. The faces are
/// those of the cells at `one` and `other` of the block.
double slip_steepness(const slip_block* block, int one, int other, int a);
/// Fraction of a box of one cell width that a plane leaves open: `distance` from the middle, in
/// cells, > 0 if the middle is outside; and the area of the plane in the box.
double slip_box_fraction(const double normal[AXES], double distance, double* area);
