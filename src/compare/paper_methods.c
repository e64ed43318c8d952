#include "compare/paper_methods.h"

#include "compare/free_flight.h"
#include "compare/relax.h"
#include "compare/viscosity_comparator.h"
#include "phys/viscosity.h"
#include "step/flow.h"
#include "step/flow_room.h"

// They do without multigrid: so many times the iterations are allowed.
enum { PATIENCE = 20 };

// Another free surface than that of the fractions.
static treacle_status change_surface(const flow_inputs* in, const flow_outputs* out,
                                     liquid_grid* fraction, stress_params* liquid) {
    comparator_surface surface = {.domain = in->wet.domain,
                                  .map = in->wet.map,
                                  .cell_phi = in->wet.cell_phi,
                                  .kind = in->frame.setup->def->viscosity_solve.surface,
                                  .fraction = fraction->fraction};
    for (int a = 0; a < AXES && surface.kind == TREACLE_VISCOSITY_DIRICHLET; ++a) {
        const float* from = out->material->face_rho.at[a];
        float* rho = NULL;
        TREACLE_TRY(flow_take(in, "density of the air", &rho));
        for (size_t i = 0; i < flow_values(in); ++i) {
            rho[i] = from != NULL ? from[i] : 1.0f;
        }
        liquid->face_rho.at[a] = surface.face_rho.at[a] = rho;
    }
    comparator_fractions(&surface);
    return TREACLE_OK;
}

static treacle_status apply(const flow_inputs* in, const flow_outputs* out,
                            const viscosity_params* given, solve_stats* stats) {
    const treacle_viscosity_def* def = &in->frame.setup->def->viscosity_solve;
    comparator_params params = {.liquid = given->liquid,
                                .method = def->method,
                                .substeps = def->substeps,
                                .has_lagged_shear = def->surface == TREACLE_VISCOSITY_NICHOLS_HIRT,
                                .solve = given->solve};
    params.solve.max_iterations *= PATIENCE;
    int* substeps = &in->frame.stats->viscosity_substeps;
    if (!def->free_flight) {
        return comparator_apply(&params, out->u.at, substeps, stats);
    }
    free_flight_params flight_params = {.domain = in->wet.domain,
                                        .map = in->wet.map,
                                        .cell_phi = in->wet.cell_phi,
                                        .face_open = face_view_of(out->open),
                                        .face_rho = face_view_of(out->material->face_rho)};
    free_flight flight;
    TREACLE_TRY(free_flight_begin(&flight_params, out->u.at, &flight));
    treacle_status status = comparator_apply(&params, out->u.at, substeps, stats);
    if (status == TREACLE_OK) {
        free_flight_end(&flight, out->u.at);
    }
    free_flight_finish(&flight);
    return status;
}

other_methods paper_methods(const treacle_sim_def* def) {
    const treacle_viscosity_def* viscosity = &def->viscosity_solve;
    bool is_relaxed = def->pressure.method == TREACLE_PROJECTION_RELAX;
    bool has_surface = viscosity->surface != TREACLE_VISCOSITY_NATURAL;
    return (other_methods){
        .project = is_relaxed ? relax_pressure : NULL,
        .viscosity_step = viscosity->method == TREACLE_VISCOSITY_IMPLICIT ? NULL : apply,
        .cut = has_surface ? change_surface : NULL,
    };
}
