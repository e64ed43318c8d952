// The fields of the last step's solids: what has not moved need not be found again. Not state:
// what it gives is what would be found without it.
#pragma once

#include "grid/tile_map.h"
#include "phys/solid_fields.h"

typedef struct solid_cache {
    tile_map map;
    int count;         // solids
    solid_pose* poses; // [count]
    float* values;     // one block for all fields but the ids
    uint16_t* ids;
    uint8_t* across;
} solid_cache;

/// As the law wants it; valid while the cache is unchanged.
solid_fields_before solid_cache_view(const solid_cache* cache);
/// Keeps the fields of a map and the poses that they are of. An empty cache on error.
treacle_status solid_cache_keep(solid_cache* cache, const grid_domain* domain, const tile_map* map,
                                const solid_scene* scene,
                                const solid_fields* fields) TREACLE_NODISCARD;
/// Harmless on a zeroed cache, and twice.
void solid_cache_clear(solid_cache* cache);
