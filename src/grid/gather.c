#include "grid/gather.h"

// Where the value of cell (x, y, z) of the surroundings of a tile is, flat axes folded to layer 0.
static size_t place_of(const tile_map* map, tile_ix t, const int cell[AXES]) {
    int at[AXES], side[AXES];
    for (int a = 0; a < AXES; ++a) {
        at[a] = map->is_flat[a] ? 0 : cell[a];
        side[a] = block_side_of(at[a]);
    }
    tile_ix from = map->neighbour[t][TILE_NEIGHBOUR(side[0], side[1], side[2])];
    return (size_t)from * TILE_CELLS + (size_t)(block_row_at(at[1], at[2]) + (at[0] & 7));
}

void gather_flat(const tile_map* map, const float* values, tile_ix t, const int margin[2],
                 float* out) {
    int first = -margin[0], end = TILE_SIZE + margin[1];
    for (int z = first; z < end; ++z) {
        for (int y = first; y < end; ++y) {
            for (int x = first; x < end; ++x) {
                *out++ = values[place_of(map, t, (const int[AXES]){x, y, z})];
            }
        }
    }
}
