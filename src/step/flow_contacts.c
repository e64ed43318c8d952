#include "step/flow_contacts.h"

#include <math.h>

// A change of fewer walls than this fraction waits for the next step.
static const double fraction_that_waits = 0.01;
// The tolerance of pressures and speeds at contacts; the solve is no more exact.
static const double contact_tolerance = 1e-3;
enum { CONTACT_PASSES = 3 };

// Viscosity alone pushes no wall: the projections around it know them.
static bool is_asked(const flow_inputs* in, const flow_outputs* out) {
    return in->is_unified && out->contacts->count > 0;
}

treacle_status flow_contacts_begin(const flow_inputs* in, const flow_outputs* out,
                                   flow_contacts* loop) {
    TREACLE_ASSERT(out->contacts != NULL);
    *loop = (flow_contacts){0};
    if (is_asked(in, out)) {
        TREACLE_TRY(flow_take_faces(in, "velocity before the flow", &loop->before));
        flow_copy_faces(in, out->u, loop->before);
        separation_load(out->contacts, loop->before.at);
    }
    return TREACLE_OK;
}

void flow_contacts_set(const flow_inputs* in, const flow_outputs* out, flow_contacts* loop) {
    TREACLE_ASSERT(out->contacts != NULL && loop->pass >= 0);
    loop->pass += 1;
    if (is_asked(in, out)) {
        flow_copy_faces(in, loop->before, out->u);
        separation_hold(out->contacts, out->u.at);
    }
    contact_set_open(out->contacts, true, out->open.at);
}

static double least_of(const flow_outputs* out) {
    double largest = 0.0;
    for (int64_t i = 0; i < out->contacts->count; ++i) {
        const contact* at = &out->contacts->at[i];
        largest = fmax(largest, fmax(fabs(out->x[at->cell]), fabs(at->u_before)));
    }
    return contact_tolerance * largest;
}

void flow_contacts_judge(const flow_inputs* in, const flow_outputs* out,
                         const stress_params* liquid, flow_contacts* loop) {
    TREACLE_ASSERT(loop->pass > 0);
    TREACLE_ASSERT(out->open.at[0] != NULL);
    loop->is_over = true;
    contact_set_open(out->contacts, false, out->open.at);
    if (!is_asked(in, out)) {
        return;
    }
    double h = in->wet.domain->h;
    contact_flow flow = {.cell_fraction = liquid->cell_fraction,
                         .cell_log_mu = liquid->cell_log_mu,
                         .cell_impulse = out->x,
                         .face_u = face_view_of(out->u),
                         .face_fraction = liquid->face_fraction,
                         .mu_scale = in->frame.dt / (in->frame.setup->reference_density * h * h)};
    separation_measure(out->contacts, &flow);
    int64_t moved = separation_review(out->contacts, least_of(out));
    loop->is_over = loop->pass == CONTACT_PASSES ||
                    (double)moved <= fraction_that_waits * (double)out->contacts->count;
    if (loop->is_over) {
        separation_reduce_bounds(out->contacts);
    }
}
