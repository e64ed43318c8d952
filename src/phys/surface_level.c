// A surface drawn round points is off by 0.06 cells from place to place, as they happen to lie.
// What is short and high of it evens out at once; but what is left over ten cells and more is a
// load that is not there: p = 0 at the wrong height drives waves and currents, and the particles,
// which keep their volume, are then pushed back by the density correction [vol.1]. Their volume
// says better where the surface is: over a neighbourhood of two cells' width the surface is raised
// by d, so that as much is inside as there are particles,
//
//     d = G (c - v) / G A,     phi <- phi - d,     |d| <= 0.1                          [geometry.5]
//
// with c the volume of particles that a cell sees, v that of the cell's part inside the surface, A
// = max(0, 1 - |phi|) the surface's area in a cell, all outside solids, and G a smooth mean:
// binomials (1, 2, 1)/4 one, two and two cells wide, along each axis, mirrored at the sides of the
// domain: a mean that lost there what it has would not see the cells beside the side.
//
// Where liquid is thin the two tell different things: a drop of one particle is drawn larger than
// its volume, so that the grid sees it. The surface is moved only over liquid that is deeper than
// two cells: with D = clamp(-phi - 2, 0, 1) by the share clamp(4 G D / G A - 1, 0, 1), which is 1
// for pools of four cells and more.
//
// Staggering: all at cells. Properties that tests check: a surface that fits its particles stays; a
// pool that is drawn too low is raised, by as much; a thin sheet is left alone; volume is found
// again. References: none that does the same; that surfaces round particles and grids of their
// volume disagree is common knowledge, [S19 sec. 4].
#include "phys/surface_level.h"

#include <math.h>
#include <string.h>

#include "grid/gather.h"
#include "grid/tile_ranks.h"

enum { MARGIN = 2, SIDE = BLOCK_SIDE(MARGIN, MARGIN), VALUES = BLOCK_VALUES(MARGIN, MARGIN) };
enum { SWEEPS = 3 };
static const int strides[AXES] = {1, SIDE, SIDE* SIDE};
static const int widths[SWEEPS] = {1, 2, 2};  // cells
static const float reach = 3.0f, most = 0.1f; // cells: which values are moved, and how far
static const float least_area = 1e-3f;

typedef enum level_kind { LEVEL_EXCESS, LEVEL_AREA, LEVEL_DEEP, LEVEL_KINDS } level_kind;

typedef struct level_job {
    const surface_level_params* params;
    float* phi;
    uint8_t* has_surface;     // [tiles], whether any of its values is moved
    float* mean[LEVEL_KINDS]; // G (c - v), G A, G D
    const float* from;        // of the sweep
    float* to;
    int width;
} level_job;

static bool has_surface(const tile_map* map, const float* phi) {
    bool has = false;
    for (int i = 0; i < TILE_CELLS && !has; ++i) {
        has = fabsf(phi[i]) < reach && tile_cell_counts(map, i);
    }
    return has;
}

static void begin_tiles(void* data, int64_t begin, int64_t end, int worker) {
    const level_job* job = data;
    const surface_level_params* params = job->params;
    (void)worker;
    for (int64_t t = begin; t < end; ++t) {
        job->has_surface[t] = has_surface(params->map, job->phi + t * TILE_CELLS) ? 1 : 0;
    }
    for (int64_t i = begin * TILE_CELLS; i < end * TILE_CELLS; ++i) {
        float open = params->cell_open != NULL ? params->cell_open[i] : 1.0f, phi = job->phi[i];
        job->mean[LEVEL_EXCESS][i] = params->cell_volume[i] - params->cell_share[i] * open;
        job->mean[LEVEL_AREA][i] = fmaxf(1.0f - fabsf(phi), 0.0f) * open;
        job->mean[LEVEL_DEEP][i] = fminf(fmaxf(-phi - 2.0f, 0.0f), 1.0f) * open;
    }
}

// Whether a value of the tile, or one that a sweep may need of it, is moved.
static bool is_near(const level_job* job, tile_ix t) {
    const tile_map* map = job->params->map;
    bool is_near = false;
    for (int n = 0; n < TILE_NEIGHBOURS && !is_near; ++n) {
        is_near = job->has_surface[map->neighbour[t][n]] == 1;
    }
    return is_near;
}

// One binomial along an axis of a block; the outermost planes, which have no neighbours, keep their
// values: nobody reads them.
static void smooth_block(int stride, float* block) {
    float line[VALUES];
    memcpy(line, block, sizeof(line));
    for (int i = stride; i < VALUES - stride; ++i) {
        block[i] = 0.25f * (line[i - stride] + line[i + stride]) + 0.5f * line[i];
    }
}

static void copy_plane(int stride_b, int stride_c, const float* from, float* to) {
    for (int i = 0; i < SIDE * SIDE; ++i) {
        int at = i % SIDE * stride_b + i / SIDE * stride_c;
        to[at] = from[at];
    }
}

// Planes beyond the sides of the domain.
static void mirror_sides(const surface_level_params* params, tile_ix t, float* block) {
    for (int a = 0; a < AXES; ++a) {
        int low = params->map->coord[t].at[a] * TILE_SIZE - MARGIN,
            cells = params->domain->cells[a];
        int b = strides[(a + 1) % AXES], c = strides[(a + 2) % AXES];
        bool has_sides = params->domain->is_active[a] && !params->domain->is_periodic[a];
        for (int i = 0; i < SIDE && has_sides; ++i) {
            int at = low + i;
            int image = (at < 0 ? -1 - at : at >= cells ? 2 * cells - 1 - at : at) - low;
            if (image != i && image >= 0 && image < SIDE) {
                copy_plane(b, c, block + image * strides[a], block + i * strides[a]);
            }
        }
    }
}

static void sweep_tiles(void* data, int64_t begin, int64_t end, int worker) {
    const level_job* job = data;
    const tile_map* map = job->params->map;
    (void)worker;
    float block[VALUES];
    for (int64_t t = begin; t < end; ++t) {
        if (!is_near(job, (tile_ix)t)) {
            continue;
        }
        gather_block(map, job->from, (tile_ix)t, MARGIN, MARGIN, block);
        mirror_sides(job->params, (tile_ix)t, block);
        for (int a = 0; a < AXES; ++a) {
            if (!map->is_flat[a]) {
                smooth_block(job->width * strides[a], block);
            }
        }
        for (int i = 0; i < TILE_CELLS; ++i) {
            job->to[t * TILE_CELLS + i] =
                block[BLOCK_INDEX(MARGIN, MARGIN, i % TILE_SIZE, i / TILE_SIZE % TILE_SIZE,
                                  i / TILE_SIZE / TILE_SIZE)];
        }
    }
}

static void move_tiles(void* data, int64_t begin, int64_t end, int worker) {
    const level_job* job = data;
    (void)worker;
    for (int64_t i = begin * TILE_CELLS; i < end * TILE_CELLS; ++i) {
        float area = job->mean[LEVEL_AREA][i];
        if (fabsf(job->phi[i]) < reach && area > least_area) {
            float rise = fminf(fmaxf(job->mean[LEVEL_EXCESS][i] / area, -most), most);
            float deep = fminf(fmaxf(4.0f * job->mean[LEVEL_DEEP][i] / area - 1.0f, 0.0f), 1.0f);
            job->phi[i] -= deep * rise; // [geometry.5]
        }
    }
}

// Where there is no tile, in the dummy, everything is 0.
static treacle_status take_room(level_job* job, float** spare) {
    arena* scratch = job->params->scratch;
    size_t tiles = (size_t)job->params->map->count + 1;
    TREACLE_TRY(
        arena_take_zero(scratch, tiles, 1, "tiles at the surface", (void**)&job->has_surface));
    for (int i = 0; i <= LEVEL_KINDS; ++i) {
        float** room = i < LEVEL_KINDS ? &job->mean[i] : spare;
        TREACLE_TRY(arena_take_zero(scratch, tiles * TILE_CELLS, sizeof(float),
                                    "the level of the surface", (void**)room));
    }
    return TREACLE_OK;
}

treacle_status surface_level(const surface_level_params* params, float* cell_phi) {
    level_job job = {.params = params, .phi = cell_phi};
    int mark = arena_mark(params->scratch);
    float* spare = NULL;
    TREACLE_TRY(take_room(&job, &spare));
    tile_for_held(params->map, 8, begin_tiles, &job);
    for (int i = 0; i < SWEEPS * LEVEL_KINDS; ++i) {
        float** mean = &job.mean[i / SWEEPS];
        job.from = *mean;
        job.to = spare;
        job.width = widths[i % SWEEPS];
        tile_for(params->map, 2, sweep_tiles, &job);
        tile_share_field(params->map, job.to);
        spare = *mean;
        *mean = job.to;
    }
    tile_for_held(params->map, 8, move_tiles, &job);
    arena_give_to(params->scratch, mark);
    return TREACLE_OK;
}
