#include "step/flow_system.h"

#include "phys/contact_release.h"
#include "step/flow_yield.h"

treacle_status flow_slip_kinds(const flow_inputs* in, const slip_kind** out) {
    TREACLE_ASSERT(in->wet.solid->phi == NULL || in->frame.setup->solids.count > 0);
    const solid_set* set = &in->frame.setup->solids;
    slip_kind* slips = NULL;
    *out = NULL;
    if (in->wet.solid->phi == NULL) {
        return TREACLE_OK;
    }
    TREACLE_TRY(arena_take(in->frame.scratch, (size_t)set->count, sizeof(*slips), "walls of solids",
                           (void**)&slips));
    for (int i = 0; i < set->count; ++i) {
        const solid* s = &set->solids[i];
        slips[i] = (slip_kind){s->slip, s->slip_length / in->wet.domain->h};
    }
    *out = slips;
    return TREACLE_OK;
}

static treacle_status describe_slip(const flow_inputs* in, stress_params* to) {
    const solid_set* set = &in->frame.setup->solids;
    TREACLE_TRY(flow_slip_kinds(in, &to->slips));
    if (to->slips == NULL) {
        return TREACLE_OK;
    }
    for (int i = 0; i < set->count; ++i) {
        to->has_slip = to->has_slip || set->solids[i].slip != TREACLE_WALL_NO_SLIP;
    }
    to->poses = in->poses;
    to->cell_solid_phi = in->wet.solid->phi;
    to->cell_solid_id = in->wet.solid->id;
    to->bodies = in->bodies;
    return TREACLE_OK;
}

// --- where liquid has let go of solids ----------------------------------------------------------

static treacle_status take_release(const flow_inputs* in, contact_release_fields* to) {
    const char* what = "liquid without solids";
    size_t values = flow_values(in);
    TREACLE_TRY(flow_take(in, what, &to->cell_phi));
    TREACLE_TRY(
        arena_take(in->frame.scratch, values, sizeof(uint16_t), what, (void**)&to->cell_solid_id));
    TREACLE_TRY(arena_take(in->frame.scratch, 2 * values, 1, what, (void**)&to->cell_kind));
    TREACLE_TRY(flow_take_faces(in, what, &to->face_open));
    return flow_take_faces(in, what, &to->face_open_below);
}

// The velocity of the liquid goes on across what it has let go of.
static treacle_status leave_velocity(const flow_inputs* in, const contact_release_params* params,
                                     const contact_release_fields* fields, face_field u) {
    int mark = arena_mark(in->frame.scratch);
    face_field extended;
    TREACLE_TRY(flow_take_faces(in, "velocity beyond walls", &extended));
    flow_copy_faces(in, u, extended);
    TREACLE_TRY(wet_faces_extend_all(&in->wet, LIQUID_KERNEL_RADIUS, extended.at));
    face_view from = face_view_of(extended);
    contact_release_velocity(params, fields, from.at, u.at);
    arena_give_to(in->frame.scratch, mark);
    return TREACLE_OK;
}

// They are not there for the flow [sep.5].
static treacle_status leave_solids(const flow_inputs* in, const flow_outputs* out,
                                   const fraction_fields* fraction, stress_params* to) {
    contact_release_params params = {.domain = in->wet.domain,
                                     .map = in->wet.map,
                                     .contacts = out->contacts,
                                     .cell_phi = in->wet.cell_phi,
                                     .cell_solid_phi = in->wet.solid->phi,
                                     .cell_solid_id = in->wet.solid->id,
                                     .face_open = face_view_of(out->open)};
    contact_release_fields fields = {0};
    TREACLE_TRY(take_release(in, &fields));
    contact_release_compute(&params, &fields);
    to->cell_solid_id = fields.cell_solid_id;
    to->face_open = face_view_of(fields.face_open);
    to->face_open_below = face_view_of(fields.face_open_below);
    TREACLE_TRY(leave_velocity(in, &params, &fields, out->u));
    fraction_compute(&(fraction_params){params.domain, params.map, fields.cell_phi}, fraction);
    contact_release_trim(&params, &fields, fraction);
    return TREACLE_OK;
}

// --- all of it ----------------------------------------------------------------------------------

treacle_status flow_describe(const flow_inputs* in, const flow_outputs* out, liquid_grid* liquid,
                             stress_params* to) {
    TREACLE_ASSERT(liquid->fraction.cell != NULL);
    TREACLE_ASSERT(in->wet.solid->phi == NULL || in->poses != NULL);
    const fraction_fields* fraction = &liquid->fraction;
    bool has_tents = fraction->tent.at[0] != NULL;
    *to = (stress_params){
        .domain = in->wet.domain,
        .map = in->wet.map,
        .cell_fraction = fraction->cell,
        .edge_fraction = face_view_of(fraction->edge),
        .face_fraction = face_view_of(has_tents ? fraction->tent : fraction->face),
        .face_open = face_view_of(out->open),
        .face_rho = face_view_of(out->material->face_rho),
        .face_solid_u = face_view_of(in->wet.solid->face_u),
        .cell_log_mu = flow_yield_viscosity(out),
        .mean = in->frame.setup->def->viscosity_solve.mean,
        .stress = out->elastic->log_mu != NULL ? &out->elastic->stress : NULL,
        .cell_cut = out->material->cut,
        .dt = in->frame.dt,
        .reference_density = in->frame.setup->reference_density,
    };
    TREACLE_TRY(describe_slip(in, to));
    if (in->wet.solid->phi != NULL && contact_release_is_needed(out->contacts)) {
        TREACLE_TRY(leave_solids(in, out, fraction, to));
        liquid->is_current = false;
    } else if (!liquid->is_current) {
        fraction_params params = {in->wet.domain, in->wet.map, in->wet.cell_phi};
        fraction_compute(&params, fraction);
        liquid->is_current = true;
    }
    viscosity_grid viscosity = flow_viscosity(in, flow_yield_viscosity(out));
    return viscosity_spread(&viscosity);
}
