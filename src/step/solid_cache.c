#include "step/solid_cache.h"

#include <string.h>

#include "base/alloc.h"
#include "grid/tile_loop.h"

enum { FIELDS = 2 + 2 * AXES };

static size_t values_of(const solid_cache* cache) {
    return ((size_t)cache->map.count + 1) * TILE_CELLS;
}

static solid_fields fields_of(const solid_cache* cache) {
    size_t values = values_of(cache);
    solid_fields out = {.cell_phi = cache->values,
                        .cell_id = cache->ids,
                        .cell_open = cache->values + values,
                        .cell_across = cache->across};
    for (int a = 0; a < AXES; ++a) {
        out.face_open.at[a] = cache->values + (size_t)(2 + a) * values;
        out.face_u.at[a] = cache->values + (size_t)(2 + AXES + a) * values;
    }
    return out;
}

solid_fields_before solid_cache_view(const solid_cache* cache) {
    TREACLE_ASSERT(cache->map.count == 0 || (cache->values != NULL && cache->ids != NULL));
    solid_fields_before out = {.map = &cache->map, .poses = cache->poses};
    if (cache->map.count > 0) {
        out.fields = fields_of(cache);
    }
    return out;
}

void solid_cache_clear(solid_cache* cache) {
    treacle_context* ctx = cache->map.ctx;
    if (ctx == NULL) {
        return;
    }
    alloc_free(ctx, cache->poses, (size_t)cache->count * sizeof(*cache->poses));
    alloc_free(ctx, cache->values, FIELDS * values_of(cache) * sizeof(float));
    alloc_free(ctx, cache->ids, values_of(cache) * sizeof(*cache->ids));
    alloc_free(ctx, cache->across, values_of(cache));
    tile_map_destroy(&cache->map);
    *cache = (solid_cache){0};
}

static treacle_status make(solid_cache* cache, const grid_domain* domain, const tile_map* map,
                           int count) {
    treacle_context* ctx = map->ctx;
    TREACLE_TRY(tile_map_create(ctx, domain, map->count, map->coord, &cache->map));
    size_t values = values_of(cache);
    cache->count = count;
    TREACLE_TRY(alloc_array(ctx, (size_t)count, sizeof(*cache->poses), "poses of solids",
                            (void**)&cache->poses));
    TREACLE_TRY(alloc_array(ctx, FIELDS * values, sizeof(float), "fields of solids",
                            (void**)&cache->values));
    TREACLE_TRY(
        alloc_array(ctx, values, sizeof(*cache->ids), "nearest solids", (void**)&cache->ids));
    return alloc_array(ctx, values, 1, "thin solids", (void**)&cache->across);
}

treacle_status solid_cache_keep(solid_cache* cache, const grid_domain* domain, const tile_map* map,
                                const solid_scene* scene, const solid_fields* fields) {
    TREACLE_ASSERT(scene->count > 0 && scene->poses != NULL);
    TREACLE_ASSERT(fields->cell_phi != NULL && fields->cell_id != NULL);
    TREACLE_ASSERT(map != &cache->map);
    solid_cache_clear(cache);
    treacle_status status = make(cache, domain, map, scene->count);
    if (status != TREACLE_OK) {
        solid_cache_clear(cache);
        return status;
    }
    const size_t bytes = TILE_CELLS * sizeof(float);
    solid_fields to = fields_of(cache);
    memcpy(cache->poses, scene->poses, (size_t)scene->count * sizeof(*cache->poses));
    tile_copy(map, to.cell_phi, fields->cell_phi, bytes);
    tile_copy(map, to.cell_open, fields->cell_open, bytes);
    tile_copy(map, to.cell_id, fields->cell_id, TILE_CELLS * sizeof(*to.cell_id));
    tile_copy(map, to.cell_across, fields->cell_across, TILE_CELLS);
    for (int a = 0; a < AXES; ++a) {
        tile_copy(map, to.face_open.at[a], fields->face_open.at[a], bytes);
        tile_copy(map, to.face_u.at[a], fields->face_u.at[a], bytes);
    }
    return TREACLE_OK;
}
