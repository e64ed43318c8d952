#include "step/correct_density.h"

#include "particles/particle_ranks.h"
#include "phys/even_spacing.h"
#include "phys/p2g.h"
#include "phys/volume.h"
#include "step/keep_out.h"

// Noise in the correction moves particles by far less than a cell.
#define TOLERANCE 1e-3

// With one density, no emitter and no wall that let go the pressure's own system serves; else its
// twin without.
static treacle_status spread(const step_frame* f, pressure_system* system,
                             const particle_grid* given, const solid_grid* solids, particles* p) {
    projection unit = {0};
    projection_params params = system->params;
    const contact_set* contacts = params.contacts;
    bool has_twin =
        params.face_rho.at[0] != NULL || (contacts != NULL && contact_set_released(contacts) > 0);
    params.solve.relative = TOLERANCE;
    params.solve.absolute = TOLERANCE;
    params.solve.is_warm = false;
    params.contacts = NULL;
    if (has_twin) {
        params.face_rho = (face_view){0};
        TREACLE_TRY(projection_create(&params, &unit));
    } else {
        TREACLE_TRY(pressure_system_ask(system));
        unit = system->projection;
        unit.params = &params;
    }
    volume_params volume = {&unit, given->volume, solids->open, given->firm, p};
    volume_stats stats;
    treacle_status status = volume_correct(&volume, &stats);
    f->stats->density_spread = stats.spread;
    if (has_twin) {
        projection_destroy(&unit);
    }
    return status;
}

// Below the resolution of cells: where densities differ [shift.1].
static treacle_status shift(const step_frame* f, const liquid_state* state, particles* p) {
    const tile_map* map = &state->map;
    float* volume = NULL;
    TREACLE_TRY(step_take(f, map, "volumes at nodes", &volume));
    const uint32_t columns =
        1u << PARTICLE_POSITION | 1u << PARTICLE_VOLUME | 1u << PARTICLE_MATERIAL;
    particle_ranks_halo(map, p, columns);
    p2g_params from = {.domain = f->setup->domain, .map = map, .from = p};
    TREACLE_TRY(p2g_node_volume(&from, volume));
    even_spacing_params params = {f->setup->domain, map, state->cell_phi, volume, p};
    even_spacing_move(&params);
    arena_give(f->scratch, volume);
    return TREACLE_OK;
}

treacle_status correct_density(const step_frame* f, pressure_system* system,
                               const liquid_state* state, const particle_grid* given,
                               const solid_grid* solids, const solid_poses* poses, particles* p) {
    TREACLE_ASSERT(system->params.map == &state->map);
    TREACLE_ASSERT(given->volume != NULL);
    TREACLE_ASSERT(f->setup->solids.count == 0 || (poses->from != NULL && poses->to != NULL));
    bool is_on = f->setup->def->density_correction;
    int mark = arena_mark(f->scratch);
    float* start = NULL;
    TREACLE_TRY(keep_out_begin(f, p, &start));
    if (is_on) {
        TREACLE_TRY(spread(f, system, given, solids, p));
    }
    if (is_on && f->setup->has.densities) {
        TREACLE_TRY(shift(f, state, p));
    }
    // Without the correction, too: emitters and periodic sides put liquid where solids are.
    const solid_poses at_end = {poses->to, poses->to};
    keep_out_move(f, &at_end, start, p);
    arena_give_to(f->scratch, mark);
    return TREACLE_OK;
}
