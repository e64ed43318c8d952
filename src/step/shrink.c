#include "step/shrink.h"

#include "grid/tile_loop.h"
#include "phys/shrinkage.h"
#include "step/to_grid.h"

static treacle_status take_column(const step_frame* f, const particles* p, size_t bytes,
                                  void* out) {
    return arena_take(f->scratch, (size_t)p->count, bytes, "sizes of particles", out);
}

typedef struct scale_job {
    const float* size;
    const particle_grid* given;
} scale_job;

static void scale_tiles(void* data, int64_t begin, int64_t end) {
    const scale_job* job = data;
    for (int64_t i = begin * TILE_CELLS; i < end * TILE_CELLS; ++i) {
        float size = job->size[i];
        if (size > 0.0f) {
            job->given->volume[i] *= size;
            job->given->density[i] /= size;
        }
        if (size > 0.0f && job->given->visible_volume != NULL) {
            job->given->visible_volume[i] *= size;
        }
    }
}

treacle_status shrink_to_grid(const step_frame* f, const tile_map* map, const particles* p,
                              particle_grid* given) {
    TREACLE_ASSERT(given->volume != NULL && given->log_size == NULL);
    if (!f->setup->has.shrinkage) {
        return TREACLE_OK;
    }
    TREACLE_TRY(take_column(f, p, sizeof(double), &given->log_size));
    shrinkage_log_sizes(f->setup->materials, p, given->log_size);
    int mark = arena_mark(f->scratch);
    float *column = NULL, *size = NULL;
    TREACLE_TRY(take_column(f, p, sizeof(float), &column));
    TREACLE_TRY(step_take_zero(f, map, "sizes at cells", &size));
    shrinkage_sizes(p, given->log_size, column);
    TREACLE_TRY(to_grid_column(f, map, p, &given->thin, column, size));
    scale_job job = {size, given};
    tile_for(map, &(tile_use){.reads = TILE_ANYWHERE, .grain = 8}, scale_tiles, &job);
    arena_give_to(f->scratch, mark);
    return TREACLE_OK;
}

treacle_status shrink_find(const step_frame* f, const tile_map* map, const solid_grid* solids,
                           const particles* p, particle_grid* given) {
    TREACLE_ASSERT(f->dt > 0.0 && given->swell == NULL);
    if (!f->setup->has.shrinkage) {
        return TREACLE_OK;
    }
    TREACLE_TRY(step_take_zero(f, map, "rates of shrinking", &given->swell));
    TREACLE_TRY(step_take_zero(f, map, "divergence that is asked for", &given->source));
    int mark = arena_mark(f->scratch);
    double* after = NULL;
    float* column = NULL;
    TREACLE_TRY(take_column(f, p, sizeof(double), &after));
    TREACLE_TRY(take_column(f, p, sizeof(float), &column));
    shrinkage_log_sizes(f->setup->materials, p, after);
    shrinkage_rates(p, given->log_size, after, f->dt, column);
    TREACLE_TRY(to_grid_column(f, map, p, &given->thin, column, given->swell));
    shrinkage_flow flow = {f->setup->domain, map, given->swell, solids->open};
    shrinkage_source(&flow, given->source);
    arena_give_to(f->scratch, mark);
    return TREACLE_OK;
}
