// The density correction's target at walls. A cell sees the volume c of particles through the
// linear kernel, which reaches one cell to each side. In a cell beside a solid even evenly spread
// liquid gives less than 1. What it could give is the kernel's fraction outside of solids,
//
//     c_0 = sum over 27 cells of  w w w * open,   w = 1/8, 3/4, 1/8 along each axis       [solid.8]
//
// (the tent's integrals over the three cells), mirrored at sides of the domain as c is. Then
// c / c_0 takes the place of c [vol.1].
//
// Staggering: cells. Properties that tests check: without solids nothing changes; evenly spread
// particles beside a wall give 1.
#include "phys/open_volume.h"

#include <math.h>

#include "grid/gather.h"
#include "grid/tile_loop.h"

enum { SIDE = BLOCK_SIDE(1, 1), VALUES = BLOCK_VALUES(1, 1) };

typedef struct open_job {
    const grid_domain* domain;
    const tile_map* map;
    const float* open;
    float* volume;
} open_job;

// Planes beyond the sides of the domain: the mirror image of the last one inside.
static void mirror_sides(const open_job* job, tile_ix t, float* block) {
    static const int strides[AXES] = {1, SIDE, SIDE * SIDE};
    for (int a = 0; a < AXES; ++a) {
        if (job->domain->is_periodic[a] || !job->domain->is_active[a]) {
            continue;
        }
        int b = (a + 1) % AXES, c = (a + 2) % AXES;
        int low = job->map->coord[t].at[a] * TILE_SIZE - 1, last = job->domain->cells[a] - 1;
        for (int i = 0; i < SIDE; ++i) {
            int inside = low + i < 0 ? -low : low + i > last ? last - low : i;
            if (inside == i || inside < 0 || inside >= SIDE) {
                continue;
            }
            for (int k = 0; k < SIDE * SIDE; ++k) {
                int row = k % SIDE * strides[b] + k / SIDE * strides[c];
                block[row + i * strides[a]] = block[row + inside * strides[a]];
            }
        }
    }
}

static float seen_from(const float* block, int cell) {
    static const float weight[3] = {0.125f, 0.75f, 0.125f};
    int x = cell % TILE_SIZE, y = cell / TILE_SIZE % TILE_SIZE, z = cell / TILE_SIZE / TILE_SIZE;
    float sum = 0.0f;
    for (int k = 0; k < 3; ++k) {
        for (int j = 0; j < 3; ++j) {
            for (int i = 0; i < 3; ++i) {
                float open = block[BLOCK_INDEX(1, 1, x + i - 1, y + j - 1, z + k - 1)];
                sum += weight[i] * weight[j] * weight[k] * open;
            }
        }
    }
    return sum; // [solid.8]
}

static void normalise_tiles(void* data, int64_t begin, int64_t end) {
    const open_job* job = data;
    float block[VALUES];
    for (int64_t t = begin; t < end; ++t) {
        gather_block(job->map, job->open, (tile_ix)t, 1, 1, block);
        mirror_sides(job, (tile_ix)t, block);
        float least = 1.0f;
        for (int i = 0; i < VALUES; ++i) {
            least = block[i] < least ? block[i] : least;
        }
        for (int i = 0; least < 1.0f && i < TILE_CELLS; ++i) {
            float seen = seen_from(block, i), volume = job->volume[t * TILE_CELLS + i];
            float fraction = volume / fmaxf(seen, OPEN_VOLUME_NONE);
            job->volume[t * TILE_CELLS + i] =
                seen >= OPEN_VOLUME_MIN ? fraction : fminf(fraction, 1.0f);
        }
    }
}

void open_volume_normalise(const grid_domain* domain, const tile_map* map, const float* cell_open,
                           float* cell_volume) {
    TREACLE_ASSERT(cell_open != NULL && cell_volume != NULL && cell_open != cell_volume);
    open_job job = {domain, map, cell_open, cell_volume};
    tile_for(map, &(tile_use){.reads = TILE_AROUND, .grain = 4, .writes = {{.at = cell_volume}}},
             normalise_tiles, &job);
}
