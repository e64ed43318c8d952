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

// The rows of layer z of the surroundings, where no axis is flat: three tiles beside each other
// have eight rows in common.
static void pad_layer(const tile_map* map, const tile_mask* masks, tile_ix t, int margin, int z,
                      uint32_t* rows) {
    for (int side = -1; side <= 1; ++side) {
        const tile_ix* from = block_row_tiles(map, t, side * TILE_SIZE, z);
        uint64_t left = masks[from[0]].layer[z & 7], centre = masks[from[1]].layer[z & 7];
        uint64_t right = masks[from[2]].layer[z & 7];
        int begin = side < 0 ? TILE_SIZE - margin : 0, end = side > 0 ? margin : TILE_SIZE;
        for (int y = begin; y < end; ++y) {
            uint32_t low = (uint32_t)(left >> 8 * y & 255) >> (TILE_SIZE - margin);
            uint32_t high = (uint32_t)(right >> 8 * y) & ((1u << margin) - 1);
            *rows++ =
                low | (uint32_t)(centre >> 8 * y & 255) << margin | high << (margin + TILE_SIZE);
        }
    }
}

void tile_mask_rows(const tile_map* map, const tile_mask* masks, tile_ix t, int margin,
                    uint32_t* rows) {
    TREACLE_ASSERT(t >= 0 && t < map->count);
    TREACLE_ASSERT(margin >= 0 && margin <= MASK_MARGIN_MAX);
    const int side = TILE_SIZE + 2 * margin;
    bool is_flat = map->is_flat[0] || map->is_flat[1] || map->is_flat[2];
    for (int z = -margin; z < TILE_SIZE + margin && !is_flat; ++z) {
        pad_layer(map, masks, t, margin, z, rows + (z + margin) * side);
    }
    for (int n = 0; n < side * side && is_flat; ++n) {
        int yz[2] = {map->is_flat[1] ? 0 : n % side - margin,
                     map->is_flat[2] ? 0 : n / side - margin};
        rows[n] = padded_row(map, masks, t, margin, yz);
    }
}

// How many samples of a tile, from the first, are in the domain along an axis.
static int samples_inside(const grid_domain* domain, grid_place place, tile_coord coord, int a) {
    if (!domain->is_active[a]) {
        return 1;
    }
    int last = domain->cells[a] - (domain->is_periodic[a] ? 1 : place_half(place, a));
    int count = last + 1 - coord.at[a] * TILE_SIZE;
    return count < 0 ? 0 : count > TILE_SIZE ? TILE_SIZE : count;
}

tile_mask tile_mask_inside(const grid_domain* domain, grid_place place, tile_coord coord) {
    TREACLE_ASSERT(coord.at[0] >= 0 && coord.at[1] >= 0 && coord.at[2] >= 0);
    int n[AXES];
    for (int a = 0; a < AXES; ++a) {
        n[a] = samples_inside(domain, place, coord, a);
    }
    uint64_t row = (1u << n[0]) - 1, layer = 0;
    for (int y = 0; y < n[1]; ++y) {
        layer |= row << (8 * y);
    }
    tile_mask mask = {{0}};
    for (int z = 0; z < n[2]; ++z) {
        mask.layer[z] = layer;
    }
    return mask;
}
