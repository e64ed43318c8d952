#include "step/flow.h"

#include "step/flow_contacts.h"
#include "step/flow_solver.h"
#include "step/flow_tension.h"
#include "step/flow_yield.h"

typedef struct flow_loops {
    flow_contacts contacts;
    flow_rheology rheology;
    flow_yield yield;
    flow_solver solver;
} flow_loops;

// What is not linear in a flow, each loop around all that follows from it:
//
//     until few contacts change sides:                                                   [sep.4]
//         begin from the velocity before the flow, held by the contacts that hold
//         until the velocity is that whose shear the viscosity is of:            [rheo.4, rheo.7]
//             viscosity at the shear that was found
//             until material yields as far as the stretch says:                       [elastic.2]
//                 elastic stress and stiffness at the stretch that was found
//                 solve A u + B^T p = f, B u = h                                       [stokes.1]
//
// The split flow asks no contacts here, and solves for u alone [visc.1].
static treacle_status find(const flow_inputs* in, const flow_outputs* out, flow_loops* l) {
    do {
        flow_contacts_set(in, out, &l->contacts);
        TREACLE_TRY(flow_rheology_start(in, out, &l->rheology));
        do {
            flow_rheology_set(in, out, &l->rheology);
            flow_yield_start(in, out, &l->yield);
            do {
                TREACLE_TRY(flow_yield_set(in, out, &l->yield));
                TREACLE_TRY(flow_solver_set(in, out, &l->rheology, &l->solver));
                TREACLE_TRY(flow_solver_run(in, out, &l->rheology, &l->solver));
                TREACLE_TRY(flow_yield_judge(in, out, &l->yield));
            } while (!l->yield.is_over);
            if (l->solver.is_lost) {
                flow_rheology_retreat(in, out, &l->rheology);
            } else {
                flow_rheology_judge(in, out, l->solver.is_exact, &l->rheology);
            }
        } while (!l->rheology.is_over);
        TREACLE_TRY(flow_solver_judge(in));
        flow_contacts_judge(in, out, &l->solver.params.liquid, &l->contacts);
    } while (!l->contacts.is_over);
    return TREACLE_OK;
}

treacle_status flow_find(const flow_inputs* in, const flow_outputs* out) {
    TREACLE_ASSERT(in->frame.dt > 0.0 && isfinite(in->frame.dt));
    TREACLE_ASSERT(out->u.at[0] != NULL && out->u.at[1] != NULL && out->u.at[2] != NULL);
    TREACLE_ASSERT(in->wet.map != NULL && in->wet.solid != NULL && in->given != NULL);
    TREACLE_ASSERT(out->material->log_mu != NULL);
    TREACLE_ASSERT(!in->is_unified || (out->x != NULL && out->liquid->fraction.cell != NULL));
    flow_loops loops;
    tension_params surface;
    int mark = arena_mark(in->frame.scratch);
    TREACLE_TRY(flow_contacts_begin(in, out, &loops.contacts));
    TREACLE_TRY(flow_rheology_begin(in, out, &loops.rheology));
    TREACLE_TRY(flow_yield_begin(in, out, &loops.yield));
    TREACLE_TRY(flow_tension_find(in, &surface));
    flow_solver_begin(in, &loops.solver);
    loops.solver.tension = surface.cell_kappa != NULL ? &surface : NULL;
    treacle_status status = find(in, out, &loops);
    flow_solver_finish(&loops.solver);
    arena_give_to(in->frame.scratch, mark);
    return status;
}
