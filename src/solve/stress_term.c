#include "solve/stress_term.h"

// A is a sum over terms w d d^T, three stretches a cell and three shears at its low edges. Here a
// term is an object with its faces and signs, for what walks over terms and not over rows: labels
// of lumps, E, bodies. The stencil loops know the same terms as arithmetic.
typedef struct cell_place {
    tile_ix tile;
    int cell;
} cell_place;

// The cell next to q of tile t along an axis, up or down.
static cell_place step(const viscosity_level* level, cell_place from, int axis, int by) {
    static const int neighbour[AXES][2] = {
        {TILE_NEIGHBOUR(-1, 0, 0), TILE_NEIGHBOUR(1, 0, 0)},
        {TILE_NEIGHBOUR(0, -1, 0), TILE_NEIGHBOUR(0, 1, 0)},
        {TILE_NEIGHBOUR(0, 0, -1), TILE_NEIGHBOUR(0, 0, 1)},
    };
    // Cell numbers are three bits an axis, x lowest.
    int at = (from.cell >> 3 * axis & 7) + by, rest = from.cell & ~(7 << 3 * axis);
    if (at >= 0 && at < TILE_SIZE) {
        return (cell_place){from.tile, rest | at << 3 * axis};
    }
    // Beyond the map there is only the one tile that stands for everything missing.
    if (from.tile == level->map->count) {
        return from;
    }
    // The same cell number with the axis's bits wrapped round.
    tile_ix next = level->map->neighbour[from.tile][neighbour[axis][by > 0 ? 1 : 0]];
    return (cell_place){next, rest | (at & 7) << 3 * axis};
}

// Index of a face in vectors of the level.
static int64_t slot_of(const viscosity_level* level, cell_place at, int a) {
    // -1 is a face that does not exist: its value is zero.
    return at.tile == level->map->count
               ? -1
               : (int64_t)at.tile * VISCOSITY_BLOCK + a * TILE_CELLS + at.cell;
}

stress_term stress_term_at(const viscosity_level* level, term_place at) {
    cell_place here = {at.tile, at.cell};
    stress_term term = {.weight = stress_term_weight(level, at.tile, at.kind, at.cell)};
    // A stretch along its axis: the high face less the low one.
    if (at.kind < AXES) {
        term.count = 2;
        term.slot[0] = slot_of(level, here, at.kind);
        term.slot[1] = slot_of(level, step(level, here, at.kind, 1), at.kind);
        term.sign[0] = -1.0;
        term.sign[1] = 1.0;
        return term;
    }
    int a = (at.kind + 1) % AXES, b = (at.kind + 2) % AXES;
    term.count = 4;
    // A shear at the edge on the low sides: d_b u_a + d_a u_b, each a difference of two faces.
    for (int n = 0; n < 2; ++n) {
        int along = n == 0 ? a : b, across = n == 0 ? b : a;
        term.slot[2 * n] = slot_of(level, here, along);
        term.slot[2 * n + 1] = slot_of(level, step(level, here, across, -1), along);
        term.sign[2 * n] = 1.0;
        term.sign[2 * n + 1] = -1.0;
    }
    return term;
}

stress_term stress_term_sheet(const viscosity_level* level, term_place at) {
    int axis = at.kind / 2, which = at.kind % 2;
    int along = (axis + 1 + which) % AXES, across = (axis + 2 - which) % AXES;
    int i = at.cell & 7, j = at.cell >> 3 & 7, k = at.cell >> 6;
    cell_place here = {at.tile, at.cell};
    const float* sheet = viscosity_level_sheet(level, at.tile);
    stress_term term = {.weight = sheet[viscosity_sheet_at(axis, which, i, j, k)], .count = 2};
    term.slot[0] = slot_of(level, here, along);
    term.slot[1] = slot_of(level, step(level, here, across, -1), along);
    term.sign[0] = 1.0;
    term.sign[1] = -1.0;
    return term;
}

// For walks within one tile, which need no map: indices of faces in the tile's own block.
int stress_term_inside(int kind, int q, int faces[STRESS_TERM_FACES]) {
    int count = 0;
    // The same faces as in stress_term_at, those outside of the tile left out.
    if (kind < AXES) {
        faces[count++] = kind * TILE_CELLS + q;
        if ((q >> 3 * kind & 7) < TILE_SIZE - 1) {
            faces[count++] = kind * TILE_CELLS + q + (1 << 3 * kind);
        }
        return count;
    }
    int a = (kind + 1) % AXES, b = (kind + 2) % AXES;
    faces[count++] = a * TILE_CELLS + q;
    faces[count++] = b * TILE_CELLS + q;
    if ((q >> 3 * b & 7) > 0) {
        faces[count++] = a * TILE_CELLS + q - (1 << 3 * b);
    }
    if ((q >> 3 * a & 7) > 0) {
        faces[count++] = b * TILE_CELLS + q - (1 << 3 * a);
    }
    return count;
}

// All terms that a face enters: its row of A, term by term.
void stress_terms_of_face(const viscosity_level* level, int64_t slot,
                          term_place out[STRESS_TERMS_OF_FACE]) {
    int a = (int)(slot % VISCOSITY_BLOCK) / TILE_CELLS, n = 0;
    cell_place here = {(tile_ix)(slot / VISCOSITY_BLOCK), (int)(slot % TILE_CELLS)};
    // Two stretches, of the cells on both sides, and two shears for each other axis, at the face's
    // own low edge and at the next one.
    cell_place below = step(level, here, a, -1);
    out[n++] = (term_place){here.tile, a, here.cell};
    out[n++] = (term_place){below.tile, a, below.cell};
    for (int m = 1; m < AXES; ++m) {
        int b = (a + m) % AXES, kind = AXES + 3 - a - b;
        cell_place above = step(level, here, b, 1);
        out[n++] = (term_place){here.tile, kind, here.cell};
        out[n++] = (term_place){above.tile, kind, above.cell};
    }
}
