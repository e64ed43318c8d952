#include "grid/tile_mask.h"

#include "grid/gather.h"

// Row (y, z) of the surroundings of a tile: bit x + margin, x from -margin to 7 + margin.
static uint32_t padded_row(const tile_map* map, const tile_mask* masks, tile_ix t, int margin,
                           const int yz[2]) {
    const tile_ix* from = block_row_tiles(map, t, yz[0], yz[1]);
    int y = yz[0] & 7, z = yz[1] & 7;
    uint32_t centre = tile_mask_row(&masks[from[1]], y, z);
    if (map->is_flat[0]) {
        return (centre & 1) * ((1u << (TILE_SIZE + 2 * margin)) - 1);
    }
    uint32_t left = tile_mask_row(&masks[from[0]], y, z) >> (TILE_SIZE - margin);
    uint32_t right = tile_mask_row(&masks[from[2]], y, z) & ((1u << margin) - 1);
    return left | centre << margin | right << (margin + TILE_SIZE);
}

void tile_mask_rows(const tile_map* map, const tile_mask* masks, tile_ix t, int margin,
                    uint32_t* rows) {
    for (int z = -margin; z < TILE_SIZE + margin; ++z) {
        for (int y = -margin; y < TILE_SIZE + margin; ++y) {
            int yz[2] = {map->is_flat[1] ? 0 : y, map->is_flat[2] ? 0 : z};
            *rows++ = padded_row(map, masks, t, margin, yz);
        }
    }
}
