// Restriction and prolongation of staggered fields between the levels of a pyramid.
//
// Both are products of one rule an axis. Along a halved axis a value sits either in the middle of
// its cell (centred) or on its low side (nodal: a face along its own axis, an edge across its own):
//
//     nodal    fine 2I = coarse I                          fine 2I+1 = (I + (I+1)) / 2
//     centred  fine 2I = 3/4 I + 1/4 (I-1)                 fine 2I+1 = 3/4 I + 1/4 (I+1)
//
// which is linear interpolation. Along an axis that is not halved fine = coarse. Restriction is the
// transpose: coarse I = 1/2 (2I-1) + 2I + 1/2 (2I+1), and 1/4, 3/4, 3/4, 1/4 of 2I-1 .. 2I+2. It
// keeps sums.
#pragma once

#include "base/simd.h"
#include "grid/pyramid.h"
#include "grid/tile_loop.h"

typedef enum stagger_rule {
    STAGGER_SAME,
    STAGGER_NODAL,
    STAGGER_CENTRED,
} stagger_rule;

/// A component of a field: `block` values a tile, of which it has TILE_CELLS from `offset` on.
typedef struct stagger_field {
    int block, offset;
} stagger_field;

typedef struct stagger_job {
    const pyramid_step* step;
    const tile_ix* tiles; // coarse ones; loop items are indices into it. NULL: the tiles themselves
    stagger_rule rule[AXES];
    stagger_field fine, coarse;
    const float* from;
    float* to;
    const uint64_t* rows; // [tile][AXES] of `to`, bit 8 z + y: rows that are written; NULL: all
    const float* mask;    // prolongation: like the fine field; values > 0 let through
    float scale;
} stagger_job;

/// The rules of a value that is nodal along the axes of the bit set.
static inline void stagger_set_rules(stagger_job* job, int nodal_axes) {
    for (int a = 0; a < AXES; ++a) {
        stagger_rule halved = (nodal_axes >> a & 1) != 0 ? STAGGER_NODAL : STAGGER_CENTRED;
        job->rule[a] = job->step->shift[a] != 0 ? halved : STAGGER_SAME;
    }
}

// to = scale * restriction of from. Needs step->wide.
ISA_DECLARE(void, stagger_loop_restrict, (void* data, int64_t begin, int64_t end));
// to += prolongation of from, where mask > 0.
ISA_DECLARE(void, stagger_loop_prolong, (void* data, int64_t begin, int64_t end));

/// Run a loop over `count` coarse tiles with the context's threads.
void stagger_restrict(const tile_map* coarse, stagger_job* job, tile_range range);
void stagger_prolong(const tile_map* coarse, stagger_job* job, tile_range range);
