// The surface of the liquid as a level set [G11 sec. 3.4, eq. 3.27 and 3.28, Alg. 9]:
//
//     d phi / dt + u . grad phi = 0                                                       [level.1]
//
// One step:    carry       phi(x) = phi(x - path of dt), between samples as level_set_carry.c says
//              markers     along the same flow, RK2
//              correct     by markers that have escaped [level.2]
//              redistance  |grad phi| = 1, the surface stays
//              correct     once more: the surface did move a little
//              reseed      now and then, and radii
//
// differs from [G11]: distances come from the sweeps of grid/redistance.c, not from fast marching.
// Both give every cell the distance to the surface, and sweeps run in parallel; beside the surface
// theirs is exact for planes.
//
// Properties that tests check: a surface at rest stays where it is; a disc that turns keeps its
// area to two thousandths; the volume is exact for planes; the result does not depend on threads.
#include "compare/level_set.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "grid/gather.h"
#include "grid/octant.h"
#include "grid/redistance.h"
#include "grid/tile_loop.h"
#include "grid/tile_sample.h"
#include "particles/particle_loop.h"

// Cells of the lattice: so near the surface a distance is kept that is off by no more than that.
static const float near_surface = 2.0f, good_distance = 0.05f;

grid_domain level_set_domain(const grid_domain* grid) {
    TREACLE_ASSERT(grid->h > 0.0);
    grid_domain out = *grid;
    out.h = 0.5 * grid->h;
    for (int a = 0; a < AXES; ++a) {
        if (grid->is_active[a]) {
            out.origin[a] = grid->origin[a] - 0.5 * out.h;
            out.cells[a] = 2 * grid->cells[a] + (grid->is_periodic[a] ? 0 : 1);
        }
        out.tiles[a] = (out.cells[a] + TILE_SIZE - 1) / TILE_SIZE;
    }
    return out;
}

level_set_home level_set_home_of(const grid_domain* lattice, tile_coord tile) {
    TREACLE_ASSERT(tile.at[0] >= 0 && tile.at[1] >= 0 && tile.at[2] >= 0);
    level_set_home out = {tile, {0.5f, 0.5f, 0.5f}};
    for (int a = 0; a < AXES; ++a) {
        if (lattice->is_active[a]) {
            out.grid.at[a] = tile.at[a] / 2;
            out.offset[a] = 4.0f * (float)(tile.at[a] % 2) - 0.25f;
        }
    }
    return out;
}

// --- memory --------------------------------------------------------------------------------------

treacle_status level_set_create(treacle_context* ctx, const grid_domain* lattice, level_set* out) {
    *out = (level_set){0};
    level_set_work w = {.ctx = ctx, .lattice = lattice};
    treacle_status status = level_set_tiles(&w, 0, NULL, out);
    if (status == TREACLE_OK) {
        status = particles_create(ctx, 0, &out->markers);
    }
    if (status != TREACLE_OK) {
        level_set_destroy(out);
    }
    return status;
}

static void free_tiles(level_set* set) {
    if (set->map.ctx != NULL) {
        size_t values = ((size_t)set->map.count + 1) * TILE_CELLS;
        alloc_free(set->map.ctx, set->phi, values * sizeof(float));
        tile_map_destroy(&set->map);
        set->phi = NULL;
        set->map = (tile_map){0};
    }
}

void level_set_destroy(level_set* set) {
    free_tiles(set);
    particles_destroy(&set->markers);
    *set = (level_set){0};
}

treacle_status level_set_tiles(const level_set_work* w, int64_t count, const tile_coord* tiles,
                               level_set* set) {
    TREACLE_ASSERT(count >= 0 && (tiles != NULL || count == 0));
    TREACLE_ASSERT(w->lattice->h > 0.0);
    tile_map map;
    void* phi = NULL;
    TREACLE_TRY(tile_map_create(w->ctx, w->lattice, count, tiles, &map));
    size_t values = ((size_t)map.count + 1) * TILE_CELLS;
    treacle_status status = alloc_zero(w->ctx, values, sizeof(float), "the level set", &phi);
    if (status != TREACLE_OK) {
        tile_map_destroy(&map);
        return status;
    }
    free_tiles(set);
    set->map = map;
    set->phi = phi;
    for (size_t i = values - TILE_CELLS; i < values; ++i) {
        set->phi[i] = LEVEL_LIMIT;
    }
    return TREACLE_OK;
}

treacle_status level_set_copy(const level_set_work* w, const level_set* from, level_set* out) {
    TREACLE_ASSERT(from != out && from->phi != NULL);
    TREACLE_TRY(level_set_tiles(w, from->map.count, from->map.coord, out));
    memcpy(out->phi, from->phi, (size_t)from->map.count * TILE_CELLS * sizeof(float));
    out->births = from->births;
    return particles_copy(&out->markers, &from->markers);
}

// --- tiles ---------------------------------------------------------------------------------------

static bool is_air(const level_set* set, tile_ix t) {
    const float* phi = set->phi + (size_t)t * TILE_CELLS;
    float least = LEVEL_LIMIT;
    for (int i = 0; i < TILE_CELLS; ++i) {
        bool counts = tile_cell_counts(&set->map, i);
        least = counts && phi[i] < least ? phi[i] : least;
    }
    return !(least < LEVEL_LIMIT);
}

// The same surface on other tiles: those it had keep their distances, new ones are air.
static treacle_status change_tiles(const level_set_work* w, int64_t count, const tile_coord* tiles,
                                   level_set* set) {
    level_set changed = {0};
    TREACLE_TRY(level_set_tiles(w, count, tiles, &changed));
    for (tile_ix t = 0; t < changed.map.count; ++t) {
        tile_ix from = set->map.count > 0 ? tile_map_find(&set->map, changed.map.coord[t]) : 0;
        float* phi = changed.phi + (size_t)t * TILE_CELLS;
        bool was_there = from < set->map.count;
        for (int i = 0; i < TILE_CELLS; ++i) {
            phi[i] = was_there ? set->phi[(size_t)from * TILE_CELLS + (size_t)i] : LEVEL_LIMIT;
        }
    }
    free_tiles(set);
    set->map = changed.map;
    set->phi = changed.phi;
    return TREACLE_OK;
}

treacle_status level_set_prune(const level_set_work* w, level_set* set) {
    TREACLE_ASSERT(set->phi != NULL && w->scratch != NULL);
    tile_coord* kept = NULL;
    int64_t count = 0;
    TREACLE_TRY(arena_take(w->scratch, (size_t)set->map.count, sizeof(*kept),
                           "tiles of the surface", (void**)&kept));
    for (tile_ix t = 0; t < set->map.count; ++t) {
        if (!is_air(set, t)) {
            kept[count++] = set->map.coord[t];
        }
    }
    treacle_status status = TREACLE_OK;
    if (count < set->map.count) {
        status = change_tiles(w, count, kept, set);
    }
    arena_give(w->scratch, kept);
    return status;
}

// --- liquid put in and taken out -----------------------------------------------------------------

typedef struct part_job {
    const level_set_work* w;
    const level_set_part* part;
    level_set* set;
    uint8_t* is_removed; // [markers]
} part_job;

// A point of the lattice, in its cells, in metres; along an inactive axis the grid's mid-plane.
static vec3 lattice_place(const grid_domain* lattice, const double at[AXES]) {
    vec3 out;
    for (int a = 0; a < AXES; ++a) {
        out.at[a] = lattice->origin[a] + lattice->h * (lattice->is_active[a] ? at[a] : 1.0);
    }
    return out;
}

static vec3 sample_place(const part_job* job, tile_ix t, int i) {
    int at[AXES];
    double x[AXES];
    tile_cell_at(&job->set->map, t, i, at);
    for (int a = 0; a < AXES; ++a) {
        x[a] = at[a] + 0.5;
    }
    return lattice_place(job->w->lattice, x);
}

static vec3 marker_place(const part_job* job, tile_coord tile, const float x[AXES]) {
    double at[AXES];
    for (int a = 0; a < AXES; ++a) {
        at[a] = tile.at[a] * TILE_SIZE + (double)x[a];
    }
    return lattice_place(job->w->lattice, at);
}

static void combine_tiles(void* data, int64_t begin, int64_t end) {
    const part_job* job = data;
    for (int64_t t = begin; t < end; ++t) {
        for (int i = 0; i < TILE_CELLS; ++i) {
            float* phi = &job->set->phi[t * TILE_CELLS + i];
            if (!tile_cell_counts(&job->set->map, i)) {
                continue;
            }
            float d = job->part->distance(job->part->data, sample_place(job, (tile_ix)t, i));
            d = fminf(fmaxf(job->part->is_taken ? -d : d, -LEVEL_LIMIT), LEVEL_LIMIT);
            *phi = job->part->is_taken ? fmaxf(*phi, d) : fminf(*phi, d);
        }
    }
}

// Tiles that a box, and LEVEL_LIMIT around it, may touch.
static treacle_status add_box(const level_set_work* w, const box3* box, level_set* set) {
    const grid_domain* lattice = w->lattice;
    int low[AXES], high[AXES];
    int64_t room = set->map.count, count = 0;
    int64_t boxes = 1;
    for (int a = 0; a < AXES; ++a) {
        double most = lattice->cells[a] - 1;
        double from = (box->low.at[a] - lattice->origin[a]) / lattice->h - (double)LEVEL_LIMIT;
        double to = (box->high.at[a] - lattice->origin[a]) / lattice->h + (double)LEVEL_LIMIT;
        bool is_flat = !lattice->is_active[a];
        low[a] = is_flat ? 0 : (int)fmin(fmax(from, 0.0), most) / TILE_SIZE;
        high[a] = is_flat ? 0 : (int)fmin(fmax(to, 0.0), most) / TILE_SIZE;
        boxes *= high[a] - low[a] + 1;
    }
    tile_coord* tiles = NULL;
    TREACLE_TRY(arena_take(w->scratch, (size_t)(room + boxes), sizeof(*tiles),
                           "tiles of the surface", (void**)&tiles));
    for (tile_ix t = 0; t < set->map.count; ++t) {
        tiles[count++] = set->map.coord[t];
    }
    for (int z = low[2]; z <= high[2]; ++z) {
        for (int y = low[1]; y <= high[1]; ++y) {
            for (int x = low[0]; x <= high[0]; ++x) {
                tiles[count++] = (tile_coord){{x, y, z}};
            }
        }
    }
    treacle_status status = change_tiles(w, count, tiles, set);
    arena_give(w->scratch, tiles);
    return status;
}

// Markers of what was there before: they would take out again what is put in.
static void find_contradicted(void* data, int64_t begin, int64_t end) {
    const part_job* job = data;
    const particles* m = &job->set->markers;
    int wrong = job->part->is_taken ? LEVEL_INSIDE : LEVEL_OUTSIDE;
    for (int64_t g = begin; g < end; ++g) {
        for (particle_ix i = m->tile_first[g]; i < m->tile_first[g + 1]; ++i) {
            const float* x = particles_f32(m, PARTICLE_POSITION) + AXES * i;
            job->is_removed[i] = 0;
            if (particles_material(m)[i] == wrong) {
                float d = job->part->distance(job->part->data, marker_place(job, m->tile[g], x));
                job->is_removed[i] = d < particles_f32(m, PARTICLE_VOLUME)[i];
            }
        }
    }
}

treacle_status level_set_combine(const level_set_work* w, const level_set_part* part,
                                 level_set* set) {
    TREACLE_ASSERT(part->distance != NULL);
    TREACLE_ASSERT(part->is_taken || !box3_is_empty(part->bounds));
    if (!part->is_taken) {
        TREACLE_TRY(add_box(w, &part->bounds, set));
    }
    part_job job = {.w = w, .part = part, .set = set};
    tile_for(&set->map, &(tile_use){.reads = TILE_ANYWHERE, .grain = 1}, combine_tiles, &job);
    TREACLE_TRY(
        arena_take(w->scratch, (size_t)set->markers.count, 1, "markers", (void**)&job.is_removed));
    particle_for(&set->markers, &(particle_use){.span = PARTICLES_ALL_TILES, .grain = 4},
                 find_contradicted, &job);
    particles_remove(&set->markers, job.is_removed);
    arena_give(w->scratch, job.is_removed);
    return level_set_prune(w, set);
}

typedef struct keep_job {
    const float* before;
    float* phi;
} keep_job;

// What was a distance already, near enough, stays as it was: measuring it again would move the
// surface a little, always the same way, in every step.
static void keep_tiles(void* data, int64_t begin, int64_t end) {
    const keep_job* job = data;
    for (int64_t i = begin * TILE_CELLS; i < end * TILE_CELLS; ++i) {
        float before = job->before[i];
        bool is_near = fabsf(before) < near_surface;
        job->phi[i] =
            is_near && fabsf(job->phi[i] - before) <= good_distance ? before : job->phi[i];
    }
}

treacle_status level_set_redistance(const level_set_work* w, level_set* set) {
    TREACLE_ASSERT(set->phi != NULL);
    redistance_params params = {w->lattice, &set->map, LEVEL_LIMIT};
    size_t values = (size_t)set->map.count * TILE_CELLS;
    keep_job job = {.phi = set->phi};
    TREACLE_TRY(arena_take(w->scratch, values, sizeof(float), "distances", (void**)&job.before));
    memcpy((float*)job.before, set->phi, values * sizeof(float));
    treacle_status status = redistance(&params, set->phi);
    if (status == TREACLE_OK) {
        tile_for(&set->map, &(tile_use){.reads = TILE_ANYWHERE, .grain = 8}, keep_tiles, &job);
    }
    arena_give(w->scratch, job.before);
    return status;
}

treacle_status level_set_restore(const level_set_work* w, level_set* set) {
    TREACLE_TRY(level_set_redistance(w, set));
    TREACLE_TRY(level_set_prune(w, set));
    TREACLE_TRY(level_set_reseed(w, set));
    level_set_resize_markers(w, set);
    return TREACLE_OK;
}

// --- a step --------------------------------------------------------------------------------------

treacle_status level_set_advance(const level_set_work* w, const level_set_motion* motion,
                                 const level_set* before, level_set* out) {
    TREACLE_ASSERT(before != out && before->phi != NULL);
    TREACLE_ASSERT(motion->dt > 0.0 && isfinite(motion->dt));
    TREACLE_ASSERT(motion->reach >= 0.0);
    out->births = before->births;
    TREACLE_TRY(particles_copy(&out->markers, &before->markers));
    TREACLE_TRY(level_set_carry(w, motion, before, out));
    TREACLE_TRY(level_set_move_markers(w, motion, out));
    TREACLE_TRY(level_set_correct(w, out));
    TREACLE_TRY(level_set_redistance(w, out));
    TREACLE_TRY(level_set_correct(w, out));
    TREACLE_TRY(level_set_prune(w, out));
    if (motion->is_reseeded) {
        TREACLE_TRY(level_set_reseed(w, out));
    }
    level_set_resize_markers(w, out);
    return TREACLE_OK;
}

// --- measures ------------------------------------------------------------------------------------

typedef struct volume_job {
    const grid_domain* lattice;
    const level_set* set;
} volume_job;

// Boxes between eight samples; the last sample along an axis with sides begins none.
static double volume_of_tile(void* data, int64_t t) {
    const volume_job* job = data;
    const tile_map* map = &job->set->map;
    const int side = BLOCK_SIDE(0, 1);
    float phi[BLOCK_VALUES(0, 1)];
    double sum = 0.0;
    gather_block(map, job->set->phi, (tile_ix)t, 0, 1, phi);
    for (int i = 0; i < TILE_CELLS; ++i) {
        int at[AXES];
        bool counts = tile_cell_counts(map, i);
        tile_cell_at(map, (tile_ix)t, i, at);
        for (int a = 0; a < AXES; ++a) {
            bool has_end = job->lattice->is_active[a] && !job->lattice->is_periodic[a];
            counts = counts && at[a] < job->lattice->cells[a] - (has_end ? 1 : 0);
        }
        if (!counts) {
            continue;
        }
        int low = BLOCK_INDEX(0, 1, i & 7, i >> 3 & 7, i >> 6);
        float f[8];
        for (int c = 0; c < 8; ++c) {
            f[c] = phi[low + (c & 1) + (c >> 1 & 1) * side + (c >> 2) * side * side];
        }
        sum += (double)octant_below(f).volume;
    }
    return sum;
}

double level_set_volume(const level_set_work* w, const level_set* set) {
    TREACLE_ASSERT(set->phi != NULL && w->lattice->h > 0.0);
    volume_job job = {w->lattice, set};
    double unit = 1.0;
    for (int a = 0; a < AXES; ++a) {
        unit *= w->lattice->is_active[a] ? w->lattice->h : w->grid->h;
    }
    return unit * parallel_sum(w->ctx, set->map.count, volume_of_tile, &job);
}

typedef struct cells_job {
    const level_set_work* w;
    const level_set* set;
    const tile_map* cells;
    float* out;
} cells_job;

static void cells_of_tiles(void* data, int64_t begin, int64_t end) {
    const cells_job* job = data;
    tile_sampler from = tile_sampler_of(job->w->lattice, &job->set->map, PLACE_CELL, job->set->phi);
    for (int64_t t = begin; t < end; ++t) {
        for (int i = 0; i < TILE_CELLS; ++i) {
            int at[AXES];
            tile_cell_at(job->cells, (tile_ix)t, i, at);
            for (int a = 0; a < AXES; ++a) {
                at[a] = 2 * at[a] + 1;
            }
            job->out[t * TILE_CELLS + i] = 0.5f * tile_sample_at(&from, at);
        }
    }
}

void level_set_to_cells(const level_set_work* w, const level_set* set, const tile_map* cells,
                        float* cell_phi) {
    TREACLE_ASSERT(cell_phi != NULL && cells != &set->map);
    cells_job job = {w, set, cells, cell_phi};
    tile_for(cells, &(tile_use){.reads = TILE_ANYWHERE, .grain = 4}, cells_of_tiles, &job);
}
