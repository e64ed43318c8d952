// A surface drawn round particles would end at a solid, as if there were air inside. So particles
// nearer to a solid than the surface's kernel reaches have images behind its wall,
//
//     x' = x - 2 d t / (t . n),     d the distance to the solid at x, n its gradient there
//     [solid.5]
//
// as particles at the sides of the domain have. The direction t is that of n along the surface of
// the liquid, whose normal is s: t = n - (n . s) s. So a level pool stays level behind a wall that
// leans, and the particles beside it are as many as there would be without a wall: the map keeps
// volumes. Straight across the wall, t = n, the surface would bend where it meets the wall, by
// twice the angle by which the wall leans. Far from the surface and where it is no plane there is
// no s; there, where the surface follows the wall, |t| < 1/2, and where the wall is not plane on
// the way, images are straight across.
//
// The normal s is that of the last step's surface: the mean of its slopes over the cells around
// that are not beside the wall themselves. Distances are linear between the middles of cells. An
// image that would come out on the far side of a thin solid is left out.
//
// Staggering: distances at cells. Properties that tests check: every image is in the solid; a pool
// beside a tilted wall has a level surface; the outcome does not depend on threads.
#include "phys/ghost_points.h"

#include <math.h>
#include <string.h>

#include "base/parallel.h"
#include "grid/gather.h"

enum {
    MARGIN = 4,
    SIDE = BLOCK_SIDE(MARGIN, MARGIN),
    VALUES = SIDE * SIDE * SIDE,
    NOWHERE = -1,
};
static const int strides[AXES] = {1, SIDE, SIDE* SIDE};
// Cells, how far from a wall a particle may be to have an image.
static const float image_reach = 2.5f;
// Cells, how far from the surface a cell may be to ask for its normal; and from the wall, to have a
// say in it.
static const float surface_reach = 3.0f, wall_reach = 0.5f;
// How many slopes there must be, and how far they must agree, for a surface to be a plane.
static const float slopes_least = 3.0f, agreement = 0.9f;

typedef struct image {
    tile_ix tile; // of the map; NOWHERE: there is none
    float position[AXES];
} image;

typedef struct ghost_job {
    const ghost_params* params;
    image* images;      // [particles]
    int64_t* count;     // [map tiles + 1], of images; then where they begin
    int64_t* order;     // [images], rows sorted by tile
    tile_ix* row_tile;  // [map tiles], the particles' tile; -1: none
    tile_ix* out_tile;  // [out tiles], of the map
    int64_t* out_first; // [out tiles + 1]
    float* position;    // [points][3]
} ghost_job;

// The distance and its gradient at a place of a tile, cells.
static float distance_at(const grid_domain* domain, const float* block, const float x[AXES],
                         float slope[AXES]) {
    int low = 0;
    float beyond[AXES];
    for (int a = 0; a < AXES; ++a) {
        float at = domain->is_active[a] ? x[a] - 0.5f + MARGIN : (float)MARGIN;
        at = fminf(fmaxf(at, 0.0f), (float)(SIDE - 2));
        int cell = (int)at < SIDE - 2 ? (int)at : SIDE - 2;
        beyond[a] = at - (float)cell;
        low += cell * strides[a];
        slope[a] = 0.0f;
    }
    float value = 0.0f;
    for (int i = 0; i < 8; ++i) {
        const int up[AXES] = {i & 1, i >> 1 & 1, i >> 2};
        float phi = block[low + up[0] * strides[0] + up[1] * strides[1] + up[2] * strides[2]];
        float weight[AXES];
        for (int a = 0; a < AXES; ++a) {
            weight[a] = up[a] == 1 ? beyond[a] : 1.0f - beyond[a];
        }
        value += weight[0] * weight[1] * weight[2] * phi;
        for (int a = 0; a < AXES; ++a) {
            float across = weight[(a + 1) % AXES] * weight[(a + 2) % AXES];
            slope[a] += domain->is_active[a] ? across * (up[a] == 1 ? phi : -phi) : 0.0f;
        }
    }
    return value;
}

static float dot(const float p[AXES], const float q[AXES]) {
    return p[0] * q[0] + p[1] * q[1] + p[2] * q[2];
}

// What a tile and its surroundings know.
typedef struct surroundings {
    float solid[VALUES], phi[VALUES];
    int cell;            // of the tile, whose normal is below; -1: none yet
    float surface[AXES]; // the normal to the surface, of length 1 or 0
} surroundings;

static int block_index(int cell) {
    return BLOCK_INDEX(MARGIN, MARGIN, cell % TILE_SIZE, cell / TILE_SIZE % TILE_SIZE,
                       cell / TILE_SIZE / TILE_SIZE);
}

// The slope of the surface at a cell; false beyond its reach and at the sides of the domain.
static bool slope_at(const grid_domain* domain, const float* phi, float out[AXES]) {
    bool is_known = fabsf(phi[0]) < surface_reach;
    for (int a = 0; a < AXES; ++a) {
        float low = phi[-strides[a]], high = phi[strides[a]];
        bool is_near = fmaxf(fabsf(low), fabsf(high)) < surface_reach + 1.0f;
        is_known = is_known && (is_near || !domain->is_active[a]);
        out[a] = domain->is_active[a] ? 0.5f * (high - low) : 0.0f;
    }
    return is_known;
}

// Adds the slopes of the surface over the cells around `at`. Returns how many they are.
static float add_slopes(const grid_domain* domain, const surroundings* s, int at, float sum[AXES]) {
    int reach[AXES];
    float count = 0.0f;
    for (int a = 0; a < AXES; ++a) {
        reach[a] = domain->is_active[a] ? 2 : 0;
    }
    for (int z = -reach[2]; z <= reach[2]; ++z) {
        for (int y = -reach[1]; y <= reach[1]; ++y) {
            for (int x = -reach[0]; x <= reach[0]; ++x) {
                int q = at + x * strides[0] + y * strides[1] + z * strides[2];
                float weight = fminf(fmaxf(s->solid[q] - wall_reach, 0.0f), 1.0f);
                float slope[AXES];
                bool counts = weight > 0.0f && slope_at(domain, s->phi + q, slope);
                count += counts ? weight : 0.0f;
                for (int a = 0; a < AXES && counts; ++a) {
                    sum[a] += weight * slope[a];
                }
            }
        }
    }
    return count;
}

// The normal to the surface at a cell of the tile; none where the slopes do not agree.
static void find_normal(const grid_domain* domain, int cell, surroundings* s) {
    int at = block_index(cell);
    s->cell = cell;
    memset(s->surface, 0, sizeof(s->surface));
    if (fabsf(s->phi[at]) < surface_reach) {
        float sum[AXES] = {0};
        float count = add_slopes(domain, s, at, sum), length = sqrtf(dot(sum, sum));
        bool is_plane = count > slopes_least && length > agreement * count;
        for (int a = 0; a < AXES; ++a) {
            s->surface[a] = is_plane ? sum[a] / length : 0.0f;
        }
    }
}

// Whether a place is as deep in the solid as its image is far: so it is behind a plane wall.
static bool is_image(const grid_domain* domain, const float* solid, const float x[AXES],
                     float distance) {
    float unused[AXES], depth = -distance_at(domain, solid, x, unused);
    return depth > 0.0f && fabsf(depth - distance) < 0.25f + 0.1f * distance;
}

// The image of a place of a tile; false if it has none.
static bool reflect(const grid_domain* domain, const surroundings* s, const float x[AXES],
                    float out[AXES]) {
    float n[AXES], t[AXES];
    float distance = distance_at(domain, s->solid, x, n);
    float length = sqrtf(dot(n, n));
    if (!(distance > 0.0f && distance < image_reach && length > 0.5f)) {
        return false;
    }
    for (int a = 0; a < AXES; ++a) {
        n[a] /= length;
    }
    float across = dot(n, s->surface), squared = 1.0f - across * across; // |t|^2 = t . n
    for (int a = 0; a < AXES; ++a) {
        t[a] = (n[a] - across * s->surface[a]) / squared;
        out[a] = x[a] - 2.0f * distance * t[a]; // [solid.5]
    }
    if (squared > 0.25f && is_image(domain, s->solid, out, distance)) {
        return true;
    }
    for (int a = 0; a < AXES; ++a) {
        out[a] = x[a] - 2.0f * distance * n[a];
    }
    return distance_at(domain, s->solid, out, t) < 0.0f;
}

// Carries a place over to the tile that it is in.
static tile_ix find_tile(const ghost_params* params, tile_coord coord, float x[AXES]) {
    const grid_domain* domain = params->domain;
    for (int a = 0; a < AXES; ++a) {
        int tiles = domain->is_active[a] ? (int)floorf(x[a] / TILE_SIZE) : 0;
        coord.at[a] += tiles;
        x[a] = fminf(fmaxf(x[a] - (float)(tiles * TILE_SIZE), 0.0f), 0x1.fffffep2f);
        float end = (float)(domain->cells[a] - coord.at[a] * TILE_SIZE);
        if (!domain->is_periodic[a] && (coord.at[a] < 0 || x[a] >= end)) {
            return NOWHERE;
        }
    }
    if (!tile_coord_wrap(domain, &coord)) {
        return NOWHERE;
    }
    tile_ix tile = tile_map_find(params->map, coord);
    return tile < params->map->count ? tile : NOWHERE;
}

static void reflect_tiles(void* data, int64_t begin, int64_t end, int worker) {
    const ghost_job* job = data;
    const ghost_params* params = job->params;
    const particles* p = params->p;
    (void)worker;
    surroundings around = {0};
    for (int64_t t = begin; t < end; ++t) {
        tile_ix tile = tile_map_find(params->map, p->tile[t]);
        gather_block(params->map, params->cell_solid_phi, tile, MARGIN, MARGIN, around.solid);
        gather_block(params->map, params->cell_phi, tile, MARGIN, MARGIN, around.phi);
        around.cell = NOWHERE;
        for (particle_ix i = p->tile_first[t]; i < p->tile_first[t + 1]; ++i) {
            const float* x = particles_f32(p, PARTICLE_POSITION) + AXES * i;
            image* to = &job->images[i];
            to->tile = NOWHERE;
            int cell = tile_points_cell(x);
            if (!(around.solid[block_index(cell)] < image_reach + 1.0f)) {
                continue;
            }
            if (cell != around.cell) {
                find_normal(params->domain, cell, &around);
            }
            if (reflect(params->domain, &around, x, to->position)) {
                to->tile = find_tile(params, p->tile[t], to->position);
            }
        }
    }
}

// Rows of images by tile, each tile's in the order of the particles; job->count[t] is then where
// those of tile t begin.
static void order_images(ghost_job* job) {
    int64_t tiles = job->params->map->count, before = 0;
    memset(job->count, 0, (size_t)(tiles + 1) * sizeof(*job->count));
    for (particle_ix i = 0; i < job->params->p->count; ++i) {
        if (job->images[i].tile != NOWHERE) {
            job->count[job->images[i].tile] += 1;
        }
    }
    for (int64_t t = 0; t <= tiles; ++t) {
        int64_t here = job->count[t];
        job->count[t] = before;
        before += here;
    }
    for (particle_ix i = 0; i < job->params->p->count; ++i) {
        if (job->images[i].tile != NOWHERE) {
            job->order[job->count[job->images[i].tile]++] = i;
        }
    }
    for (int64_t t = tiles; t > 0; --t) { // back to where they begin
        job->count[t] = job->count[t - 1];
    }
    job->count[0] = 0;
}

// The tiles that have points, in the order of the map. Returns their number.
static tile_ix list_tiles(ghost_job* job) {
    const particles* p = job->params->p;
    const tile_map* map = job->params->map;
    for (tile_ix t = 0; t < map->count; ++t) {
        job->row_tile[t] = NOWHERE;
    }
    for (tile_ix i = 0; i < p->tile_count; ++i) {
        job->row_tile[tile_map_find(map, p->tile[i])] = i;
    }
    tile_ix count = 0;
    job->out_first[0] = 0;
    for (tile_ix t = 0; t < map->count; ++t) {
        tile_ix from = job->row_tile[t];
        int64_t rows = from == NOWHERE ? 0 : p->tile_first[from + 1] - p->tile_first[from];
        int64_t images = job->count[t + 1] - job->count[t];
        if (rows + images > 0) {
            job->out_tile[count] = t;
            job->out_first[count + 1] = job->out_first[count] + rows + images;
            count += 1;
        }
    }
    return count;
}

// One point of a tile: particles come first, then images.
static const float* point_of(const ghost_job* job, tile_ix t, int64_t k) {
    tile_ix from = job->row_tile[t];
    const int64_t* first = job->params->p->tile_first;
    int64_t rows = from == NOWHERE ? 0 : first[from + 1] - first[from];
    if (k < rows) {
        return particles_f32(job->params->p, PARTICLE_POSITION) + AXES * (first[from] + k);
    }
    return job->images[job->order[job->count[t] + k - rows]].position;
}

// Points of a tile in the order of cells.
static void sort_tiles(void* data, int64_t begin, int64_t end, int worker) {
    const ghost_job* job = data;
    (void)worker;
    for (int64_t i = begin; i < end; ++i) {
        int64_t at[TILE_CELLS + 1] = {0}, count = job->out_first[i + 1] - job->out_first[i];
        float* to = job->position + AXES * job->out_first[i];
        for (int64_t k = 0; k < count; ++k) {
            at[tile_points_cell(point_of(job, job->out_tile[i], k)) + 1] += 1;
        }
        for (int c = 0; c < TILE_CELLS; ++c) {
            at[c + 1] += at[c];
        }
        for (int64_t k = 0; k < count; ++k) {
            const float* x = point_of(job, job->out_tile[i], k);
            memcpy(to + AXES * at[tile_points_cell(x)]++, x, AXES * sizeof(float));
        }
    }
}

static treacle_status take(arena* scratch, size_t count, size_t bytes, void** out) {
    return arena_take(scratch, count, bytes, "images in solids", out);
}

treacle_status ghost_points(const ghost_params* params, tile_points* out) {
    ghost_job job = {.params = params};
    treacle_context* ctx = params->map->ctx;
    arena* scratch = params->scratch;
    size_t tiles = (size_t)params->map->count, rows = (size_t)params->p->count;
    tile_coord* coords = NULL;
    TREACLE_TRY(take(scratch, tiles, sizeof(tile_coord), (void**)&coords));
    TREACLE_TRY(take(scratch, tiles + 1, sizeof(int64_t), (void**)&job.out_first));
    TREACLE_TRY(take(scratch, 2 * rows, AXES * sizeof(float), (void**)&job.position));
    TREACLE_TRY(take(scratch, rows, sizeof(image), (void**)&job.images));
    TREACLE_TRY(take(scratch, tiles + 1, sizeof(int64_t), (void**)&job.count));
    TREACLE_TRY(take(scratch, rows, sizeof(int64_t), (void**)&job.order));
    TREACLE_TRY(take(scratch, tiles, sizeof(tile_ix), (void**)&job.row_tile));
    TREACLE_TRY(take(scratch, tiles, sizeof(tile_ix), (void**)&job.out_tile));
    parallel_for(ctx, params->p->tile_count, 1, reflect_tiles, &job);
    order_images(&job);
    tile_ix count = list_tiles(&job);
    for (tile_ix i = 0; i < count; ++i) {
        coords[i] = params->map->coord[job.out_tile[i]];
    }
    parallel_for(ctx, count, 4, sort_tiles, &job);
    *out = (tile_points){count, coords, job.out_first, job.position};
    return TREACLE_OK;
}
