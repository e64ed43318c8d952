#include "step/step_work.h"

#include "step/carried_velocity.h"
#include "step/conduct_heat.h"
#include "step/extend_velocity.h"
#include "step/face_density.h"
#include "step/find_surface.h"
#include "step/law_viscosity.h"
#include "step/side_faces.h"
#include "step/solid_geometry.h"
#include "step/to_grid.h"
#include "step/to_particles.h"

void step_work_finish(step_work* w) {
    tile_history_finish(&w->made.history);
    pressure_system_destroy(&w->made.system);
}

treacle_status step_to_grid(step_work* w) {
    TREACLE_ASSERT(w->before != w->state && w->state->values != NULL);
    const step_frame* f = &w->f;
    const tile_map* map = &w->state->map;
    step_products* m = &w->made;
    TREACLE_TRY(to_grid(f, &m->poses, w->p, w->state, &m->given));
    TREACLE_TRY(material_grid_bring(f, map, w->p, &m->given, &m->material));
    TREACLE_TRY(flow_elastic_take(f, map, w->p, &m->elastic));
    bool comes_later = liquid_has_heat(f->setup) && !f->is_first; // when heat has done its work
    return comes_later ? TREACLE_OK : law_viscosity_add(f, w->state, w->p, &m->given, &m->material);
}

treacle_status step_solids(step_work* w) {
    TREACLE_ASSERT(w->made.given.volume != NULL || w->made.given.face_mass.at[0] == NULL);
    const step_frame* f = &w->f;
    const tile_map* map = &w->state->map;
    step_products* m = &w->made;
    TREACLE_TRY(solid_geometry_find(f, map, &m->poses, w->cache, &m->solid, &m->body));
    solid_geometry_normalise(f->setup->domain, map, &m->solid, m->given.volume);
    m->wet = (wet_faces){.domain = f->setup->domain,
                         .map = map,
                         .cell_phi = w->state->cell_phi,
                         .solid = &m->solid,
                         .liquid = &m->liquid};
    return arena_take_zero(f->scratch, (size_t)map->count + 1, sizeof(tile_mask), "known faces",
                           (void**)&m->wet.known);
}

treacle_status step_surface(step_work* w) {
    const step_frame* f = &w->f;
    step_products* m = &w->made;
    // The unified flow will want all fractions of the same surface.
    bool has_fractions = f->setup->def->flow == TREACLE_FLOW_UNIFIED;
    TREACLE_TRY(find_surface(f, w->p, &m->given, &m->solid, w->state));
    return find_surface_volume(f, w->state, &m->solid, has_fractions ? &m->liquid : NULL);
}

treacle_status step_faces(step_work* w) {
    TREACLE_ASSERT(w->state->cell_phi != NULL && w->made.wet.known != NULL);
    const step_frame* f = &w->f;
    const tile_map* map = &w->state->map;
    step_products* m = &w->made;
    const float* fraction = m->liquid.is_current ? m->liquid.fraction.cell : NULL;
    solid_geometry_close_holes(map, w->state->cell_phi, fraction, &m->solid);
    TREACLE_TRY(face_density_find(f, map, m->given.density, &m->material.face_rho));
    return extend_velocity_given(f, &m->wet, &m->given, NULL, w->state);
}

treacle_status step_geometry(step_work* w) {
    TREACLE_TRY(step_solids(w));
    TREACLE_TRY(step_surface(w));
    return step_faces(w);
}

treacle_status step_heat(step_work* w) {
    const step_frame* f = &w->f;
    step_products* m = &w->made;
    TREACLE_TRY(conduct_heat(f, &m->given, &m->poses, &m->solid, w->state, w->p));
    return liquid_has_heat(f->setup) ? law_viscosity_add(f, w->state, w->p, &m->given, &m->material)
                                     : TREACLE_OK;
}

run_flow_inputs step_flow_inputs(const step_work* w) {
    const step_products* m = &w->made;
    return (run_flow_inputs){.f = &w->f,
                             .wet = &m->wet,
                             .poses = &m->poses,
                             .history = &m->history,
                             .past_u = face_view_of(w->before->face_u),
                             .p = w->p,
                             .given = &m->given};
}

run_flow_outputs step_flow_outputs(step_work* w) {
    step_products* m = &w->made;
    return (run_flow_outputs){.state = w->state,
                              .solid = &m->solid,
                              .body = &m->body,
                              .bodies = w->bodies,
                              .liquid = &m->liquid,
                              .material = &m->material,
                              .elastic = &m->elastic,
                              .system = &m->system,
                              .account = &m->account,
                              .has_warned = w->has_warned};
}

treacle_status step_flow(step_work* w) {
    TREACLE_ASSERT(w->made.wet.map == &w->state->map);
    TREACLE_ASSERT(w->made.system.params.map == NULL);
    step_products* m = &w->made;
    run_flow_inputs takes = step_flow_inputs(w);
    run_flow_outputs makes = step_flow_outputs(w);
    TREACLE_TRY(extend_velocity_smoothly(&w->f, &m->wet, &m->given, &m->material, w->state));
    return run_flow(&takes, w->f.is_thin ? TREACLE_FLOW_PRESSURE : w->f.setup->def->flow, &makes);
}

treacle_status step_extrapolate(step_work* w, face_view give) {
    TREACLE_ASSERT(w->made.wet.map == &w->state->map);
    const step_frame* f = &w->f;
    step_products* m = &w->made;
    TREACLE_TRY(extend_velocity_found(f, &m->wet, &m->given, &m->material, &m->elastic, w->state));
    TREACLE_TRY(solid_geometry_slide(f, &m->poses, &m->solid, give, w->state));
    side_faces_bound(f->setup->domain, w->state);
    energy_account_flown(w->state, &m->given, &m->account);
    return TREACLE_OK;
}

treacle_status step_to_particles(step_work* w) {
    TREACLE_ASSERT(w->state->face_u.at[0] != NULL);
    const step_frame* f = &w->f;
    step_products* m = &w->made;
    int mark = arena_mark(f->scratch);
    free_flyers flyers;
    face_field u;
    TREACLE_TRY(free_flyers_find(f, w->state, w->p, &flyers));
    TREACLE_TRY(carried_velocity_find(f, &m->system, &m->wet, w->state, &u));
    TREACLE_TRY(to_particles(f, w->state, &m->given, &m->solid, u, &flyers, w->p));
    TREACLE_TRY(flow_elastic_end(f, &m->elastic, &flyers, w->p));
    arena_give_to(f->scratch, mark);
    return TREACLE_OK;
}
