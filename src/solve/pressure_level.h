// One level of the pressure hierarchy: links between cells, and the sweeps over them.
//
//     (A x)_i = extra_i x_i + sum over the six faces f of cell i:  w_f (x_i - x_j)
//
// on every level. A level keeps the links of its cells' low faces; the high faces are the low ones
// of the next cells, found in the same tile or in a neighbour. Along x a tile's links are padded to
// nine a row, so that low and high faces are two loads of the same row.
#pragma once

#include "base/simd.h"
#include "grid/pyramid.h"
#include "solve/vec_space.h"

enum {
    PRESSURE_ROWS = TILE_SIZE * TILE_SIZE, // of a tile
    PRESSURE_PADDED = TILE_SIZE + 1,       // links of a row along x
    PRESSURE_PADDED_TILE = PRESSURE_ROWS * PRESSURE_PADDED,
};

typedef struct body_term body_term; // solve/body_term.h

typedef struct pressure_level {
    treacle_context* ctx;
    grid_domain domain;
    const tile_map* map;
    pyramid_step step; // from the finer level; levels >= 1. It owns the map
    vec_space space;
    tile_ix* active; // tiles with an unknown
    tile_colours colours;
    double unknowns;

    float* link_x;           // [tile][row][9]
    const float* link[AXES]; // [tile][512]; link[0] at level 0 only
    const float* extra;
    float* owned;      // levels >= 1: link[1], link[2], extra
    float* inverse;    // of the diagonal; 0 where there is no unknown
    float* relax;      // the same for sweeps over tiles; 0 at the sites of bodies, too
    body_term* bodies; // NULL where there are none
    uint64_t* rows;    // [tile], bit 8 z + y: the row has an unknown
    uint8_t* repeats;  // [tile], sweeps inside the tile

    float *b, *x; // levels >= 1
    float* k[2];  // levels with a K-cycle
} pressure_level;

/// The finest level. The fields are not copied and must outlive the level.
treacle_status pressure_level_create(treacle_context* ctx, const grid_domain* domain,
                                     const tile_map* map, const float* const link[AXES],
                                     const float* extra, pressure_level* out) TREACLE_NODISCARD;
/// The next level, by summing the links between and the extras within blocks of 2 x 2 x 2 cells.
treacle_status pressure_level_coarsen(const pressure_level* fine, bool has_k_cycle,
                                      pressure_level* out) TREACLE_NODISCARD;
/// Shares the level's vectors out as its map is; not with bodies.
void pressure_level_distribute(pressure_level* level);
/// Gives the level a term of bodies, which it then owns.
treacle_status pressure_level_attach(pressure_level* level, body_term* bodies) TREACLE_NODISCARD;
void pressure_level_destroy(pressure_level* level);
/// Follows a change of the extras: of the finest level's own field (fine NULL), or of the finer
/// level's. *is_same is false if a tile gained its first unknown or lost its last: then the level
/// must be made anew.
treacle_status pressure_level_refresh(pressure_level* level, const pressure_level* fine,
                                      bool* is_same) TREACLE_NODISCARD;

/// Gauss-Seidel on A x = b over all tiles and bodies' sites; in reverse order the transpose of the
/// forward sweep. from_zero: x counts as zero, whatever it holds.
void pressure_level_smooth(const pressure_level* level, const float* b, float* x, bool is_reverse,
                           bool from_zero);
/// coarse_b = sum over blocks of b - A x.
void pressure_level_restrict(const pressure_level* fine, const float* b, const float* x,
                             const pressure_level* coarse, float* coarse_b);
/// x += the value of the block's coarse cell.
void pressure_level_prolong(const pressure_level* fine, const pressure_level* coarse,
                            const float* coarse_x, float* x);
/// y = A x; returns x . y. With y NULL it only returns.
double pressure_level_apply_float(const pressure_level* level, const float* x, float* y);
double pressure_level_apply(const pressure_level* level, const double* x, double* y);
/// The same in double for an x that is float.
double pressure_level_apply_rounded(const pressure_level* level, const float* x, double* y);
/// The largest fraction of the links in a diagonal; 1 where a cell has no extra.
double pressure_level_link_fraction(const pressure_level* level);
void pressure_level_diagonal(const pressure_level* level, double* d);

/// Active tiles are in order and in the map, diagonals are not negative and finite, every tile that
/// is active has an unknown and is swept. Of one's own tiles.
bool pressure_level_is_valid(const pressure_level* level);
