// Markers of the level set: how large they are, and where there should be some.
//
// A marker on its own side touches the surface if it can: its radius is its distance, between
// LEVEL_RADIUS_MIN and LEVEL_RADIUS_MAX [level.3]. One that has escaped keeps its radius, for it
// knows better than phi where the surface is.
#include <math.h>

#include "compare/level_set.h"
#include "grid/tile_sample.h"
#include "math/hash_random.h"
#include "particles/particle_loop.h"

// A cell is filled up when it has less than 1/SPARSE of its markers, and loses those above CROWDED
// times as many.
enum { SPARSE = 4, CROWDED = 4 };

typedef struct marker_job {
    const level_set_work* w;
    level_set* set;
    uint8_t* is_removed; // [markers]
} marker_job;

static float level_set_markers_distance_at(tile_sampler* phi, const particles* m, tile_ix g,
                                           particle_ix i) {
    return tile_sample(phi, m->tile[g], particles_f32(m, PARTICLE_POSITION) + AXES * i);
}

static tile_sampler sampler_of(const marker_job* job) {
    return tile_sampler_of(job->w->lattice, &job->set->map, PLACE_CELL, job->set->phi);
}

static void resize_groups(void* data, int64_t begin, int64_t end) {
    const marker_job* job = data;
    const particles* m = &job->set->markers;
    tile_sampler phi = sampler_of(job);
    for (int64_t g = begin; g < end; ++g) {
        for (particle_ix i = m->tile_first[g]; i < m->tile_first[g + 1]; ++i) {
            float at = level_set_markers_distance_at(&phi, m, (tile_ix)g, i);
            float own = particles_material(m)[i] == LEVEL_OUTSIDE ? at : -at;
            float* radius = &particles_f32(m, PARTICLE_VOLUME)[i];
            if (own >= -*radius) { // [level.3]
                *radius = fminf(fmaxf(own, LEVEL_RADIUS_MIN), LEVEL_RADIUS_MAX);
            }
        }
    }
}

void level_set_resize_markers(const level_set_work* w, level_set* set) {
    TREACLE_ASSERT(set->phi != NULL);
    marker_job job = {.w = w, .set = set};
    particle_for(&set->markers, &(particle_use){.span = PARTICLES_ALL_TILES, .grain = 4},
                 resize_groups, &job);
}

// --- reseeding -----------------------------------------------------------------------------------

// Those that are too far from the surface to ever matter, and those of crowded cells beyond four
// times what a cell should have. Rows of a cell are in the order of their ids: the oldest stay.
static void find_removed(void* data, int64_t begin, int64_t end) {
    const marker_job* job = data;
    const particles* m = &job->set->markers;
    tile_sampler phi = sampler_of(job);
    for (int64_t g = begin; g < end; ++g) {
        int last = -1, count = 0;
        for (particle_ix i = m->tile_first[g]; i < m->tile_first[g + 1]; ++i) {
            int cell = particles_cell(particles_f32(m, PARTICLE_POSITION) + AXES * i);
            count = cell == last ? count + 1 : 1;
            last = cell;
            bool is_far =
                fabsf(level_set_markers_distance_at(&phi, m, (tile_ix)g, i)) > LEVEL_BAND + 1.0f;
            job->is_removed[i] = is_far || count > CROWDED * job->w->per_cell;
        }
    }
}

// Moves a point at the distance d along the slope of phi to d^2 / LEVEL_BAND: markers are to be
// dense where the surface is, since it may slip from one to the next unseen [level.4].
static void attract(const marker_job* job, tile_sampler* phi, tile_coord tile, float x[AXES]) {
    float d = tile_sample(phi, tile, x), slope[AXES], square = 0.0f;
    for (int a = 0; a < AXES; ++a) {
        float low[AXES] = {x[0], x[1], x[2]}, high[AXES] = {x[0], x[1], x[2]};
        low[a] -= 0.5f;
        high[a] += 0.5f;
        bool is_active = job->w->lattice->is_active[a];
        slope[a] = is_active ? tile_sample(phi, tile, high) - tile_sample(phi, tile, low) : 0.0f;
        square += slope[a] * slope[a];
    }
    float goal = d * fabsf(d) / LEVEL_BAND;
    float by = square > 0.25f && fabsf(d) < LEVEL_BAND ? (goal - d) / square : 0.0f;
    for (int a = 0; a < AXES; ++a) {
        x[a] += by * slope[a];
    }
}

static treacle_status add_marker(const marker_job* job, tile_sampler* phi, tile_coord tile,
                                 int cell) {
    level_set* set = job->set;
    const bool* is_active = job->w->lattice->is_active;
    uint64_t id = set->births++;
    const int at[AXES] = {cell & 7, cell >> 3 & 7, cell >> 6};
    static const random_purpose purpose[AXES] = {RANDOM_JITTER_X, RANDOM_JITTER_Y, RANDOM_JITTER_Z};
    float x[AXES];
    for (int a = 0; a < AXES; ++a) {
        float r = hash_random_f32(job->w->seed, id, purpose[a]);
        x[a] = (float)at[a] + (is_active[a] ? r : 0.5f);
    }
    attract(job, phi, tile, x);
    float distance = tile_sample(phi, tile, x), size = fabsf(distance);
    if (!(size >= LEVEL_RADIUS_MIN && size <= LEVEL_BAND)) {
        return TREACLE_OK;
    }
    particle_ix row;
    TREACLE_TRY(particles_append(&set->markers, tile, 1, &row));
    for (int a = 0; a < AXES; ++a) {
        particles_f32(&set->markers, PARTICLE_POSITION)[AXES * row + a] = x[a];
        particles_f32(&set->markers, PARTICLE_VELOCITY)[AXES * row + a] = 0.0f;
    }
    particles_id(&set->markers)[row] = id;
    particles_f32(&set->markers, PARTICLE_VOLUME)[row] = fminf(size, LEVEL_RADIUS_MAX);
    particles_material(&set->markers)[row] =
        (uint8_t)(distance < 0.0f ? LEVEL_INSIDE : LEVEL_OUTSIDE);
    return TREACLE_OK;
}

// counts: markers in each cell of the tile.
static treacle_status fill_tile(const marker_job* job, tile_ix t, const int counts[TILE_CELLS]) {
    const level_set* set = job->set;
    tile_sampler phi = sampler_of(job);
    for (int i = 0; i < TILE_CELLS; ++i) {
        int at[AXES];
        tile_cell_at(&set->map, t, i, at);
        bool is_wanted = tile_cell_counts(&set->map, i) &&
                         fabsf(set->phi[(size_t)t * TILE_CELLS + (size_t)i]) < LEVEL_BAND;
        for (int a = 0; a < AXES; ++a) {
            is_wanted = is_wanted && at[a] < job->w->lattice->cells[a];
        }
        is_wanted = is_wanted && SPARSE * counts[i] < job->w->per_cell;
        for (int k = counts[i]; is_wanted && k < job->w->per_cell; ++k) {
            TREACLE_TRY(add_marker(job, &phi, set->map.coord[t], i));
        }
    }
    return TREACLE_OK;
}

// Tiles of map and groups are both in Morton order.
static treacle_status level_set_markers_fill_tiles(const marker_job* job) {
    const level_set* set = job->set;
    const particles* m = &set->markers;
    tile_ix groups = m->tile_count, g = 0;
    for (tile_ix t = 0; t < set->map.count; ++t) {
        uint64_t key = tile_key(set->map.coord[t]);
        int counts[TILE_CELLS] = {0};
        while (g < groups && tile_key(m->tile[g]) < key) {
            ++g;
        }
        if (g < groups && tile_key(m->tile[g]) == key) {
            for (particle_ix i = m->tile_first[g]; i < m->tile_first[g + 1]; ++i) {
                counts[particles_cell(particles_f32(m, PARTICLE_POSITION) + AXES * i)] += 1;
            }
        }
        TREACLE_TRY(fill_tile(job, t, counts));
    }
    return TREACLE_OK;
}

treacle_status level_set_reseed(const level_set_work* w, level_set* set) {
    TREACLE_ASSERT(w->per_cell > 0 && set->phi != NULL);
    marker_job job = {.w = w, .set = set};
    particles* m = &set->markers;
    TREACLE_TRY(arena_take(w->scratch, (size_t)m->count, 1, "markers", (void**)&job.is_removed));
    particle_for(m, &(particle_use){.span = PARTICLES_ALL_TILES, .grain = 4}, find_removed, &job);
    particles_remove(m, job.is_removed);
    arena_give(w->scratch, job.is_removed);
    TREACLE_TRY(level_set_markers_fill_tiles(&job));
    particle_sorter sorter = {w->lattice, w->scratch};
    particle_sort_stats stats;
    return particle_sort(m, &sorter, &stats);
}
