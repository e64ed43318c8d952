#include "step/liquid_state.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "grid/tile_loop.h"

enum { FIELDS = AXES + 2 };

treacle_status liquid_state_create(treacle_context* ctx, const grid_domain* domain,
                                   int64_t tile_count, const tile_coord* tiles, liquid_state* out) {
    TREACLE_ASSERT(tile_count >= 0 && (tiles != NULL || tile_count == 0));
    *out = (liquid_state){0};
    TREACLE_TRY(tile_map_create(ctx, domain, tile_count, tiles, &out->map));
    treacle_status status = liquid_state_fields(out, domain);
    if (status != TREACLE_OK) {
        liquid_state_destroy(out);
    }
    return status;
}

treacle_status liquid_state_fields(liquid_state* state, const grid_domain* domain) {
    TREACLE_ASSERT(state->map.ctx != NULL);
    TREACLE_ASSERT(state->values == NULL && state->cell_contact == NULL);
    size_t values = ((size_t)state->map.count + 1) * TILE_CELLS;
    void* block = NULL;
    TREACLE_TRY(
        alloc_zero(state->map.ctx, FIELDS * values, sizeof(float), "fields of the liquid", &block));
    state->values = block;
    if (domain->lets_go) {
        TREACLE_TRY(alloc_zero(state->map.ctx, values, 1, "walls of the liquid", &block));
        state->cell_contact = block;
    }
    for (int a = 0; a < AXES; ++a) {
        state->face_u.at[a] = state->values + (size_t)a * values;
    }
    state->cell_pressure = state->values + AXES * values;
    state->cell_phi = state->values + (AXES + 1) * values;
    for (size_t i = values - TILE_CELLS; i < values; ++i) {
        state->cell_phi[i] = LIQUID_DISTANCE_MAX; // the dummy tile is air
    }
    return TREACLE_OK;
}

treacle_status liquid_state_add_carried(liquid_state* state, uint32_t fields) {
    TREACLE_ASSERT(state->map.ctx != NULL);
    TREACLE_ASSERT(fields >> CARRIED_COUNT == 0);
    size_t values = ((size_t)state->map.count + 1) * TILE_CELLS;
    for (int f = 0; f < CARRIED_COUNT; ++f) {
        if ((fields >> f & 1u) != 0 && state->carried[f] == NULL) {
            TREACLE_TRY(alloc_zero(state->map.ctx, values, sizeof(float), "fields of the liquid",
                                   (void**)&state->carried[f]));
        }
    }
    return TREACLE_OK;
}

void liquid_state_destroy(liquid_state* state) {
    if (state->map.ctx == NULL) {
        return;
    }
    size_t values = ((size_t)state->map.count + 1) * TILE_CELLS;
    alloc_free(state->map.ctx, state->values, FIELDS * values * sizeof(float));
    alloc_free(state->map.ctx, state->cell_contact, values);
    for (int f = 0; f < CARRIED_COUNT; ++f) {
        alloc_free(state->map.ctx, state->carried[f], values * sizeof(float));
    }
    tile_map_destroy(&state->map);
    *state = (liquid_state){0};
}

static double fastest_of_tile(void* data, int64_t tile) {
    const liquid_state* state = data;
    float largest = 0.0f;
    for (int a = 0; a < AXES; ++a) {
        const float* u = state->face_u.at[a] + (size_t)tile * TILE_CELLS;
        for (int i = 0; i < TILE_CELLS; ++i) {
            largest = fabsf(u[i]) > largest ? fabsf(u[i]) : largest;
        }
    }
    return (double)largest;
}

double liquid_state_fastest(const liquid_state* state) {
    TREACLE_ASSERT(state->map.count == 0 || state->face_u.at[0] != NULL);
    if (state->map.count == 0) {
        return 0.0;
    }
    return tile_max(&state->map, fastest_of_tile, (void*)state);
}
