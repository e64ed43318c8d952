// One level of the viscosity hierarchy: masses at faces, stress weights at cells and edges.
//
//     E(u) = 1/2 sum_f m_f u_f^2 + sum_c w_c sum_a (D_a u_a)^2 + 1/2 sum_e w_e (D_b u_a + D_a
//     u_b)^2 + 1/2 sum_e [s_e (D_b u_a)^2 + s'_e (D_a u_b)^2]
//
// The last sum is of plain squared differences, where a system has such sheets; one between a fixed
// face and another does not count. Rotations are not free of it.
//
// With D the difference of neighbouring values and e the edges between axes a and b. A u is the
// gradient of E: symmetric, positive, and without stress for every rigid motion, on every level,
// whatever the weights. Level l + 1 has the weights of level l restricted by the rule of the
// unknowns' own restriction (solve/stagger_transfer.h), times 1/4 for stresses since differences
// double.
//
// Staggering, cell I: face a at I - e_a/2, edge along c at I - e_a/2 - e_b/2. A face is an unknown
// if it is not fixed and its diagonal is positive.
#pragma once

#include "base/simd.h"
#include "grid/pyramid.h"
#include "solve/vec_space.h"

enum {
    VISCOSITY_BLOCK = AXES * TILE_CELLS,
    VISCOSITY_STRESSES = 4,         // cell, then edges along x, y, z
    VISCOSITY_SIDE = TILE_SIZE + 1, // a padded tile's
    VISCOSITY_PADDED = VISCOSITY_SIDE * VISCOSITY_SIDE * VISCOSITY_SIDE,
    VISCOSITY_STRESS_BLOCK = VISCOSITY_STRESSES * VISCOSITY_PADDED,
    VISCOSITY_SHEETS = 2 * AXES, // two at edges along each axis
    VISCOSITY_SHEET_BLOCK = VISCOSITY_SHEETS * VISCOSITY_PADDED,
};

/// Distance between neighbours along an axis in a tile's padded weights.
#define VISCOSITY_STRIDE(a)                                                                        \
    ((a) == 0 ? 1 : (a) == 1 ? VISCOSITY_SIDE : VISCOSITY_SIDE * VISCOSITY_SIDE)

/// Place of the weight of cell (i, j, k), -1 .. 7 each, in a tile's padded weights.
static inline int viscosity_cell_at(int i, int j, int k) {
    return ((k + 1) * VISCOSITY_SIDE + j + 1) * VISCOSITY_SIDE + i + 1;
}

/// Place of the weight of the edge along `axis` on the low sides of cell (i, j, k), 0 .. 8 each.
static inline int viscosity_edge_at(int axis, int i, int j, int k) {
    return (1 + axis) * VISCOSITY_PADDED + (k * VISCOSITY_SIDE + j) * VISCOSITY_SIDE + i;
}

/// Place of a weight of plain differences, 0 or 1, at that edge in a tile's padded sheets.
static inline int viscosity_sheet_at(int axis, int which, int i, int j, int k) {
    return (2 * axis + which) * VISCOSITY_PADDED + (k * VISCOSITY_SIDE + j) * VISCOSITY_SIDE + i;
}

/// Weights as fields [tile][512] with a zero tile at the end.
typedef struct viscosity_weights {
    const float* cell;           // w_c >= 0
    const float* edge[AXES];     // w_e >= 0, slot = the axis that the edge runs along
    const float* sheet[AXES][2]; // s_e, s'_e >= 0 at edges: a, b are the axes that follow that of
                                 // the edge; NULL: there are none
    const float* mass[AXES];     // m_f >= 0; 0 at fixed faces
    const uint8_t* fixed;        // bit a: face a is no unknown
    const uint16_t* owner[AXES]; // at fixed faces: which body moves it (solve/drag_term.h), from 1
                                 // on; 0: none. NULL without bodies
} viscosity_weights;

/// What a level has of its own, levels >= 1; but for mass it is there during set-up only.
typedef struct viscosity_owned {
    float *mass, *stress, *sheet;
    uint8_t* fixed;
    uint16_t* owner;
} viscosity_owned;

/// Plain differences, packed for the tiles that have some.
typedef struct viscosity_sheets {
    float* at;   // [count][6][9^3]
    int32_t* of; // [tile]: which of them is a tile's, -1: none; NULL: no tile has one
    int32_t count;
} viscosity_sheets;

typedef struct viscosity_level {
    treacle_context* ctx;
    grid_domain domain;
    const tile_map* map;
    pyramid_step step; // from the finer level; levels >= 1. It owns the map
    vec_space space;
    tile_ix* active; // tiles with an unknown, or with a face of a body
    tile_colours colours;
    double unknowns;

    viscosity_weights weights; // level 0: the caller's
    viscosity_owned owned;
    viscosity_sheets sheets;
    float* stress;          // [tile][4][9^3]: cells -1 .. 7, times 2; edges 0 .. 8
    float* inverse;         // [tile][3][512], of the diagonal; 0 where there is no unknown
    uint64_t (*rows)[AXES]; // [tile], bit 8 z + y: the row has an unknown
    uint8_t* repeats;       // [tile], sweeps inside the tile

    float* residual;
    float *b, *x; // levels >= 1
} viscosity_level;

/// The packed sheets of a tile; NULL: none.
static inline const float* viscosity_level_sheet(const viscosity_level* level, int64_t t) {
    const viscosity_sheets* s = &level->sheets;
    return s->of != NULL && s->of[t] >= 0 ? s->at + (size_t)s->of[t] * VISCOSITY_SHEET_BLOCK : NULL;
}

/// The tiles of a level without bodies are split among ranks as those of its map are, and a rank
/// knows stresses and masks of unknowns for its own tiles alone. This fetches them for all tiles,
/// for code that has to look at the whole level.
void viscosity_level_complete(const viscosity_level* level);
/// The finest level. The weights are not copied; mass and owner must outlive the level.
treacle_status viscosity_level_create(treacle_context* ctx, const grid_domain* domain,
                                      const tile_map* map, const viscosity_weights* weights,
                                      viscosity_level* out) TREACLE_NODISCARD;
treacle_status viscosity_level_coarsen(const viscosity_level* fine,
                                       viscosity_level* out) TREACLE_NODISCARD;
/// Frees what only set-up needed.
void viscosity_level_end_setup(viscosity_level* level);
/// Sweeps repeat at walls and at the surface, for the sake of the coarser levels; not from now on.
void viscosity_level_sweep_once(viscosity_level* level);
void viscosity_level_destroy(viscosity_level* level);

/// Gauss-Seidel on A x = b over all tiles; in reverse order the transpose of the forward sweep.
void viscosity_level_smooth(const viscosity_level* level, const float* b, float* x,
                            bool is_reverse);
/// level->residual = b - A x.
void viscosity_level_residual(const viscosity_level* level, const float* b, const float* x);
/// coarse->b = restriction of b - A x.
void viscosity_level_restrict(const viscosity_level* fine, const float* b, const float* x,
                              const viscosity_level* coarse);
/// x += prolongation of coarse->x.
void viscosity_level_prolong(const viscosity_level* fine, const viscosity_level* coarse, float* x);
/// y = A x at unknowns; x may be given at fixed faces too. Returns x . y.
double viscosity_level_apply(const viscosity_level* level, const double* x, double* y);
/// The same in double for an x that is float.
double viscosity_level_apply_rounded(const viscosity_level* level, const float* x, double* y);
/// The largest weight of a cell.
double viscosity_level_largest(const viscosity_level* level);
void viscosity_level_diagonal(const viscosity_level* level, double* d);

/// Active tiles are in order and in the map, diagonals are not negative and finite, rows have the
/// unknowns that they say. Of one's own tiles.
bool viscosity_level_is_valid(const viscosity_level* level);
