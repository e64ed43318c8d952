// The density correction's target at walls. A cell sees the volume c of particles through the
// linear kernel, which reaches one cell to each side. In a cell beside a solid even evenly spread
// liquid gives less than 1. What it could give is the kernel's integral over what is outside of
// solids,
//
//     c_0 = int over the outside of  prod over a of (1 - |x_a|) dx,                       [solid.8]
//
// mirrored at sides of the domain as c is. Then c / c_0 takes the place of c [vol.1]. The integral
// must be that of the very kernel: were the outside taken to be spread evenly in each cell, c_0
// would be off by up to 0.03 in cells that a wall cuts, too little above their middle and too much
// below; and since cells that are mostly solid are corrected only if they are too full, liquid
// would be driven off its walls and swell.
//
// Staggering: cells. Properties that tests check: without solids nothing changes; evenly spread
// particles beside a wall, wherever it cuts the cells, give 1.
#include "phys/open_volume.h"

#include <math.h>

#include "grid/tile_ranks.h"

typedef struct open_job {
    const float* room;
    float* volume;
} open_job;

static void normalise_tiles(void* data, int64_t begin, int64_t end, int worker) {
    const open_job* job = data;
    (void)worker;
    for (int64_t i = begin * TILE_CELLS; i < end * TILE_CELLS; ++i) {
        float seen = job->room[i], share = job->volume[i] / fmaxf(seen, OPEN_VOLUME_NONE);
        job->volume[i] = seen >= OPEN_VOLUME_MIN ? share : fminf(share, 1.0f);
    }
}

void open_volume_normalise(const tile_map* map, const float* cell_room, float* cell_volume) {
    open_job job = {cell_room, cell_volume};
    tile_for(map, 4, normalise_tiles, &job);
    tile_share_field(map, cell_volume);
}
