// A bit for every cell of a tile: 64 bytes.
//
//     cell (x, y, z)  is bit 8 y + x of layer z
//
// Arrays of masks have one entry more than there are tiles, for the dummy, which is empty unless
// someone says otherwise.
#pragma once

#include "grid/stagger.h"
#include "grid/tile_map.h"

typedef struct tile_mask {
    uint64_t layer[TILE_SIZE];
} tile_mask;

static inline bool tile_mask_has(const tile_mask* mask, int cell) {
    return mask->layer[cell >> 6] >> (cell & 63) & 1;
}

static inline void tile_mask_add(tile_mask* mask, int cell) {
    mask->layer[cell >> 6] |= UINT64_C(1) << (cell & 63);
}

static inline void tile_mask_remove(tile_mask* mask, int cell) {
    mask->layer[cell >> 6] &= ~(UINT64_C(1) << (cell & 63));
}

static inline uint32_t tile_mask_row(const tile_mask* mask, int y, int z) {
    return (uint32_t)(mask->layer[z] >> (8 * y) & 255);
}

static inline bool tile_mask_is_empty(const tile_mask* mask) {
    uint64_t any = 0;
    for (int z = 0; z < TILE_SIZE; ++z) {
        any |= mask->layer[z];
    }
    return any == 0;
}

/// The cells of a tile whose values are above zero.
static inline tile_mask tile_mask_positive(const float values[TILE_CELLS]) {
    tile_mask mask = {{0}};
    for (int i = 0; i < TILE_CELLS; ++i) {
        mask.layer[i >> 6] |= (uint64_t)(values[i] > 0.0f ? 1 : 0) << (i & 63);
    }
    return mask;
}

enum { MASK_MARGIN_MAX = 3, MASK_ROWS_MAX = 14 * 14 };

/// The padded block of grid/gather.h in bits: with side = 8 + 2 margin, cell (x, y, z) is bit
/// x + margin of rows[(z + margin) * side + y + margin]. Flat axes repeat.
void tile_mask_rows(const tile_map* map, const tile_mask* masks, tile_ix t, int margin,
                    uint32_t* rows);

/// The samples of a tile that are in the domain: faces, edges and nodes on its far sides too. Along
/// flat axes layer 0 alone.
tile_mask tile_mask_inside(const grid_domain* domain, grid_place place, tile_coord coord);
