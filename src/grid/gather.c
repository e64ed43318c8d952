#include "grid/gather.h"

// Row (y, z) of the surroundings of a tile; along a flat x axis one value, again and again.
static void gather_row(const gather_source* source, tile_ix t, const int margin[2], const int yz[2],
                       float* out) {
    const tile_map* map = source->map;
    const tile_ix* from = block_row_tiles(map, t, yz[0], yz[1]);
    const float* row = source->values + block_row_at(yz[0], yz[1]);
    size_t low = (size_t)margin[0], high = (size_t)margin[1];
    const float* centre = row + (size_t)from[1] * source->stride;
    if (map->is_flat[0]) {
        for (size_t x = 0; x < low + TILE_SIZE + high; ++x) {
            out[x] = centre[0];
        }
        return;
    }
    memcpy(out, row + (size_t)from[0] * source->stride + TILE_SIZE - low, low * sizeof(float));
    memcpy(out + low, centre, TILE_SIZE * sizeof(float));
    memcpy(out + low + TILE_SIZE, row + (size_t)from[2] * source->stride, high * sizeof(float));
}

void gather_flat(const gather_source* source, tile_ix t, const int margin[2], float* out) {
    TREACLE_ASSERT(t >= 0 && t < source->map->count);
    TREACLE_ASSERT(margin[0] >= 0 && margin[0] <= TILE_SIZE && margin[1] >= 0 &&
                   margin[1] <= TILE_SIZE);
    TREACLE_ASSERT(source->stride >= TILE_CELLS);
    const bool* is_flat = source->map->is_flat;
    int low = margin[0], side = BLOCK_SIDE(margin[0], margin[1]);
    size_t row = (size_t)side * sizeof(float);
    for (int z = 0; z < side; ++z) {
        float* layer = out + z * side * side;
        if (is_flat[2] && z > 0) {
            memcpy(layer, out, (size_t)side * row);
            continue;
        }
        for (int y = 0; y < side; ++y) {
            if (is_flat[1] && y > 0) {
                memcpy(layer + y * side, layer, row);
            } else {
                const int yz[2] = {is_flat[1] ? 0 : y - low, is_flat[2] ? 0 : z - low};
                gather_row(source, t, margin, yz, layer + y * side);
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
    TREACLE_ASSERT(margin[0] >= 1 && margin[0] <= TILE_SIZE);
    TREACLE_ASSERT(margin[1] >= 0 && margin[1] <= TILE_SIZE);
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
