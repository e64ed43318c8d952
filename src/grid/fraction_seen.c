// What a cell sees of a level set's inside through the linear kernel: with the octants q of
// [geometry.3], V their part below zero and z the distance of its centroid from the middle of the
// cell that they belong to, along each axis,
//
//     c(J) = 1/8 sum over q of V(q) prod over a of (1 - z_a or z_a)                     [solid.8]
//
// 1 - z along an axis for the cell's own octants, z for those of the cells beside it. Exact for
// planes across an axis, since the kernel is linear on an octant; for others but for the part's own
// width. Beyond the sides of the domain it is mirrored as particles are: what would go to a cell
// there comes back.
#include <string.h>

#include "grid/fraction_tile.h"
#include "grid/octant.h"

enum { LINE = FRACTION_POINTS, OCTANTS = 18 }; // those from -1 on

// An octant along one axis.
typedef struct octant_axis {
    int middle, step; // lattice indices: of the middle of its cell, and from there
    int cell[2];      // that see it: its own, and the one beside
    bool is_in;       // the domain
} octant_axis;

static octant_axis axis_of(int q, fraction_span domain) {
    int own = (q + 1) / 2 - 1, step = q % 2 == 1 ? -1 : 1; // q counts from octant -1
    int beside = own + step;
    bool is_beyond = beside < domain.begin || beside >= domain.end;
    return (octant_axis){.middle = 2 * own + 3,
                         .step = step,
                         .cell = {own, is_beyond ? own : beside},
                         .is_in = own >= domain.begin && own < domain.end};
}

static octant_part part_of(const float* points, const octant_axis at[AXES]) {
    float f[8];
    int below = 0;
    for (int i = 0; i < 8; ++i) {
        int x = at[0].middle + (i & 1) * at[0].step, y = at[1].middle + (i >> 1 & 1) * at[1].step;
        f[i] = points[((at[2].middle + (i >> 2) * at[2].step) * LINE + y) * LINE + x];
        below += f[i] < 0.0f ? 1 : 0;
    }
    if (below == 0 || below == 8) {
        float all = below == 8 ? 1.0f : 0.0f;
        return (octant_part){all, {0.5f * all, 0.5f * all, 0.5f * all}};
    }
    return octant_below(f);
}

// Gives the part to the cells of the tile that see it.
static void give(const octant_part* part, const octant_axis at[AXES], float* tile) {
    for (int i = 0; i < 8; ++i) {
        float weight = 0.125f * part->volume;
        int to = 0;
        bool is_own = true;
        for (int a = AXES - 1; a >= 0; --a) {
            float from_middle = 0.5f * part->moment[a] / part->volume;
            int side = i >> a & 1, cell = at[a].cell[side];
            weight *= side == 0 ? 1.0f - from_middle : from_middle;
            is_own = is_own && cell >= 0 && cell < TILE_SIZE;
            to = to * TILE_SIZE + cell;
        }
        if (is_own) {
            tile[to] += weight;
        }
    }
}

void fraction_seen(const float* points, const fraction_span domain[AXES], float* tile) {
    memset(tile, 0, TILE_CELLS * sizeof(*tile));
    octant_axis axis[AXES][OCTANTS];
    for (int i = 0; i < AXES * OCTANTS; ++i) {
        axis[i / OCTANTS][i % OCTANTS] = axis_of(i % OCTANTS, domain[i / OCTANTS]);
    }
    for (int i = 0; i < OCTANTS * OCTANTS * OCTANTS; ++i) {
        const octant_axis at[AXES] = {axis[0][i % OCTANTS], axis[1][i / OCTANTS % OCTANTS],
                                      axis[2][i / OCTANTS / OCTANTS]};
        if (at[0].is_in && at[1].is_in && at[2].is_in) {
            octant_part part = part_of(points, at);
            if (part.volume > 0.0f) {
                give(&part, at, tile); // [solid.8]
            }
        }
    }
}
