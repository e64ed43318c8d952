#include "sim/sim_check.h"

#include "base/check.h"
#include "defs/def_check.h"
#include "defs/def_features.h"
#include "math/curve.h"

// A unified flow has one way to treat viscosity.
static treacle_status check_flow(treacle_context* ctx, const treacle_sim_def* def) {
    const treacle_viscosity_def* v = &def->viscosity_solve;
    bool is_comparator =
        v->method != TREACLE_VISCOSITY_IMPLICIT || v->surface != TREACLE_VISCOSITY_NATURAL;
    if (is_comparator && def->flow == TREACLE_FLOW_UNIFIED) {
        return check_fail(
            ctx, TREACLE_ERR_SCENE,
            "a unified flow takes the viscosity method 'implicit' and the surface 'natural' alone: "
            "choose those, or 'flow: split'");
    }
    bool has_belt = false;
    for (int n = 0; n < 2 * 3; ++n) {
        has_belt = has_belt || def->domain.surface_velocity[n / 2][n % 2].count > 0;
    }
    if (is_comparator && has_belt) {
        return check_fail(ctx, TREACLE_ERR_SCENE,
                          "with other methods of viscosity no side can move: choose the method "
                          "'implicit' and the surface 'natural'");
    }
    return TREACLE_OK;
}

// What has to be there, of parts that scene files cannot leave out.
static treacle_status check_parts(treacle_context* ctx, const treacle_sim_def* def) {
    for (int i = 0; i < def->marker_source_count; ++i) {
        const treacle_marker_source_def* source = &def->marker_sources[i];
        if (source->shape == NULL) {
            return check_fail(ctx, TREACLE_ERR_SCENE, "a source of the marker has no shape");
        }
        TREACLE_TRY(curve_check(ctx, source->rate.count > 0 ? &source->rate : &source->value,
                                "the rate or value of a source of the marker"));
    }
    for (int i = 0; i < def->heat_source_count; ++i) {
        const treacle_heat_source_def* source = &def->heat_sources[i];
        bool is_held = source->shape != NULL && source->power.count == 0;
        if (source->shape == NULL) {
            TREACLE_TRY(curve_check(ctx, &source->place, "the place of a heat source"));
        }
        TREACLE_TRY(curve_check(ctx, is_held ? &source->temperature : &source->power,
                                "the power or temperature of a heat source"));
    }
    for (int i = 0; i < def->heat_wall_count; ++i) {
        const treacle_heat_wall_def* side = &def->heat_walls[i];
        TREACLE_TRY(curve_check(ctx, side->temperature.count > 0 ? &side->temperature : &side->flux,
                                "the temperature or flux of a heat wall"));
    }
    return curve_check(ctx, &def->gravity, "gravity");
}

treacle_status sim_check_def(treacle_context* ctx, const treacle_sim_def* def) {
    if (def->def_size != sizeof(*def)) {
        return check_fail(ctx, TREACLE_ERR_USAGE,
                          "def_size of the simulation is %zu: expected %zu, as set by "
                          "treacle_sim_def_default()",
                          def->def_size, sizeof(*def));
    }
    TREACLE_TRY(def_check(ctx, def));
    TREACLE_TRY(check_flow(ctx, def));
    return check_parts(ctx, def);
}
