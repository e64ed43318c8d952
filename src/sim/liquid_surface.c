// The liquid's surface, from its particles or from the level set that carries it.
#include "sim/euler.h"
#include "step/find_surface.h"

treacle_status liquid_surface(liquid_work* w) {
    step_frame f = liquid_frame(w);
    bool is_tracked = w->euler != NULL && w->setup->def->fill != TREACLE_FILL_ALL;
    TREACLE_TRY(is_tracked ? euler_surface(w)
                           : find_surface(&f, w->p, &w->given, &w->solid, w->state));
    // The unified flow will want all fractions of the same surface.
    bool has_fractions = w->setup->def->flow == TREACLE_FLOW_UNIFIED && w->euler == NULL;
    return find_surface_volume(&f, w->state, &w->solid, has_fractions ? &w->liquid : NULL);
}
