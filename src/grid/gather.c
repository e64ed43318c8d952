#include "grid/gather.h"

// Where the value of cell (x, y, z) of the surroundings of a tile is, flat axes folded to layer 0.
static size_t place_of(const gather_source* source, tile_ix t, const int cell[AXES]) {
    const tile_map* map = source->map;
    int at[AXES], side[AXES];
    for (int a = 0; a < AXES; ++a) {
        at[a] = map->is_flat[a] ? 0 : cell[a];
        side[a] = block_side_of(at[a]);
    }
    tile_ix from = map->neighbour[t][TILE_NEIGHBOUR(side[0], side[1], side[2])];
    return (size_t)from * source->stride + (size_t)(block_row_at(at[1], at[2]) + (at[0] & 7));
}

void gather_flat(const gather_source* source, tile_ix t, const int margin[2], float* out) {
    int first = -margin[0], end = TILE_SIZE + margin[1];
    for (int z = first; z < end; ++z) {
        for (int y = first; y < end; ++y) {
            for (int x = first; x < end; ++x) {
                *out++ = source->values[place_of(source, t, (const int[AXES]){x, y, z})];
            }
        }
    }
}

typedef struct plane_set {
    float* block;
    int side;      // values along an axis of the block
    int stride;    // between planes
    int across[2]; // between values in a plane
} plane_set;

// Plane `to` = plane `edge` + steps * (plane `edge` - plane `before`).
static void extend_plane(const plane_set* planes, int to, int edge, int before, int steps) {
    for (int j = 0; j < planes->side; ++j) {
        for (int i = 0; i < planes->side; ++i) {
            float* line = planes->block + j * planes->across[1] + i * planes->across[0];
            float last = line[edge * planes->stride];
            float slope = last - line[before * planes->stride];
            line[to * planes->stride] = last + (float)steps * slope;
        }
    }
}

void gather_extend(const grid_domain* domain, tile_coord coord, const int margin[2], float* block) {
    enum { STEPS_MAX = 3 }; // nobody looks further, and slopes are not good for much more
    int side = BLOCK_SIDE(margin[0], margin[1]);
    const int strides[AXES] = {1, side, side * side};
    for (int a = 0; a < AXES; ++a) {
        if (domain->is_periodic[a] || !domain->is_active[a]) {
            continue;
        }
        plane_set planes = {
            block, side, strides[a], {strides[(a + 1) % AXES], strides[(a + 2) % AXES]}};
        int first = margin[0] - coord.at[a] * TILE_SIZE; // plane of the domain's first cell
        int end = first + domain->cells[a];
        for (int i = 0; i < first; ++i) {
            int steps = first - i < STEPS_MAX ? first - i : STEPS_MAX;
            extend_plane(&planes, i, first, first + 1, steps);
        }
        for (int i = end; i < side; ++i) {
            int steps = i - end + 1 < STEPS_MAX ? i - end + 1 : STEPS_MAX;
            extend_plane(&planes, i, end - 1, end > 1 ? end - 2 : end - 1, steps);
        }
    }
}
