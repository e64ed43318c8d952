// Particles to grid, with what the flow asks of their material.
#include "sim/liquid.h"

#include "step/to_grid.h"

treacle_status liquid_column_to_grid(liquid_work* w, const float* column, float* to) {
    step_frame f = liquid_frame(w);
    return to_grid_column(&f, &w->state->map, w->p, &w->given.thin, column, to);
}

treacle_status liquid_to_grid(liquid_work* w) {
    step_frame f = liquid_frame(w);
    TREACLE_TRY(to_grid(&f, &w->poses, w->p, w->state, &w->given));
    if (liquid_is_viscous(w->setup)) {
        TREACLE_TRY(liquid_viscosity_to_grid(w));
    }
    TREACLE_TRY(liquid_elastic_begin(w));
    bool comes_later = liquid_has_heat(w->setup) && !w->is_first; // when heat has done its work
    return comes_later ? TREACLE_OK : liquid_find_viscosity(w);
}
