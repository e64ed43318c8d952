#include "step/face_density.h"

#include "grid/gather.h"
#include "grid/tile_loop.h"

typedef struct density_job {
    const tile_map* map;
    const float* cell_density;
    float* out;
    int axis;
} density_job;

static void find_tiles(void* data, int64_t begin, int64_t end) {
    const density_job* job = data;
    const int side = BLOCK_SIDE(1, 0), steps[AXES] = {1, side, side * side};
    for (int64_t t = begin; t < end; ++t) {
        float cell[BLOCK_VALUES(1, 0)];
        gather_block(job->map, job->cell_density, (tile_ix)t, 1, 0, cell);
        float* rho = job->out + (size_t)t * TILE_CELLS;
        for (int i = 0; i < TILE_CELLS; ++i) {
            int at = BLOCK_INDEX(1, 0, i % TILE_SIZE, i / TILE_SIZE % TILE_SIZE,
                                 i / TILE_SIZE / TILE_SIZE);
            float high = cell[at], low = cell[at - steps[job->axis]];
            float sum = low + high;
            rho[i] = low > 0.0f && high > 0.0f ? 0.5f * sum : sum > 0.0f ? sum : 1.0f;
        }
    }
}

treacle_status face_density_find(const step_frame* f, const tile_map* map,
                                 const float* cell_density, face_field* out) {
    TREACLE_ASSERT(cell_density != NULL ||
                   (!f->setup->has.densities && f->setup->emitter_count == 0));
    bool has_any =
        f->setup->has.densities || f->setup->has.shrinkage || f->setup->emitter_count > 0;
    *out = (face_field){0};
    for (int a = 0; a < AXES && has_any; ++a) {
        TREACLE_TRY(step_take_zero(f, map, "densities on faces", &out->at[a]));
        density_job job = {map, cell_density, out->at[a], a};
        tile_for(map, &(tile_use){.reads = TILE_AROUND, .grain = 4, .writes = {{.at = out->at[a]}}},
                 find_tiles, &job);
    }
    return TREACLE_OK;
}
