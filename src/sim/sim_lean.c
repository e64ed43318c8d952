// What ranks can do with their own tiles alone. Whatever makes a loop look at all tiles or all
// particles stands here, until that loop has learned to do without.
#include "defs/def_features.h"
#include "sim/sim_internal.h"

static bool is_material_lean(const treacle_material_def* m) {
    return !(strain_law_of(&m->elastic).modulus > 0.0) && m->merges && m->expansion == 0.0 &&
           m->marker_buoyancy == 0.0;
}

static bool is_flow_lean(const treacle_sim_def* def) {
    return def->pressure.method != TREACLE_PROJECTION_RELAX &&
           def->viscosity_solve.method == TREACLE_VISCOSITY_IMPLICIT &&
           def->viscosity_solve.surface == TREACLE_VISCOSITY_NATURAL &&
           def->fill == TREACLE_FILL_PARTICLES && def->step.splitting == TREACLE_SPLITTING_FIRST;
}

bool sim_can_be_lean(const treacle_sim_def* def, const grid_domain* domain) {
    bool is_lean = is_flow_lean(def) && !domain->lets_go && def->body_count == 0 &&
                   def->solid_count == 0 && !def_has_heat(def) && !def_has_law(def) &&
                   !def_marker_flows(def) && !def_marker_grows(def);
    for (int i = 0; i < def->material_count; ++i) {
        is_lean = is_lean && is_material_lean(&def->materials[i]);
    }
    return is_lean;
}
