// The liquid's surface, from its particles.
#include "grid/level_liquid.h"
#include "sim/liquid.h"

treacle_status liquid_surface(liquid_work* w) {
    const treacle_sim_def* def = w->setup->def;
    TREACLE_TRY(arena_take_zero(w->scratch, w->values, sizeof(float), "distance to the surface",
                                (void**)&w->cell_phi));
    tile_points points = liquid_points(w->p);
    level_kind kind = def->surface == TREACLE_SURFACE_SMOOTH ? LEVEL_SMOOTH : LEVEL_SPHERES;
    level_params params = {
        .domain = w->setup->domain,
        .map = &w->state->map,
        .points = &points,
        .kind = kind,
        .radius = level_radius_default(w->setup->domain, kind, def->particles.per_cell),
        .limit = LIQUID_DISTANCE_MAX,
    };
    for (size_t i = w->values - TILE_CELLS; i < w->values; ++i) {
        w->cell_phi[i] = LIQUID_DISTANCE_MAX; // the dummy tile is air
    }
    return level_liquid(&params, w->cell_phi);
}
