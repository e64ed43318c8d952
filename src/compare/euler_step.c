// The stages of liquid on the grid: where they differ from those of particles they are in this
// folder, all others are those of src/step.
#include "compare/euler_step.h"

#include "compare/euler_carry.h"
#include "compare/euler_finish.h"
#include "compare/euler_forces.h"
#include "compare/euler_tiles.h"
#include "compare/euler_touch.h"
#include "compare/euler_track.h"
#include "step/find_surface.h"

static treacle_status find_geometry(euler_work* e) {
    step_work* w = e->w;
    step_products* m = &w->made;
    TREACLE_TRY(step_solids(w));
    if (w->f.setup->def->fill == TREACLE_FILL_ALL) {
        find_surface_nowhere(w->state);
    } else {
        TREACLE_TRY(euler_surface(e));
    }
    m->wet.surface = euler_surface_of(e);
    m->wet.surface_reach = LEVEL_LIMIT;
    TREACLE_TRY(find_surface_volume(&w->f, w->state, &m->solid, NULL));
    return step_faces(w);
}

// Velocity goes on into the air; walls that give way take what comes.
static treacle_status extrapolate_velocity(euler_work* e) {
    return step_extrapolate(e->w, face_view_of(e->face_give));
}

treacle_status euler_step(const stage_run* r, euler_work* e) {
    step_work* w = e->w;
    step_products* m = &w->made;
    const step_frame* f = &w->f;
    STAGE(ENERGY, energy_account_begin(f, w->p, w->bodies, &m->account));
    STAGE(SOLIDS, move_solids(f, w->before, w->bodies, &m->poses));
    STAGE(ENERGY, energy_account_moved(f, w->p, w->bodies, &m->poses, &m->account));
    STAGE(ADVECT, euler_track(e));
    STAGE(EMIT, euler_find_room(e));
    STAGE(EMIT, euler_emit(e));
    STAGE(TILES, euler_build_tiles(e));
    STAGE(TO_GRID, euler_carry(e));
    STAGE(GEOMETRY, find_geometry(e));
    STAGE(FORCES, euler_push(e));
    STAGE(HEAT, step_heat(w));
    STAGE(FLOW, step_flow(w));
    STAGE(TO_PARTICLES, euler_strain_step(e));
    STAGE(EXTRAPOLATE, extrapolate_velocity(e));
    STAGE(TO_PARTICLES, euler_finish(e));
    STAGE(ENERGY, energy_account_end_on_grid(f, w->bodies, &m->account));
    return TREACLE_OK;
}

treacle_status euler_first_step(const stage_run* r, euler_work* e) {
    step_work* w = e->w;
    STAGE(SOLIDS, move_solids(&w->f, w->before, w->bodies, &w->made.poses));
    STAGE(ADVECT, euler_track(e));
    STAGE(TILES, euler_build_tiles(e));
    STAGE(TO_GRID, euler_carry(e));
    STAGE(GEOMETRY, find_geometry(e));
    STAGE(FLOW, step_flow(w));
    STAGE(EXTRAPOLATE, extrapolate_velocity(e));
    STAGE(TO_PARTICLES, euler_finish(e));
    return TREACLE_OK;
}
