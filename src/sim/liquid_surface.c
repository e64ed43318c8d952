// The liquid's surface, from its particles.
#include <math.h>

#include "grid/fraction.h"
#include "grid/level_liquid.h"
#include "grid/tile_ranks.h"
#include "phys/extend_surface.h"
#include "phys/ghost_points.h"
#include "sim/euler.h"

// Cells, at least, from the surface of a cell that liquid is only hidden from.
#define DRY_DISTANCE 0.5f

typedef struct volume_job {
    const grid_domain* domain;
    const tile_map* map;
    const float* fraction;
    const float* open; // NULL: all
} volume_job;

// The liquid goes on behind walls: only cells of the domain count.
static double volume_of_tile(void* data, int64_t t) {
    const volume_job* job = data;
    int cells[AXES];
    for (int a = 0; a < AXES; ++a) {
        int left = job->domain->cells[a] - job->map->coord[t].at[a] * TILE_SIZE;
        cells[a] = left < TILE_SIZE ? left : TILE_SIZE;
    }
    double sum = 0.0;
    for (int z = 0; z < cells[2]; ++z) {
        for (int y = 0; y < cells[1]; ++y) {
            for (int x = 0; x < cells[0]; ++x) {
                int cell = (z * TILE_SIZE + y) * TILE_SIZE + x;
                double open = job->open != NULL ? (double)job->open[t * TILE_CELLS + cell] : 1.0;
                sum += (double)job->fraction[t * TILE_CELLS + cell] * open;
            }
        }
    }
    return sum;
}

static void sum_volume(liquid_work* w, const fraction_fields* share) {
    const tile_map* map = &w->state->map;
    fraction_params params = {w->setup->domain, map, w->state->cell_phi};
    fraction_compute(&params, share);
    volume_job job = {w->setup->domain, map, share->cell, w->solid.open};
    double h = w->setup->domain->h;
    w->stats->surface_volume = tile_sum(map, volume_of_tile, &job) * (h * h * h);
}

// The unified flow will want all shares of the same surface.
static treacle_status measure_volume(liquid_work* w) {
    if (w->setup->def->flow == TREACLE_FLOW_UNIFIED && w->euler == NULL) {
        TREACLE_TRY(liquid_take_shares(w));
        w->liquid.is_current = true;
        sum_volume(w, &w->liquid.fraction);
        return TREACLE_OK;
    }
    fraction_fields share = {0};
    TREACLE_TRY(
        arena_take(w->scratch, w->values, sizeof(float), "shares of cells", (void**)&share.cell));
    sum_volume(w, &share);
    arena_give(w->scratch, share.cell);
    return TREACLE_OK;
}

static treacle_status extend(liquid_work* w) {
    if (w->solid.phi == NULL) {
        return TREACLE_OK;
    }
    int mark = arena_mark(w->scratch);
    float* room[2];
    for (int i = 0; i < 2; ++i) {
        TREACLE_TRY(
            arena_take(w->scratch, w->values, sizeof(float), "the surface", (void**)&room[i]));
    }
    extend_surface_params params = {
        .domain = w->setup->domain,
        .map = &w->state->map,
        .cell_solid_phi = w->solid.phi,
        .face_open = face_view_of(w->solid.face_open),
    };
    extend_surface(&params, w->state->cell_phi, room);
    arena_give_to(w->scratch, mark);
    return TREACLE_OK;
}

// A surface drawn round particles shows on both sides of a thin solid. A cell whose liquid is all
// hidden is dry.
static void dry_tiles(void* data, int64_t begin, int64_t end) {
    const liquid_work* w = data;
    for (int64_t i = begin * TILE_CELLS; i < end * TILE_CELLS; ++i) {
        bool is_dry = !(w->given.seen[i] > 0.0f) && w->given.volume[i] > 0.0f;
        w->state->cell_phi[i] =
            is_dry ? fmaxf(w->state->cell_phi[i], DRY_DISTANCE) : w->state->cell_phi[i];
    }
}

// Liquid everywhere: the surface is far from every cell.
static treacle_status surface_nowhere(liquid_work* w) {
    for (size_t i = 0; i < w->values - TILE_CELLS; ++i) {
        w->state->cell_phi[i] = -LIQUID_DISTANCE_MAX;
    }
    return measure_volume(w);
}

treacle_status liquid_surface(liquid_work* w) {
    const treacle_sim_def* def = w->setup->def;
    if (def->fill == TREACLE_FILL_ALL) {
        return surface_nowhere(w);
    }
    if (w->euler != NULL) {
        TREACLE_TRY(euler_surface(w));
        return measure_volume(w);
    }
    int mark = arena_mark(w->scratch);
    tile_points points = particles_points(w->p);
    if (w->solid.phi != NULL) {
        ghost_params ghosts = {w->setup->domain, &w->state->map, w->solid.phi, w->p, w->scratch};
        TREACLE_TRY(ghost_points(&ghosts, &points));
    }
    level_kind kind = def->surface == TREACLE_SURFACE_SMOOTH ? LEVEL_SMOOTH : LEVEL_SPHERES;
    level_params params = {
        .domain = w->setup->domain,
        .map = &w->state->map,
        .points = &points,
        .kind = kind,
        .radius = level_radius_default(w->setup->domain, kind, def->particles.per_cell),
        .per_cell = def->particles.per_cell,
        .limit = LIQUID_DISTANCE_MAX,
        .cell_volume = w->given.volume,
    };
    TREACLE_TRY(level_liquid(&params, w->state->cell_phi));
    arena_give_to(w->scratch, mark);
    if (w->given.seen != NULL) {
        tile_for_held(&w->state->map, 16, dry_tiles, w);
    }
    TREACLE_TRY(extend(w));
    return measure_volume(w);
}
