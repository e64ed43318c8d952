#include "grid/tile_points.h"

tile_mask tile_points_mask(const tile_points* points, tile_ix i) {
    TREACLE_ASSERT(i >= 0 && i < points->tile_count);
    tile_mask mask = {{0}};
    for (int64_t p = points->tile_first[i]; p < points->tile_first[i + 1]; ++p) {
        tile_mask_add(&mask, tile_points_cell(points->position + AXES * p));
    }
    return mask;
}
