// The last stage of a step: particles are spread evenly again.
#include <string.h>

#include "particles/particle_ranks.h"
#include "phys/p2g.h"
#include "phys/shift.h"
#include "sim/liquid.h"
#include "step/keep_out.h"

// With one density, no emitter and no wall that let go the pressure's own system serves; else its
// twin without.
static treacle_status correct(liquid_work* w) {
    projection unit = {0};
    projection_params unit_params = w->projection_params;
    unit_params.solve.relative = LIQUID_DENSITY_TOLERANCE;
    unit_params.solve.absolute = LIQUID_DENSITY_TOLERANCE;
    unit_params.solve.is_warm = false;
    bool has_twin = w->face_rho.at[0] != NULL || wall_set_released(&w->walls) > 0;
    unit_params.walls = NULL;
    if (has_twin) {
        memset(unit_params.face_rho.at, 0, sizeof(unit_params.face_rho.at));
        TREACLE_TRY(projection_create(&unit_params, &unit));
    } else {
        unit = w->projection;
        unit.params = &unit_params;
    }
    volume_params params = {&unit, w->given.volume, w->solid.open, w->p};
    volume_stats stats;
    treacle_status status = volume_correct(&params, &stats);
    w->stats->density_spread = stats.spread;
    if (has_twin) {
        projection_destroy(&unit);
    }
    return status;
}

// Below the resolution of cells: where densities differ [shift.1].
static treacle_status shift(liquid_work* w) {
    float* volume = NULL;
    TREACLE_TRY(
        arena_take(w->scratch, w->values, sizeof(float), "volumes at nodes", (void**)&volume));
    const uint32_t columns =
        1u << PARTICLE_POSITION | 1u << PARTICLE_VOLUME | 1u << PARTICLE_MATERIAL;
    particle_ranks_halo(w->setup->domain, &w->state->map, w->p, columns);
    p2g_params from = {.domain = w->setup->domain, .map = &w->state->map, .from = w->p};
    TREACLE_TRY(p2g_node_volume(&from, volume));
    shift_params params = {w->setup->domain, &w->state->map, w->state->cell_phi, volume, w->p};
    shift_particles(&params);
    arena_give(w->scratch, volume);
    return TREACLE_OK;
}

treacle_status liquid_correct_density(liquid_work* w) {
    if (!w->setup->def->density_correction) {
        return TREACLE_OK;
    }
    step_frame f = liquid_frame(w);
    int mark = arena_mark(w->scratch);
    float* start = NULL;
    TREACLE_TRY(keep_out_begin(&f, w->p, &start));
    TREACLE_TRY(correct(w));
    if (w->setup->has_densities) {
        TREACLE_TRY(shift(w));
    }
    keep_out_sweep(&f, &(solid_poses){w->poses.to, w->poses.to}, start, w->p);
    arena_give_to(w->scratch, mark);
    return TREACLE_OK;
}
