// The level set moves with the flow [G11 eq. 3.28], back along paths; and markers that have escaped
// correct it.
//
// differs from [G11 sec. 3.4]: between its samples phi is not linear. Where it curves, a chord lies
// to one side of it, and a surface of radius R would shrink by up to (h/2)^2 / 8 R in every step;
// markers would have to bring that back. So it follows the cubic through four samples
// (grid/tile_sample.h).
//
// A marker p of side s (+1 outside, -1 inside) and radius r has escaped where
//
//     s phi(x_p) < -r_p
//
// Around it, at the eight samples of the lattice next to it, it claims
//
//     phi_p(x) = s (r_p - |x - x_p|)                                                      [level.2]
//
// Claims of one side combine by max (outside) or min (inside), also with phi; of the two results
// that of the lesser size is the new phi.
#include <math.h>
#include <string.h>

#include "compare/level_set.h"
#include "grid/tile_loop.h"
#include "grid/tile_sample.h"
#include "particles/particle_loop.h"
#include "phys/paths.h"

// --- tiles that the liquid may reach -------------------------------------------------------------

// The cells of a tile that are liquid or next to it, along each axis; false if there are none.
static bool liquid_box(const level_set* set, tile_ix t, int low[AXES], int high[AXES]) {
    const float* phi = set->phi + (size_t)t * TILE_CELLS;
    bool is_any = false;
    for (int i = 0; i < TILE_CELLS; ++i) {
        if (!(phi[i] < 1.0f) || !tile_cell_counts(&set->map, i)) {
            continue;
        }
        const int at[AXES] = {i & 7, i >> 3 & 7, i >> 6};
        for (int a = 0; a < AXES; ++a) {
            low[a] = is_any && low[a] < at[a] ? low[a] : at[a];
            high[a] = is_any && high[a] > at[a] ? high[a] : at[a];
        }
        is_any = true;
    }
    return is_any;
}

typedef struct tile_list {
    int64_t count;
    tile_coord* tiles;
} tile_list;

// Adds the tiles within `margin` cells of a box of cells of tile `home`.
static void add_tiles(const grid_domain* lattice, tile_coord home, const int box[2][AXES],
                      int margin, tile_list* out) {
    int from[AXES], to[AXES];
    for (int a = 0; a < AXES; ++a) {
        int more = lattice->is_active[a] ? margin : 0;
        from[a] = (box[0][a] - more + 4 * TILE_SIZE) / TILE_SIZE - 4;
        to[a] = (box[1][a] + more) / TILE_SIZE;
    }
    for (int z = from[2]; z <= to[2]; ++z) {
        for (int y = from[1]; y <= to[1]; ++y) {
            for (int x = from[0]; x <= to[0]; ++x) {
                tile_coord at = {{home.at[0] + x, home.at[1] + y, home.at[2] + z}};
                bool is_there = tile_coord_wrap(lattice, &at);
                for (int a = 0; a < AXES; ++a) {
                    is_there = is_there && at.at[a] < lattice->tiles[a];
                }
                if (is_there) {
                    out->tiles[out->count++] = at;
                }
            }
        }
    }
}

static treacle_status make_tiles(const level_set_work* w, double reach, const level_set* before,
                                 level_set* out) {
    enum { AROUND_MAX = 7 * 7 * 7 };
    int margin = (int)ceil(2.0 * reach + (double)LEVEL_LIMIT);
    TREACLE_ASSERT(margin <= 3 * TILE_SIZE);
    tile_list list = {0};
    size_t most = (size_t)before->map.count * AROUND_MAX;
    TREACLE_TRY(arena_take(w->scratch, most, sizeof(*list.tiles), "tiles of the surface",
                           (void**)&list.tiles));
    for (tile_ix t = 0; t < before->map.count; ++t) {
        int box[2][AXES];
        if (liquid_box(before, t, box[0], box[1])) {
            add_tiles(w->lattice, before->map.coord[t], (const int(*)[AXES])box, margin, &list);
        }
    }
    treacle_status status = level_set_tiles(w, list.count, list.tiles, out);
    arena_give(w->scratch, list.tiles);
    return status;
}

// --- phi(x - path) -------------------------------------------------------------------------------

typedef struct carry_job {
    const level_set_work* w;
    const level_set *before, *out;
    paths back;
    float still; // farther than this from the surface nothing changes
} carry_job;

// How far a point is beyond the open sides of the domain, in cells of the lattice, negative inside:
// there is air, from which nothing comes in.
static float beyond_open(const grid_domain* lattice, tile_coord tile, const float x[AXES]) {
    float out = -LEVEL_LIMIT;
    for (int a = 0; a < AXES; ++a) {
        bool has_sides = lattice->is_active[a] && !lattice->is_periodic[a];
        float at = (float)(tile.at[a] * TILE_SIZE) + x[a] - 0.5f; // 0 on the low side
        if (has_sides && lattice->sides[a][0] == TREACLE_SIDE_OPEN) {
            out = fmaxf(out, -at);
        }
        if (has_sides && lattice->sides[a][1] == TREACLE_SIDE_OPEN) {
            out = fmaxf(out, at - (float)(lattice->cells[a] - 1));
        }
    }
    return out;
}

static void carry_tile(const carry_job* job, tile_ix t, paths_block* block) {
    const grid_domain* lattice = job->w->lattice;
    const tile_map* map = &job->out->map;
    tile_coord coord = map->coord[t];
    level_set_home home = level_set_home_of(lattice, coord);
    tile_ix grid = tile_map_find(job->back.flow->map, home.grid);
    tile_sampler from = tile_sampler_of(lattice, &job->before->map, PLACE_CELL, job->before->phi);
    bool moves = grid < job->back.flow->map->count;
    float x[TILE_CELLS][AXES], *phi = job->out->phi + (size_t)t * TILE_CELLS;
    for (int i = 0; i < TILE_CELLS; ++i) {
        const int cell[AXES] = {i & 7, i >> 3 & 7, i >> 6};
        for (int a = 0; a < AXES; ++a) {
            x[i][a] =
                home.offset[a] + (lattice->is_active[a] ? 0.5f * ((float)cell[a] + 0.5f) : 0.0f);
        }
    }
    if (moves) {
        paths_gather(&job->back, grid, block);
        paths_trace(block, TILE_CELLS, x[0]);
    }
    for (int i = 0; i < TILE_CELLS; ++i) {
        int at[AXES];
        if (!tile_cell_counts(map, i)) {
            continue;
        }
        tile_cell_at(map, t, i, at);
        phi[i] = tile_sample_at(&from, at);
        const float here[AXES] = {(float)(i & 7) + 0.5f, (float)(i >> 3 & 7) + 0.5f,
                                  (float)(i >> 6) + 0.5f};
        bool is_near =
            fabsf(phi[i]) <= job->still || beyond_open(lattice, coord, here) >= -job->still;
        if (moves && is_near) {
            float p[AXES];
            for (int a = 0; a < AXES; ++a) {
                p[a] = 2.0f * (x[i][a] - home.offset[a]);
            }
            phi[i] = fmaxf(tile_sample_smooth(&from, coord, p), beyond_open(lattice, coord, p));
        }
    }
}

static void carry_tiles(void* data, int64_t begin, int64_t end) {
    const carry_job* job = data;
    paths_block block;
    for (int64_t t = begin; t < end; ++t) {
        carry_tile(job, (tile_ix)t, &block);
    }
}

treacle_status level_set_carry(const level_set_work* w, const level_set_motion* motion,
                               const level_set* before, level_set* out) {
    TREACLE_ASSERT(before != out && motion->flow != NULL);
    TREACLE_TRY(make_tiles(w, motion->reach, before, out));
    carry_job job = {
        .w = w,
        .before = before,
        .out = out,
        .back = {motion->flow, -motion->dt, motion->reach, TREACLE_ADVECTION_RK2},
        .still = (float)(2.0 * sqrt(3.0) * motion->reach + 1.0),
    };
    tile_for(&out->map, &(tile_use){.reads = TILE_ANYWHERE, .grain = 1}, carry_tiles, &job);
    return TREACLE_OK;
}

// --- markers -------------------------------------------------------------------------------------

typedef struct move_job {
    const level_set_work* w;
    const particles* markers;
    paths ahead;
} move_job;

static void move_group(const move_job* job, tile_ix g, paths_block* block) {
    const grid_domain* lattice = job->w->lattice;
    const particles* m = job->markers;
    level_set_home home = level_set_home_of(lattice, m->tile[g]);
    tile_ix grid = tile_map_find(job->ahead.flow->map, home.grid);
    if (grid == job->ahead.flow->map->count) {
        return;
    }
    float* x = particles_f32(m, PARTICLE_POSITION) + AXES * m->tile_first[g];
    int64_t count = m->tile_first[g + 1] - m->tile_first[g];
    for (int64_t i = 0; i < AXES * count; ++i) {
        int a = (int)(i % AXES);
        x[i] = lattice->is_active[a] ? home.offset[a] + 0.5f * x[i] : x[i];
    }
    paths_gather(&job->ahead, grid, block);
    paths_trace(block, count, x);
    for (int64_t i = 0; i < AXES * count; ++i) {
        int a = (int)(i % AXES);
        x[i] = lattice->is_active[a] ? 2.0f * (x[i] - home.offset[a]) : x[i];
    }
}

static void move_groups(void* data, int64_t begin, int64_t end) {
    paths_block block;
    for (int64_t g = begin; g < end; ++g) {
        move_group(data, (tile_ix)g, &block);
    }
}

treacle_status level_set_move_markers(const level_set_work* w, const level_set_motion* motion,
                                      level_set* set) {
    TREACLE_ASSERT(motion->flow != NULL);
    move_job job = {
        w, &set->markers, {motion->flow, motion->dt, motion->reach, TREACLE_ADVECTION_RK2}};
    particle_for(&set->markers, &(particle_use){.span = PARTICLES_ALL_TILES, .grain = 1},
                 move_groups, &job);
    particle_sorter sorter = {w->lattice, w->scratch};
    particle_sort_stats stats;
    return particle_sort(&set->markers, &sorter, &stats);
}

// --- correction ----------------------------------------------------------------------------------

typedef struct escape_job {
    const level_set_work* w;
    const level_set* set;
    uint8_t* has_escaped; // [markers]
    float *low, *high;    // claims of both sides
} escape_job;

static void find_escaped(void* data, int64_t begin, int64_t end) {
    const escape_job* job = data;
    const particles* m = &job->set->markers;
    tile_sampler phi = tile_sampler_of(job->w->lattice, &job->set->map, PLACE_CELL, job->set->phi);
    for (int64_t g = begin; g < end; ++g) {
        for (particle_ix i = m->tile_first[g]; i < m->tile_first[g + 1]; ++i) {
            const float* x = particles_f32(m, PARTICLE_POSITION) + AXES * i;
            float at = tile_sample(&phi, m->tile[g], x);
            float side = particles_material(m)[i] == LEVEL_OUTSIDE ? 1.0f : -1.0f;
            job->has_escaped[i] = side * at < -particles_f32(m, PARTICLE_VOLUME)[i];
        }
    }
}

// The slot of a cell of the lattice, or -1.
static int64_t slot_of(const escape_job* job, const int cell[AXES]) {
    const grid_domain* lattice = job->w->lattice;
    tile_coord coord;
    int local = 0;
    for (int a = AXES - 1; a >= 0; --a) {
        int n = lattice->cells[a];
        int at = !lattice->is_periodic[a] ? cell[a] : (cell[a] + n) % n;
        if (at < 0 || at >= n) {
            return -1;
        }
        coord.at[a] = at / TILE_SIZE;
        local = local * TILE_SIZE + at % TILE_SIZE;
    }
    tile_ix t = tile_map_find(&job->set->map, coord);
    return t < job->set->map.count ? (int64_t)t * TILE_CELLS + local : -1;
}

// The eight samples around a marker hear of it. There are few that have escaped: no need to hurry.
static void claim(const escape_job* job, tile_coord tile, particle_ix i) {
    const particles* m = &job->set->markers;
    const bool* is_active = job->w->lattice->is_active;
    const float* x = particles_f32(m, PARTICLE_POSITION) + AXES * i;
    float radius = particles_f32(m, PARTICLE_VOLUME)[i];
    bool is_outside = particles_material(m)[i] == LEVEL_OUTSIDE;
    for (int c = 0; c < 8; ++c) {
        const int step[AXES] = {c & 1, c >> 1 & 1, c >> 2};
        int cell[AXES];
        float square = 0.0f;
        bool is_there = true;
        for (int a = 0; a < AXES; ++a) {
            float g = x[a] - 0.5f, low = floorf(g), d = g - low - (float)step[a];
            cell[a] = is_active[a] ? tile.at[a] * TILE_SIZE + (int)low + step[a] : 0;
            is_there = is_there && (is_active[a] || step[a] == 0);
            square += is_active[a] ? d * d : 0.0f;
        }
        int64_t slot = is_there ? slot_of(job, cell) : -1;
        if (slot < 0) {
            continue;
        }
        float claimed = radius - sqrtf(square); // [level.2]
        if (is_outside) {
            job->high[slot] = fmaxf(job->high[slot], claimed);
        } else {
            job->low[slot] = fminf(job->low[slot], -claimed);
        }
    }
}

static void decide_claims(void* data, int64_t begin, int64_t end) {
    const escape_job* job = data;
    for (int64_t i = begin * TILE_CELLS; i < end * TILE_CELLS; ++i) {
        float low = job->low[i], high = job->high[i];
        job->set->phi[i] = fabsf(high) < fabsf(low) ? high : low;
    }
}

treacle_status level_set_correct(const level_set_work* w, level_set* set) {
    TREACLE_ASSERT(set->phi != NULL && set->markers.tile_first != NULL);
    int mark = arena_mark(w->scratch);
    escape_job job = {.w = w, .set = set};
    const particles* m = &set->markers;
    size_t values = (size_t)set->map.count * TILE_CELLS;
    TREACLE_TRY(arena_take(w->scratch, (size_t)m->count, 1, "markers", (void**)&job.has_escaped));
    TREACLE_TRY(arena_take(w->scratch, values, sizeof(float), "claims", (void**)&job.low));
    TREACLE_TRY(arena_take(w->scratch, values, sizeof(float), "claims", (void**)&job.high));
    memcpy(job.low, set->phi, values * sizeof(float));
    memcpy(job.high, set->phi, values * sizeof(float));
    particle_for(m, &(particle_use){.span = PARTICLES_ALL_TILES, .grain = 4}, find_escaped, &job);
    for (tile_ix g = 0; g < m->tile_count; ++g) {
        for (particle_ix i = m->tile_first[g]; i < m->tile_first[g + 1]; ++i) {
            if (job.has_escaped[i]) {
                claim(&job, m->tile[g], i);
            }
        }
    }
    tile_for(&set->map, &(tile_use){.reads = TILE_ANYWHERE, .grain = 8}, decide_claims, &job);
    arena_give_to(w->scratch, mark);
    return TREACLE_OK;
}
