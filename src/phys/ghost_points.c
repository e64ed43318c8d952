// A surface drawn round particles would end at a solid, as if there were air inside. So particles
// nearer to a solid than the surface's kernel reaches have images behind its wall,
//
//     x' = x - 2 d n,     d the distance to the solid at x, n its gradient there         [solid.5]
//
// as particles at the sides of the domain have. The distance is linear between the middles of
// cells. An image that would come out on the far side of a thin solid is left out. So are those of
// liquid that does not touch: a particle has an image only if one is within half a cell of the wall
// in the cell of its foot x - d n or beside it. Else the surface would be drawn round both and
// close the gap between them, and what lands would lie on liquid that is not there [solid.14].
// Scenes in which liquid may let go of solids keep all images: contacts say there what is held.
//
// Staggering: distance at cells. Properties that tests check: every image is in the solid; a pool
// beside a tilted wall has a level surface; what does not touch has no images; the outcome does not
// depend on threads.
#include "phys/ghost_points.h"

#include <math.h>
#include <string.h>

#include "grid/gather.h"
#include "grid/tile_mask.h"
#include "particles/particle_loop.h"

enum {
    MARGIN = 4,
    SIDE = BLOCK_SIDE(MARGIN, MARGIN),
    NOWHERE = -1,
    TOUCH_MARGIN = MASK_MARGIN_MAX,
    TOUCH_SIDE = TILE_SIZE + 2 * TOUCH_MARGIN,
};
// Cells, how far from a wall a particle may be to have an image.
static const float image_reach = 2.5f;
// Cells, how far from a wall a particle may be to touch it.
static const float touch_reach = 0.5f;

typedef struct image {
    tile_ix tile; // of the map; NOWHERE: there is none
    float position[AXES];
} image;

typedef struct ghost_job {
    const ghost_params* params;
    tile_mask* touched; // [map tiles + 1], cells with particles that touch a solid
    image* images;      // [particles]
    int64_t* count;     // [map tiles + 1], of images; then where they begin
    int64_t* order;     // [images], rows sorted by tile
    tile_ix* row_tile;  // [map tiles], the particles' tile; -1: none
    tile_ix* out_tile;  // [out tiles], of the map
    int64_t* out_first; // [out tiles + 1]
    float* position;    // [points][3]
} ghost_job;

// The distance and its gradient at a place of a tile, cells.
static float ghost_points_distance_at(const grid_domain* domain, const float* block,
                                      const float x[AXES], float slope[AXES]) {
    static const int stride[AXES] = {1, SIDE, SIDE * SIDE};
    int low = 0;
    float beyond[AXES];
    for (int a = 0; a < AXES; ++a) {
        float at = domain->is_active[a] ? x[a] - 0.5f + MARGIN : (float)MARGIN;
        at = fminf(fmaxf(at, 0.0f), (float)(SIDE - 2));
        int cell = (int)at < SIDE - 2 ? (int)at : SIDE - 2;
        beyond[a] = at - (float)cell;
        low += cell * stride[a];
        slope[a] = 0.0f;
    }
    float value = 0.0f;
    for (int i = 0; i < 8; ++i) {
        const int up[AXES] = {i & 1, i >> 1 & 1, i >> 2};
        float phi = block[low + up[0] * stride[0] + up[1] * stride[1] + up[2] * stride[2]];
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

// What images are made from: the distance around a tile, and where liquid touches solids.
typedef struct ghost_block {
    float solid[SIDE * SIDE * SIDE];
    uint32_t touched[MASK_ROWS_MAX];
} ghost_block;

// Whether liquid touches the solid at a place of a tile, or in a cell beside it.
static bool is_touched(const ghost_block* block, const float x[AXES]) {
    int low[AXES], high[AXES];
    for (int a = 0; a < AXES; ++a) {
        int at = (int)floorf(x[a]) + TOUCH_MARGIN;
        low[a] = at - 1 < 0 ? 0 : at - 1;
        high[a] = at + 1 > TOUCH_SIDE - 1 ? TOUCH_SIDE - 1 : at + 1;
    }
    uint32_t any = 0;
    for (int z = low[2]; z <= high[2]; ++z) {
        for (int y = low[1]; y <= high[1]; ++y) {
            any |= block->touched[z * TOUCH_SIDE + y];
        }
    }
    return high[0] >= low[0] && (any >> low[0] & ((2u << (high[0] - low[0])) - 1)) != 0;
}

// The image of a place of a tile; false if it has none.
static bool reflect(const ghost_params* params, const ghost_block* block, const float x[AXES],
                    float out[AXES]) {
    const grid_domain* domain = params->domain;
    float slope[AXES], unused[AXES], foot[AXES];
    float distance = ghost_points_distance_at(domain, block->solid, x, slope);
    float length = sqrtf(slope[0] * slope[0] + slope[1] * slope[1] + slope[2] * slope[2]);
    if (!(distance > 0.0f && distance < image_reach && length > 0.5f)) {
        return false;
    }
    for (int a = 0; a < AXES; ++a) {
        foot[a] = x[a] - distance * slope[a] / length;
        out[a] = x[a] - 2.0f * distance * slope[a] / length;
    }
    return (params->has_all || distance < touch_reach || is_touched(block, foot)) &&
           ghost_points_distance_at(domain, block->solid, out, unused) < 0.0f;
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

static bool is_near_solid(const ghost_params* params, tile_ix tile, const float x[AXES]) {
    size_t cell = (size_t)tile * TILE_CELLS + (size_t)tile_points_cell(x);
    return params->cell_solid_phi[cell] < image_reach + 1.0f;
}

static void touch_tiles(void* data, int64_t begin, int64_t end) {
    const ghost_job* job = data;
    const ghost_params* params = job->params;
    const particles* p = params->p;
    float block[SIDE * SIDE * SIDE];
    for (int64_t t = begin; t < end; ++t) {
        tile_ix tile = tile_map_find(params->map, p->tile[t]);
        bool has_block = false;
        for (particle_ix i = p->tile_first[t]; i < p->tile_first[t + 1]; ++i) {
            const float* x = particles_f32(p, PARTICLE_POSITION) + AXES * i;
            float slope[AXES];
            if (!is_near_solid(params, tile, x)) {
                continue;
            }
            if (!has_block) {
                gather_block(params->map, params->cell_solid_phi, tile, MARGIN, MARGIN, block);
                has_block = true;
            }
            if (ghost_points_distance_at(params->domain, block, x, slope) < touch_reach) {
                tile_mask_add(&job->touched[tile], tile_points_cell(x));
            }
        }
    }
}

static void reflect_tiles(void* data, int64_t begin, int64_t end) {
    const ghost_job* job = data;
    const ghost_params* params = job->params;
    const particles* p = params->p;
    ghost_block block;
    for (int64_t t = begin; t < end; ++t) {
        tile_ix tile = tile_map_find(params->map, p->tile[t]);
        gather_block(params->map, params->cell_solid_phi, tile, MARGIN, MARGIN, block.solid);
        tile_mask_rows(params->map, job->touched, tile, TOUCH_MARGIN, block.touched);
        for (particle_ix i = p->tile_first[t]; i < p->tile_first[t + 1]; ++i) {
            const float* x = particles_f32(p, PARTICLE_POSITION) + AXES * i;
            image* to = &job->images[i];
            to->tile = NOWHERE;
            if (is_near_solid(params, tile, x) && reflect(params, &block, x, to->position)) {
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
static tile_ix ghost_points_list_tiles(ghost_job* job) {
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
static void sort_tiles(void* data, int64_t begin, int64_t end) {
    const ghost_job* job = data;
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

static treacle_status ghost_points_take(arena* scratch, size_t count, size_t bytes, void** out) {
    return arena_take(scratch, count, bytes, "images in solids", out);
}

treacle_status ghost_points(const ghost_params* params, tile_points* out) {
    TREACLE_ASSERT(params->cell_solid_phi != NULL && params->scratch != NULL);
    TREACLE_ASSERT(params->p->tile_first[params->p->tile_count] == params->p->count);
    ghost_job job = {.params = params};
    treacle_context* ctx = params->map->ctx;
    arena* scratch = params->scratch;
    size_t tiles = (size_t)params->map->count, rows = (size_t)params->p->count;
    tile_coord* coords = NULL;
    TREACLE_TRY(ghost_points_take(scratch, tiles, sizeof(tile_coord), (void**)&coords));
    TREACLE_TRY(ghost_points_take(scratch, tiles + 1, sizeof(int64_t), (void**)&job.out_first));
    TREACLE_TRY(ghost_points_take(scratch, 2 * rows, AXES * sizeof(float), (void**)&job.position));
    TREACLE_TRY(ghost_points_take(scratch, rows, sizeof(image), (void**)&job.images));
    TREACLE_TRY(ghost_points_take(scratch, tiles + 1, sizeof(int64_t), (void**)&job.count));
    TREACLE_TRY(ghost_points_take(scratch, rows, sizeof(int64_t), (void**)&job.order));
    TREACLE_TRY(ghost_points_take(scratch, tiles, sizeof(tile_ix), (void**)&job.row_tile));
    TREACLE_TRY(ghost_points_take(scratch, tiles, sizeof(tile_ix), (void**)&job.out_tile));
    TREACLE_TRY(ghost_points_take(scratch, tiles + 1, sizeof(tile_mask), (void**)&job.touched));
    memset(job.touched, 0, (tiles + 1) * sizeof(tile_mask));
    particle_for(params->p, &(particle_use){.span = PARTICLES_ALL_TILES, .grain = 1}, touch_tiles,
                 &job);
    particle_for(params->p, &(particle_use){.span = PARTICLES_ALL_TILES, .grain = 1}, reflect_tiles,
                 &job);
    order_images(&job);
    tile_ix count = ghost_points_list_tiles(&job);
    for (tile_ix i = 0; i < count; ++i) {
        coords[i] = params->map->coord[job.out_tile[i]];
    }
    parallel_for(ctx, count, 4, sort_tiles, &job);
    *out = (tile_points){
        .tile_count = count, .tile = coords, .tile_first = job.out_first, .position = job.position};
    return TREACLE_OK;
}
