#include "compare/euler_tiles.h"

#include <math.h>

#include "step/build_tiles.h"

// The box of the grid's cells that the liquid in a tile of the lattice touches; false if none.
static bool wet_box(const level_set* set, tile_ix t, int low[AXES], int high[AXES]) {
    bool is_any = false;
    for (int i = 0; i < TILE_CELLS; ++i) {
        int at[AXES];
        if (set->phi[(size_t)t * TILE_CELLS + (size_t)i] >= 0.0f ||
            !tile_cell_counts(&set->map, i)) {
            continue;
        }
        tile_cell_at(&set->map, t, i, at);
        for (int a = 0; a < AXES; ++a) {
            int below = set->map.is_flat[a] ? 0 : (at[a] + 1) / 2 - 1;
            int above = set->map.is_flat[a] ? 0 : at[a] / 2;
            low[a] = is_any && low[a] < below ? low[a] : below;
            high[a] = is_any && high[a] > above ? high[a] : above;
        }
        is_any = true;
    }
    return is_any;
}

static int floor_tile(int cell) {
    return (cell + 16 * TILE_SIZE) / TILE_SIZE - 16;
}

// Tiles with a cell within `band` of a box.
static int64_t add_tiles(const grid_domain* domain, const int low[AXES], const int high[AXES],
                         int band, tile_coord* out) {
    int from[AXES], to[AXES];
    int64_t count = 0;
    for (int a = 0; a < AXES; ++a) {
        int more = domain->is_active[a] ? band : 0;
        from[a] = floor_tile(low[a] - more);
        to[a] = floor_tile(high[a] + more);
    }
    for (int z = from[2]; z <= to[2]; ++z) {
        for (int y = from[1]; y <= to[1]; ++y) {
            for (int x = from[0]; x <= to[0]; ++x) {
                tile_coord at = {{x, y, z}};
                if (tile_coord_wrap(domain, &at)) {
                    out[count++] = at;
                }
            }
        }
    }
    return count;
}

treacle_status euler_build_tiles(euler_work* e) {
    TREACLE_ASSERT(e->surface->map.ctx != NULL);
    TREACLE_ASSERT(e->w->state != e->w->before);
    step_work* w = e->w;
    enum { AROUND_MAX = 5 * 5 * 5 };
    const level_set* surface = e->surface;
    int band = (int)ceil(w->f.setup->def->step.cfl) + LIQUID_KERNEL_RADIUS + 1;
    tile_coord* tiles = NULL;
    int64_t count = 0;
    TREACLE_TRY(arena_take(w->f.scratch, (size_t)surface->map.count * AROUND_MAX, sizeof(*tiles),
                           "tiles", (void**)&tiles));
    for (tile_ix t = 0; t < surface->map.count; ++t) {
        int low[AXES], high[AXES];
        if (wet_box(surface, t, low, high)) {
            count += add_tiles(w->f.setup->domain, low, high, band, tiles + count);
        }
    }
    treacle_status status =
        tile_map_create(w->f.ctx, w->f.setup->domain, count, tiles, &w->state->map);
    arena_give(w->f.scratch, tiles);
    TREACLE_TRY(status);
    TREACLE_TRY(build_tiles_fields(&w->f, w->before, w->state, &w->made.history));
    return liquid_state_add_carried(w->state, euler_fields(w->f.setup));
}
