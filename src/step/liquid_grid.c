#include "step/liquid_grid.h"

treacle_status liquid_grid_take(arena* scratch, const tile_map* map, liquid_grid* out) {
    TREACLE_ASSERT(map->count >= 0 && scratch != NULL);
    if (out->fraction.cell != NULL) {
        return TREACLE_OK;
    }
    fraction_fields* f = &out->fraction;
    face_field* const faces[] = {&f->edge, &f->face, &f->tent};
    size_t values = tile_map_values(map);
    const char* name = "fractions of liquid";
    TREACLE_TRY(arena_take_zero(scratch, values, sizeof(float), name, (void**)&f->cell));
    for (int i = 0; i < 3 * AXES; ++i) {
        float** at = &faces[i / AXES]->at[i % AXES];
        TREACLE_TRY(arena_take_zero(scratch, values, sizeof(float), name, (void**)at));
    }
    return TREACLE_OK;
}
