#include "step/build_tiles.h"

#include <math.h>

#include "grid/tile_band.h"
#include "grid/tile_ranks.h"
#include "step/partition_tiles.h"

treacle_status build_tiles_fields(const step_frame* f, const liquid_state* before,
                                  liquid_state* out, tile_history* history) {
    TREACLE_ASSERT(out->map.ctx == f->ctx && out->values == NULL);
    TREACLE_ASSERT(before != out);
    TREACLE_TRY(liquid_state_fields(out, f->setup->domain));
    TREACLE_TRY(tile_history_find(&before->map, &out->map, f->scratch, history));
    tile_history_remap(history, before->cell_pressure, out->cell_pressure,
                       TILE_CELLS * sizeof(float));
    if (out->cell_contact != NULL && before->cell_contact != NULL) {
        tile_history_remap(history, before->cell_contact, out->cell_contact, TILE_CELLS);
    }
    return TREACLE_OK;
}

treacle_status build_tiles(const step_frame* f, const liquid_state* before, uint64_t* rank_key,
                           particles* p, liquid_state* out, tile_history* history) {
    TREACLE_ASSERT(before != out && out->map.ctx == NULL);
    TREACLE_ASSERT(f->setup->def->step.cfl > 0.0);
    const grid_domain* domain = f->setup->domain;
    int band = (int)ceil(f->setup->def->step.cfl) + LIQUID_KERNEL_RADIUS + 1;
    TREACLE_TRY(partition_tiles(f, rank_key, p));
    if (f->setup->def->fill == TREACLE_FILL_ALL) {
        TREACLE_TRY(tile_band_whole(f->ctx, domain, &out->map));
    } else {
        tile_points points = particles_points(p);
        TREACLE_TRY(tile_band_create(f->ctx, domain, &points,
                                     band < TILE_BAND_MAX ? band : TILE_BAND_MAX, &out->map));
    }
    TREACLE_TRY(tile_ranks_create(p->owners, &out->map));
    return build_tiles_fields(f, before, out, history);
}
