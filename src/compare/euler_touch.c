// The surface of liquid on the grid where it touches walls: what is behind solids, films of air,
// and markers that are stuck.
#include "compare/euler_touch.h"

#include <math.h>
#include <string.h>

#include "compare/euler_boundary.h"
#include "grid/tile_loop.h"
#include "particles/particle_loop.h"

// Cells of the lattice: a film of air that is thinner, between a wall and liquid, is none; and
// markers of air that are nearer to a wall say nothing, for they cannot get away from there.
#define FILM_MAX 0.1f
#define MARKER_CLEARANCE 0.5f

// --- images --------------------------------------------------------------------------------------

// Behind the surface of a solid the level set is the image of what is before it, as deep as
// IMAGE_DEPTH cells; deeper there is air:
//
//     phi(x) = phi(x - 2 s grad s),    s < 0 the distance to the solid                  [level.5]
//
// So the liquid has no surface where it touches a solid, and a solid that moves leaves none behind.
#define IMAGE_DEPTH 2.0f

typedef struct image_job {
    const euler_work* e;
    float* out;
} image_job;

static void image_tiles(void* data, int64_t begin, int64_t end) {
    const image_job* job = data;
    const step_work* w = job->e->w;
    const level_set* set = job->e->surface;
    const grid_domain* lattice = job->e->level.lattice;
    static const tile_coord origin = {{0, 0, 0}};
    tile_sampler phi = tile_sampler_of(lattice, &set->map, PLACE_CELL, set->phi);
    tile_sampler to_solid =
        tile_sampler_of(w->f.setup->domain, &w->state->map, PLACE_CELL, w->made.solid.phi);
    for (int64_t i = begin * TILE_CELLS; i < end * TILE_CELLS; ++i) {
        int at[AXES];
        float x[AXES], image[AXES];
        euler_contact c;
        tile_cell_at(&set->map, (tile_ix)(i / TILE_CELLS), (int)(i % TILE_CELLS), at);
        for (int a = 0; a < AXES; ++a) {
            x[a] = lattice->is_active[a] ? 0.5f * (float)at[a] : 0.5f;
        }
        job->out[i] = set->phi[i];
        float s = tile_sample(&to_solid, origin, x);
        if (!tile_cell_counts(&set->map, (int)(i % TILE_CELLS)) || !(s < 0.0f)) {
            continue;
        }
        job->out[i] = LEVEL_LIMIT;
        if (s >= -IMAGE_DEPTH && euler_find_contact(&to_solid, lattice->is_active, x, &c)) {
            for (int a = 0; a < AXES; ++a) { // as far before the solid as x is behind
                float before = 2.0f * c.x[a] - x[a];
                image[a] = lattice->is_active[a] ? 2.0f * before + 0.5f : 0.5f;
            }
            job->out[i] = tile_sample(&phi, origin, image);
        }
    }
}

// --- films and markers ---------------------------------------------------------------------------

// A sample on a side that has liquid just before it is liquid, too.
static void wet_tiles(void* data, int64_t begin, int64_t end) {
    const image_job* job = data;
    const level_set* set = job->e->surface;
    const grid_domain* lattice = job->e->level.lattice;
    tile_sampler phi = euler_surface_of(job->e);
    for (int64_t i = begin * TILE_CELLS; i < end * TILE_CELLS; ++i) {
        int at[AXES];
        tile_cell_at(&set->map, (tile_ix)(i / TILE_CELLS), (int)(i % TILE_CELLS), at);
        job->out[i] = set->phi[i];
        for (int a = 0; a < AXES; ++a) {
            int side = grid_domain_side_at(lattice, a, at[a], lattice->cells[a] - 1);
            if (side == 0 || !(set->phi[i] > 0.0f && set->phi[i] < FILM_MAX)) {
                continue;
            }
            int before[AXES] = {at[0], at[1], at[2]};
            before[a] -= side;
            float inner = tile_sample_at(&phi, before);
            bool is_film = set->phi[i] - inner > 0.8f;
            job->out[i] = is_film ? inner : job->out[i];
        }
    }
}

typedef struct clear_job {
    const euler_work* e;
    uint8_t* is_removed; // [markers]
} clear_job;

static bool is_at_side(const grid_domain* lattice, tile_coord tile, const float x[AXES]) {
    bool is_near = false;
    for (int a = 0; a < AXES; ++a) {
        float at = (float)(tile.at[a] * TILE_SIZE) + x[a] - 0.5f; // 0 on the low side
        int last = lattice->cells[a] - 1;
        is_near = is_near ||
                  (at < MARKER_CLEARANCE && grid_domain_side_at(lattice, a, 0, last) != 0) ||
                  (at > (float)last - MARKER_CLEARANCE &&
                   grid_domain_side_at(lattice, a, last, last) != 0);
    }
    return is_near;
}

// Inside a solid, or of air and just before one.
static bool is_at_solid(const clear_job* job, tile_sampler* to_solid, tile_coord tile,
                        const float x[AXES], bool is_outside) {
    const bool* is_active = job->e->w->f.setup->domain->is_active;
    float at[AXES];
    for (int a = 0; a < AXES; ++a) {
        at[a] = is_active[a] ? 0.5f * ((float)(tile.at[a] * TILE_SIZE) + x[a] - 0.5f) : 0.5f;
    }
    float s = tile_sample(to_solid, (tile_coord){{0, 0, 0}}, at);
    return s < (is_outside ? 0.5f * MARKER_CLEARANCE : 0.0f);
}

static void find_lost_markers(void* data, int64_t begin, int64_t end) {
    const clear_job* job = data;
    const particles* m = &job->e->surface->markers;
    const grid_domain* lattice = job->e->level.lattice;
    tile_sampler to_solid = tile_sampler_of(job->e->w->f.setup->domain, &job->e->w->state->map,
                                            PLACE_CELL, job->e->w->made.solid.phi);
    for (int64_t g = begin; g < end; ++g) {
        for (particle_ix i = m->tile_first[g]; i < m->tile_first[g + 1]; ++i) {
            const float* x = particles_f32(m, PARTICLE_POSITION) + AXES * i;
            bool is_outside = particles_material(m)[i] == LEVEL_OUTSIDE;
            job->is_removed[i] = (is_outside && is_at_side(lattice, m->tile[g], x)) ||
                                 (job->e->w->made.solid.phi != NULL &&
                                  is_at_solid(job, &to_solid, m->tile[g], x, is_outside));
        }
    }
}

static treacle_status touch(euler_work* e) {
    step_work* w = e->w;
    level_set* set = e->surface;
    size_t values = (size_t)set->map.count * TILE_CELLS;
    int mark = arena_mark(w->f.scratch);
    image_job films = {.e = e};
    clear_job markers = {.e = e};
    TREACLE_TRY(arena_take(w->f.scratch, values, sizeof(float), "films", (void**)&films.out));
    TREACLE_TRY(arena_take(w->f.scratch, (size_t)set->markers.count, 1, "markers",
                           (void**)&markers.is_removed));
    tile_for(&set->map, &(tile_use){.reads = TILE_ANYWHERE, .grain = 8}, wet_tiles, &films);
    memcpy(set->phi, films.out, values * sizeof(float));
    particle_for(&set->markers, &(particle_use){.span = PARTICLES_ALL_TILES, .grain = 4},
                 find_lost_markers, &markers);
    particles_remove(&set->markers, markers.is_removed);
    arena_give_to(w->f.scratch, mark);
    particle_sorter sorter = {e->level.lattice, w->f.scratch};
    particle_sort_stats stats;
    return particle_sort(&set->markers, &sorter, &stats); // drops tiles that have none left
}

treacle_status euler_surface(euler_work* e) {
    TREACLE_ASSERT(e->surface->phi != NULL && e->w->state->cell_phi != NULL);
    step_work* w = e->w;
    level_set* set = e->surface;
    TREACLE_TRY(touch(e));
    if (w->made.solid.phi != NULL) {
        size_t values = (size_t)set->map.count * TILE_CELLS;
        image_job job = {.e = e};
        TREACLE_TRY(arena_take(w->f.scratch, values, sizeof(float), "images", (void**)&job.out));
        tile_for(&set->map, &(tile_use){.reads = TILE_ANYWHERE, .grain = 4}, image_tiles, &job);
        memcpy(set->phi, job.out, values * sizeof(float));
        arena_give(w->f.scratch, job.out);
    }
    level_set_to_cells(&e->level, set, &w->state->map, w->state->cell_phi);
    return euler_find_gaps(e);
}
