// The sparse grid: which tiles exist, in which order, and which tile is next to which.
//
// A tile is 8 x 8 x 8 cells. Tiles are kept in Morton order of their coordinates, so that
// neighbours in space are near in memory; the order is a function of the set alone. A field is one
// float array with TILE_CELLS values a tile, tile after tile, plus one dummy tile at the end:
//
//     field:  | tile 0 | tile 1 | ... | tile count-1 | dummy |
//     a tile: x fastest, then y, then z: value of cell (x, y, z) at (z * 8 + y) * 8 + x
//
// neighbour[t][n] is the tile at offset (dx, dy, dz) in {-1, 0, 1}^3, n = TILE_NEIGHBOUR(dx, dy,
// dz); `count`, the dummy, where there is none. Periodic axes wrap. A kernel may read its
// neighbours and writes only its own tile.
//
// A tile owns the low-side faces, edges and nodes of its cells (grid/stagger.h): so the far side of
// the domain needs one more layer of tiles where the cells end on a tile's end.
#pragma once

#include "base/context.h"
#include "grid/domain.h"

enum {
    TILE_SIZE = 8,
    TILE_CELLS = 512,
    TILE_NEIGHBOURS = 27,
    TILE_SELF = 13,
    TILE_COORD_LIMIT = 1 << 21, // coordinates are below this: 3 x 21 bits of a Morton code
};
#define TILE_NEIGHBOUR(dx, dy, dz) (((dz) + 1) * 9 + ((dy) + 1) * 3 + (dx) + 1)

typedef int32_t tile_ix; // of a tile in its map

typedef struct tile_coord {
    int32_t at[AXES]; // in tiles; tile (0, 0, 0) holds cell (0, 0, 0)
} tile_coord;

typedef struct tile_map {
    treacle_context* ctx;
    tile_ix count;
    tile_coord* coord;                     // [count], Morton order
    tile_ix (*neighbour)[TILE_NEIGHBOURS]; // [count]
    int32_t slot_count;                    // of the hash table, a power of two
    tile_ix* slot;                         // [slot_count], -1 where empty
    bool is_flat[AXES];                    // inactive: one layer of cells, at index 0 of the tile
    struct tile_ranks* ranks;              // which rank does which tiles; NULL: every rank does all
} tile_map;

/// Makes the map of a set of tiles: `coords` in any order, repeats allowed, all of them in the
/// range that domain allows (periodic coordinates are wrapped, others outside are an error).
treacle_status tile_map_create(treacle_context* ctx, const grid_domain* domain, int64_t coord_count,
                               const tile_coord* coords, tile_map* out) TREACLE_NODISCARD;
void tile_map_destroy(tile_map* map);

/// The tile at the coordinate, or map->count if there is none (never mind whether it could be).
/// Does not wrap: see tile_coord_wrap.
tile_ix tile_map_find(const tile_map* map, tile_coord coord);

/// Morton code of a coordinate in [0, 2^21)^3: bit 3k+a of the code is bit k of axis a.
uint64_t tile_key(tile_coord coord);

/// Values of a field, the dummy tile's included.
static inline size_t tile_map_values(const tile_map* map) {
    return ((size_t)map->count + 1) * TILE_CELLS;
}

/// Cells of a tile along an axis that count: 8, or 1 where the domain is flat.
static inline int tile_layers(const tile_map* map, int axis) {
    TREACLE_ASSERT(axis >= 0 && axis < AXES);
    return map->is_flat[axis] ? 1 : TILE_SIZE;
}

/// Whether cell i (0..511) of a tile counts: flat axes have one layer.
static inline bool tile_cell_counts(const tile_map* map, int i) {
    return (!map->is_flat[0] || i % TILE_SIZE == 0) &&
           (!map->is_flat[1] || i / TILE_SIZE % TILE_SIZE == 0) &&
           (!map->is_flat[2] || i < TILE_SIZE * TILE_SIZE);
}

/// Whether one of a tile's values is above zero.
static inline bool tile_has_positive(const float values[TILE_CELLS]) {
    int count = 0;
    for (int i = 0; i < TILE_CELLS; ++i) {
        count += values[i] > 0.0f;
    }
    return count > 0;
}

/// The cell of the domain that is cell i (0..511) of a tile.
static inline void tile_cell_at(const tile_map* map, tile_ix tile, int i, int out[AXES]) {
    TREACLE_ASSERT(tile >= 0 && tile < map->count);
    TREACLE_ASSERT(i >= 0 && i < TILE_CELLS);
    const tile_coord* coord = &map->coord[tile];
    out[0] = coord->at[0] * TILE_SIZE + i % TILE_SIZE;
    out[1] = coord->at[1] * TILE_SIZE + i / TILE_SIZE % TILE_SIZE;
    out[2] = coord->at[2] * TILE_SIZE + i / TILE_SIZE / TILE_SIZE;
}

/// The slot, in a field, of the cell one below cell q of tile t along an axis; one of the dummy
/// tile's where there is none.
static inline int64_t tile_slot_below(const tile_map* map, int64_t t, int q, int axis) {
    static const int low[AXES] = {TILE_NEIGHBOUR(-1, 0, 0), TILE_NEIGHBOUR(0, -1, 0),
                                  TILE_NEIGHBOUR(0, 0, -1)};
    int stride = 1 << 3 * axis, at = q >> 3 * axis & 7;
    return at > 0 ? t * TILE_CELLS + q - stride
                  : (int64_t)map->neighbour[t][low[axis]] * TILE_CELLS + q + 7 * stride;
}

/// The same for the cell one above.
static inline int64_t tile_slot_above(const tile_map* map, int64_t t, int q, int axis) {
    static const int high[AXES] = {TILE_NEIGHBOUR(1, 0, 0), TILE_NEIGHBOUR(0, 1, 0),
                                   TILE_NEIGHBOUR(0, 0, 1)};
    int stride = 1 << 3 * axis, at = q >> 3 * axis & 7;
    return at < 7 ? t * TILE_CELLS + q + stride
                  : (int64_t)map->neighbour[t][high[axis]] * TILE_CELLS + q - 7 * stride;
}

/// Wraps periodic axes. False if the coordinate is outside the tiles that the domain allows: 0 to
/// cells / 8, the far layer included.
bool tile_coord_wrap(const grid_domain* domain, tile_coord* coord);
