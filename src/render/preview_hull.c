#include "render/preview_hull.h"

#include "base/alloc.h"

enum { SIDE = PREVIEW_TILE_CELLS, CELLS = SIDE * SIDE * SIDE };

// Fewer particles a cell leave gaps that one sees through.
static const int fewest_a_cell = 4;
// A tile with this share of the fullest tile's particles has no empty cell at its sides.
static const double full_ratio = 0.9;
// Domains of more tiles are looked at without hiding: the map of tiles would be larger than the
// particles.
static const int64_t tiles_most = (int64_t)1 << 26;

static int64_t particles_of(const preview_particles* p, int64_t tile) {
    return p->tile_first[tile + 1] - p->tile_first[tile];
}

// Where a tile is in the map, or -1 outside of the domain: a file may say anything.
static int64_t place_of_tile(const preview_hull* hull, const int32_t coord[3], const int by[3]) {
    int64_t at = 0;
    for (int a = 2; a >= 0; --a) {
        int64_t c = (int64_t)coord[a] + by[a];
        if (c < 0 || c >= hull->tiles[a]) {
            return -1;
        }
        at = at * hull->tiles[a] + c;
    }
    return at;
}

static bool preview_hull_is_full(const preview_hull* hull, const int32_t coord[3],
                                 const int by[3]) {
    int64_t at = place_of_tile(hull, coord, by);
    return at >= 0 && hull->is_full[at] != 0;
}

treacle_status preview_hull_create(treacle_context* ctx, const preview_particles* particles,
                                   preview_hull* out) {
    static const int here[3] = {0, 0, 0};
    *out = (preview_hull){.ctx = ctx, .particles = particles};
    int64_t most = 0;
    double tiles = 1.0;
    for (int64_t t = 0; t < particles->tile_count; ++t) {
        most = particles_of(particles, t) > most ? particles_of(particles, t) : most;
    }
    for (int a = 0; a < 3; ++a) {
        out->tiles[a] = ((int64_t)particles->frame->cells[a] + SIDE - 1) / SIDE;
        tiles *= (double)out->tiles[a];
    }
    out->cell_count = (int)(most / CELLS / 2);
    bool is_dense = most / CELLS >= fewest_a_cell && tiles <= (double)tiles_most;
    if (!is_dense || particles->is_flat) {
        return TREACLE_OK;
    }
    void* block = NULL;
    TREACLE_TRY(alloc_zero(ctx, (size_t)tiles, 1, "tiles of a picture", &block));
    out->is_full = block;
    for (int64_t t = 0; t < particles->tile_count; ++t) {
        int64_t at = place_of_tile(out, particles->tile_coord + 3 * t, here);
        if (at >= 0 && (double)particles_of(particles, t) >= full_ratio * (double)most) {
            out->is_full[at] = 1;
        }
    }
    return TREACLE_OK;
}

void preview_hull_destroy(preview_hull* hull) {
    size_t tiles = (size_t)(hull->tiles[0] * hull->tiles[1] * hull->tiles[2]);
    alloc_free(hull->ctx, hull->is_full, tiles);
    hull->is_full = NULL;
}

// Cells that hold enough particles.
static preview_cells find_filled(const preview_hull* hull, int64_t tile) {
    const preview_particles* p = hull->particles;
    uint16_t count[CELLS] = {0};
    for (int64_t i = p->tile_first[tile]; i < p->tile_first[tile + 1]; ++i) {
        const float* at = p->position + 3 * i;
        bool is_inside = true;
        for (int a = 0; a < 3; ++a) {
            is_inside = is_inside && at[a] >= 0.0f && at[a] < (float)SIDE;
        }
        if (is_inside) {
            uint16_t* cell = &count[(int)at[0] + SIDE * ((int)at[1] + SIDE * (int)at[2])];
            *cell = *cell < UINT16_MAX ? (uint16_t)(*cell + 1) : *cell;
        }
    }
    preview_cells out = {{0}};
    for (int c = 0; c < CELLS; ++c) {
        bool is_filled = count[c] >= hull->cell_count;
        out.layer[c / (SIDE * SIDE)] |= (uint64_t)is_filled << (c % (SIDE * SIDE));
    }
    return out;
}

// The columns x = 0 and x = 7 of a layer.
static const uint64_t first_column = 0x0101010101010101u;
static const uint64_t last_column = 0x8080808080808080u;
// The rows y = 0 and y = 7.
static const uint64_t first_row = 0xffu;
static const uint64_t last_row = 0xff00000000000000u;

preview_cells preview_hull_hides(const preview_hull* hull, int64_t tile) {
    preview_cells hidden = {{0}};
    if (hull->is_full == NULL) {
        return hidden;
    }
    const int32_t* coord = hull->particles->tile_coord + 3 * tile;
    preview_cells filled = find_filled(hull, tile);
    uint64_t low_x = preview_hull_is_full(hull, coord, (int[3]){-1, 0, 0}) ? first_column : 0;
    uint64_t high_x = preview_hull_is_full(hull, coord, (int[3]){1, 0, 0}) ? last_column : 0;
    uint64_t low_y = preview_hull_is_full(hull, coord, (int[3]){0, -1, 0}) ? first_row : 0;
    uint64_t high_y = preview_hull_is_full(hull, coord, (int[3]){0, 1, 0}) ? last_row : 0;
    uint64_t low_z = preview_hull_is_full(hull, coord, (int[3]){0, 0, -1}) ? UINT64_MAX : 0;
    uint64_t high_z = preview_hull_is_full(hull, coord, (int[3]){0, 0, 1}) ? UINT64_MAX : 0;
    for (int z = 0; z < SIDE; ++z) {
        uint64_t here = filled.layer[z];
        uint64_t left = (here << 1 & ~first_column) | low_x;
        uint64_t right = (here >> 1 & ~last_column) | high_x;
        uint64_t below = here << SIDE | low_y, above = here >> SIDE | high_y;
        uint64_t before = z > 0 ? filled.layer[z - 1] : low_z;
        uint64_t behind = z < SIDE - 1 ? filled.layer[z + 1] : high_z;
        hidden.layer[z] = here & left & right & below & above & before & behind;
    }
    return hidden;
}
