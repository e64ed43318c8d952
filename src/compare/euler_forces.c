#include "compare/euler_forces.h"

#include <string.h>

#include "compare/euler_boundary.h"
#include "compare/grid_strain.h"
#include "step/forces.h"

static grid_strain_params strain_of(const euler_work* e) {
    const step_work* w = e->w;
    return (grid_strain_params){.domain = w->f.setup->domain,
                                .map = &w->state->map,
                                .law = &w->f.setup->strain_laws[0],
                                .density = w->f.setup->materials[0].density,
                                .dt = w->f.dt};
}

treacle_status euler_push(euler_work* e) {
    TREACLE_ASSERT(e->w->state->face_u.at[0] != NULL);
    step_work* w = e->w;
    TREACLE_TRY(forces_push(&w->f, &w->made.given, w->bodies, w->state, &w->made.account));
    if (w->f.setup->has.elastic) {
        grid_strain_params params = strain_of(e);
        tensor_field strain = euler_strain(w->state);
        grid_strain_push(&params, &strain, w->state->face_u.at);
    }
    return euler_close_gaps(e);
}

// Before velocity is extrapolated: solids still have their own.
treacle_status euler_strain_step(euler_work* e) {
    TREACLE_ASSERT(e->w->f.dt > 0.0);
    step_work* w = e->w;
    if (!w->f.setup->has.elastic || w->f.is_first) {
        return TREACLE_OK;
    }
    tensor_field strain = euler_strain(w->state), before;
    flow_elastic* elastic = &w->made.elastic;
    int mark = arena_mark(w->f.scratch);
    for (int a = 0; a < AXES; ++a) {
        float** const rooms[] = {&before.cell[a], &before.edge[a], &elastic->stretch.cell[a],
                                 &elastic->stretch.edge[a], &elastic->spin[a]};
        for (size_t k = 0; k < sizeof(rooms) / sizeof(rooms[0]); ++k) {
            TREACLE_TRY(step_take_zero(&w->f, &w->state->map, "strain", rooms[k]));
        }
        memcpy(before.cell[a], strain.cell[a], tile_map_values(&w->state->map) * sizeof(float));
        memcpy(before.edge[a], strain.edge[a], tile_map_values(&w->state->map) * sizeof(float));
    }
    run_flow_inputs takes = step_flow_inputs(w);
    run_flow_outputs makes = step_flow_outputs(w);
    TREACLE_TRY(run_flow_stretch(&takes, &makes));
    grid_strain_params params = strain_of(e);
    grid_strain_motion motion = {&elastic->stretch, elastic->spin};
    grid_strain_advance(&params, &motion, &before, &strain);
    grid_strain_free_sides(&params, &strain);
    w->made.elastic = (flow_elastic){0};
    arena_give_to(w->f.scratch, mark);
    return TREACLE_OK;
}
