#include "step/step_frame.h"

treacle_status step_take(const step_frame* f, const tile_map* map, const char* name, float** out) {
    TREACLE_ASSERT(f->scratch != NULL && out != NULL);
    return arena_take(f->scratch, tile_map_values(map), sizeof(float), name, (void**)out);
}

treacle_status step_take_zero(const step_frame* f, const tile_map* map, const char* name,
                              float** out) {
    TREACLE_ASSERT(f->scratch != NULL && out != NULL);
    return arena_take_zero(f->scratch, tile_map_values(map), sizeof(float), name, (void**)out);
}

treacle_status step_take_faces(const step_frame* f, const tile_map* map, const char* name,
                               face_field* out) {
    for (int a = 0; a < AXES; ++a) {
        TREACLE_TRY(step_take(f, map, name, &out->at[a]));
    }
    return TREACLE_OK;
}

treacle_status step_take_faces_zero(const step_frame* f, const tile_map* map, const char* name,
                                    face_field* out) {
    for (int a = 0; a < AXES; ++a) {
        TREACLE_TRY(step_take_zero(f, map, name, &out->at[a]));
    }
    return TREACLE_OK;
}
