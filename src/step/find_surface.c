#include "step/find_surface.h"

#include <math.h>

#include "grid/level_liquid.h"
#include "grid/tile_loop.h"
#include "phys/extend_surface.h"
#include "phys/ghost_points.h"

// Cells, at least, from the surface of a cell that liquid is only hidden from.
#define DRY_DISTANCE 0.5f

// --- the surface --------------------------------------------------------------------------------

static treacle_status extend(const step_frame* f, const solid_grid* solids, liquid_state* out) {
    if (solids->phi == NULL) {
        return TREACLE_OK;
    }
    int mark = arena_mark(f->scratch);
    float* room[2];
    for (int i = 0; i < 2; ++i) {
        TREACLE_TRY(step_take(f, &out->map, "the surface", &room[i]));
    }
    extend_surface_params params = {
        .domain = f->setup->domain,
        .map = &out->map,
        .cell_solid_phi = solids->phi,
        .face_open = face_view_of(solids->face_open),
    };
    extend_surface(&params, out->cell_phi, room);
    arena_give_to(f->scratch, mark);
    return TREACLE_OK;
}

typedef struct dry_job {
    const particle_grid* given;
    float* cell_phi;
} dry_job;

// A surface drawn round particles shows on both sides of a thin solid. A cell whose liquid is all
// hidden is dry.
static void dry_tiles(void* data, int64_t begin, int64_t end) {
    const dry_job* job = data;
    float* phi = job->cell_phi;
    for (int64_t i = begin * TILE_CELLS; i < end * TILE_CELLS; ++i) {
        bool is_dry = !(job->given->visible_volume[i] > 0.0f) && job->given->volume[i] > 0.0f;
        phi[i] = is_dry ? fmaxf(phi[i], DRY_DISTANCE) : phi[i];
    }
}

static treacle_status draw(const step_frame* f, const particles* p, const particle_grid* given,
                           const solid_grid* solids, liquid_state* out) {
    const treacle_sim_def* def = f->setup->def;
    const grid_domain* domain = f->setup->domain;
    int mark = arena_mark(f->scratch);
    tile_points points = particles_points(p);
    if (solids->phi != NULL) {
        ghost_params ghosts = {domain, &out->map, solids->phi, p, f->scratch, false};
        for (int i = 0; i < f->setup->solids.count; ++i) {
            ghosts.has_all = ghosts.has_all || f->setup->solids.solids[i].separation.is_on;
        }
        TREACLE_TRY(ghost_points(&ghosts, &points));
    }
    level_kind kind = def->surface == TREACLE_SURFACE_SMOOTH ? LEVEL_SMOOTH : LEVEL_SPHERES;
    level_params params = {
        .domain = domain,
        .map = &out->map,
        .points = &points,
        .kind = kind,
        .radius = level_radius_default(domain, kind, def->particles.per_cell),
        .per_cell = def->particles.per_cell,
        .limit = LIQUID_DISTANCE_MAX,
        .cell_volume = given->volume,
    };
    TREACLE_TRY(level_liquid(&params, out->cell_phi));
    arena_give_to(f->scratch, mark);
    return TREACLE_OK;
}

void find_surface_nowhere(liquid_state* out) {
    TREACLE_ASSERT(out->cell_phi != NULL);
    for (size_t i = 0; i < (size_t)out->map.count * TILE_CELLS; ++i) {
        out->cell_phi[i] = -LIQUID_DISTANCE_MAX;
    }
}

treacle_status find_surface(const step_frame* f, const particles* p, const particle_grid* given,
                            const solid_grid* solids, liquid_state* out) {
    TREACLE_ASSERT(out->cell_phi != NULL);
    TREACLE_ASSERT(given->volume != NULL);
    if (f->setup->def->fill == TREACLE_FILL_ALL) {
        find_surface_nowhere(out);
        return TREACLE_OK;
    }
    TREACLE_TRY(draw(f, p, given, solids, out));
    if (given->visible_volume != NULL) {
        dry_job job = {given, out->cell_phi};
        tile_for(&out->map, &(tile_use){.reads = TILE_ALONE, .grain = 16}, dry_tiles, &job);
    }
    return extend(f, solids, out);
}

// --- its volume ---------------------------------------------------------------------------------

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

static void sum_volume(const step_frame* f, const liquid_state* state, const solid_grid* solids,
                       const fraction_fields* fraction) {
    const grid_domain* domain = f->setup->domain;
    fraction_params params = {domain, &state->map, state->cell_phi};
    fraction_compute(&params, fraction);
    volume_job job = {domain, &state->map, fraction->cell, solids->open};
    double h = domain->h;
    f->stats->surface_volume = tile_sum(&state->map, volume_of_tile, &job) * (h * h * h);
}

treacle_status find_surface_volume(const step_frame* f, const liquid_state* state,
                                   const solid_grid* solids, liquid_grid* out) {
    TREACLE_ASSERT(state->cell_phi != NULL);
    if (out != NULL) {
        TREACLE_TRY(liquid_grid_take(f->scratch, &state->map, out));
        out->is_current = true;
        sum_volume(f, state, solids, &out->fraction);
        return TREACLE_OK;
    }
    fraction_fields fraction = {0};
    TREACLE_TRY(step_take(f, &state->map, "fractions of cells", &fraction.cell));
    sum_volume(f, state, solids, &fraction);
    arena_give(f->scratch, fraction.cell);
    return TREACLE_OK;
}
