#include "step/pressure_system.h"

#include <math.h>

// A divergence below this fraction of 1/dt is none: where a solve stops if its relative target asks
// for more, as in free fall, where the right-hand side is rounding.
#define DIVERGENCE_MIN 1e-6

static treacle_status find_contacts(const step_frame* f, const liquid_state* state,
                                    const solid_grid* grid, face_view face_rho, contact_set* out) {
    const grid_domain* domain = f->setup->domain;
    if (state->cell_contact == NULL) {
        return TREACLE_OK;
    }
    contact_params params = {.domain = domain,
                             .map = &state->map,
                             .cell_phi = state->cell_phi,
                             .face_rho = face_rho,
                             .face_open = face_view_of(grid->face_open),
                             .solids = {.solids = f->setup->solids.solids,
                                        .cell_phi = grid->phi,
                                        .cell_id = grid->id,
                                        .cell_open = grid->open,
                                        .face_u = face_view_of(grid->face_u)},
                             .cell_contact = state->cell_contact,
                             .is_first = f->is_first,
                             .has_shallow = f->setup->def->flow == TREACLE_FLOW_UNIFIED,
                             .pressure_unit = f->setup->reference_density * domain->h / f->dt};
    return contact_set_create(&params, out);
}

treacle_status pressure_system_create(const step_frame* f, const liquid_state* state,
                                      const solid_grid* grid, const body_grid* bodies,
                                      face_view face_rho, pressure_system* out) {
    TREACLE_ASSERT(f->dt > 0.0 && isfinite(f->dt));
    TREACLE_ASSERT(state->cell_phi != NULL && grid->face_open.at[0] != NULL);
    TREACLE_ASSERT(out->projection.params == NULL && out->contacts.ctx == NULL);
    const treacle_pressure_def* def = &f->setup->def->pressure;
    double h = f->setup->domain->h;
    TREACLE_TRY(find_contacts(f, state, grid, face_rho, &out->contacts));
    out->params = (projection_params){
        .domain = f->setup->domain,
        .map = &state->map,
        .cell_phi = state->cell_phi,
        .face_open = face_view_of(grid->face_open),
        .face_rho = face_rho,
        .face_solid_u = face_view_of(grid->face_u),
        .face_id = {bodies->solid[0], bodies->solid[1], bodies->solid[2]},
        .first_body = f->setup->solids.scripted_count,
        .solid_count = f->setup->solids.count,
        .contacts = out->contacts.ctx != NULL ? &out->contacts : NULL,
        .solve = {.norm = SOLVE_NORM_2,
                  .relative = def->tolerance,
                  .absolute = fmin(DIVERGENCE_MIN, def->tolerance) * h / f->dt,
                  .max_iterations = def->max_iterations,
                  .is_warm = true},
        .body_count = bodies->solve != NULL ? f->setup->bodies.count : 0,
        .bodies = bodies->solve,
        .other = f->setup->other.project,
    };
    // With one density for all it will be asked for in any case: later it would find worse blocks.
    bool can_wait =
        out->params.contacts == NULL && out->params.body_count == 0 && face_rho.at[0] != NULL;
    return can_wait ? TREACLE_OK : pressure_system_ask(out);
}

treacle_status pressure_system_ask(pressure_system* system) {
    TREACLE_ASSERT(system->params.map != NULL);
    bool is_there = system->projection.params != NULL;
    return is_there ? TREACLE_OK : projection_create(&system->params, &system->projection);
}

void pressure_system_destroy(pressure_system* system) {
    contact_set_destroy(&system->contacts);
    projection_destroy(&system->projection);
}

void pressure_system_keep_contacts(const step_frame* f, const pressure_system* system,
                                   liquid_state* out) {
    TREACLE_ASSERT(system->contacts.ctx == NULL || out->cell_contact != NULL);
    const contact_set* contacts = &system->contacts;
    if (contacts->ctx == NULL) {
        return;
    }
    contact_set_keep(contacts, &out->map, out->cell_contact);
    f->stats->walls_released = contact_set_released(contacts);
    f->stats->walls_held = contacts->count - f->stats->walls_released;
}
