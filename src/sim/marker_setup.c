// The marker as another kind of heat: of volume instead of heat capacity, and nothing melts.
#include <math.h>

#include "base/alloc.h"
#include "sim/heat_setup.h"

// Whether particles exchange any of it with each other or with what is around.
static bool flows(const treacle_sim_def* def) {
    bool spreads = false;
    for (int i = 0; i < def->material_count; ++i) {
        spreads = spreads || def->materials[i].marker_diffusivity > 0.0;
    }
    return (spreads || def->marker_source_count > 0 || def->marker.loss > 0.0) &&
           def->flow != TREACLE_FLOW_NONE;
}

static bool grows(const treacle_sim_def* def) {
    bool is_any = false;
    for (int i = 0; i < def->material_count; ++i) {
        is_any = is_any || def->materials[i].marker_rate > 0.0;
    }
    return is_any && def->flow != TREACLE_FLOW_NONE;
}

bool marker_is_on(const treacle_sim_def* def) {
    return flows(def) || grows(def);
}

static treacle_status check_source(treacle_context* ctx, const treacle_marker_source_def* def) {
    if (def->shape == NULL) {
        return check_fail(ctx, TREACLE_ERR_SCENE, "a source of the marker has no shape");
    }
    if (!isfinite(def->start) || !(def->stop >= def->start)) {
        return check_fail(ctx, TREACLE_ERR_SCENE,
                          "a source of the marker runs from %g s to %g s: expected a stop that is "
                          "not before the start",
                          def->start, def->stop);
    }
    return def->rate.count > 0
               ? curve_check(ctx, &def->rate, "the rate of a source of the marker")
               : curve_check(ctx, &def->value, "the value of a source of the marker");
}

treacle_status marker_check(treacle_context* ctx, const treacle_sim_def* def) {
    if (!isfinite(def->marker.air) || !(def->marker.loss >= 0.0 && isfinite(def->marker.loss))) {
        return check_fail(
            ctx, TREACLE_ERR_SCENE,
            "the marker has %g in the air and a loss of %g m/s: expected a number, and "
            "a loss >= 0",
            def->marker.air, def->marker.loss);
    }
    for (int i = 0; i < def->material_count; ++i) {
        const treacle_material_def* m = &def->materials[i];
        bool is_right = m->marker_diffusivity >= 0.0 && isfinite(m->marker_diffusivity) &&
                        m->marker_rate >= 0.0 && isfinite(m->marker_rate) &&
                        isfinite(m->marker_target);
        if (!is_right) {
            return check_fail(
                ctx, TREACLE_ERR_SCENE,
                "the marker of '%s' has a diffusivity of %g m^2/s, a rate of %g /s and "
                "a target of %g: expected numbers, the first two >= 0",
                m->name == NULL ? "a material" : m->name, m->marker_diffusivity, m->marker_rate,
                m->marker_target);
        }
    }
    for (int i = 0; i < def->marker_source_count; ++i) {
        TREACLE_TRY(check_source(ctx, &def->marker_sources[i]));
    }
    return TREACLE_OK;
}

static treacle_status make_materials(treacle_context* ctx, const treacle_sim_def* def,
                                     heat_setup* out) {
    size_t count = (size_t)def->material_count;
    out->material_count = def->material_count;
    out->capacity_unit = 1.0;
    TREACLE_TRY(alloc_zero(ctx, count, sizeof(*out->curve), "materials", (void**)&out->curve));
    float** floats[] = {&out->capacity, &out->latent, &out->conductivity};
    for (int k = 0; k < 3; ++k) {
        TREACLE_TRY(alloc_zero(ctx, count, sizeof(float), "materials", (void**)floats[k]));
    }
    for (size_t i = 0; i < count; ++i) {
        double k = def->materials[i].marker_diffusivity;
        out->curve[i].capacity = 1.0;
        out->capacity[i] = 1.0f;
        out->conductivity[i] = (float)k;
        out->diffusivity = fmax(out->diffusivity, k);
        out->least_diffusivity = i == 0 ? k : fmin(out->least_diffusivity, k);
        out->has_conductivities =
            out->has_conductivities || k != def->materials[0].marker_diffusivity;
    }
    return TREACLE_OK;
}

static treacle_status make_sources(treacle_context* ctx, const treacle_sim_def* def,
                                   heat_setup* out) {
    TREACLE_TRY(alloc_zero(ctx, (size_t)def->marker_source_count, sizeof(*out->sources),
                           "sources of the marker", (void**)&out->sources));
    out->source_count = def->marker_source_count;
    for (int i = 0; i < def->marker_source_count; ++i) {
        const treacle_marker_source_def* from = &def->marker_sources[i];
        heat_source* to = &out->sources[i];
        to->start = from->start;
        to->stop = from->stop;
        to->is_rate = from->rate.count > 0;
        TREACLE_TRY(shape_create(ctx, from->shape, &to->where));
        TREACLE_TRY(to->is_rate ? curve_copy(ctx, &from->rate, &to->power)
                                : curve_copy(ctx, &from->value, &to->temperature));
    }
    return TREACLE_OK;
}

treacle_status marker_setup_create(treacle_context* ctx, const treacle_sim_def* def,
                                   heat_setup* out) {
    *out = (heat_setup){.is_on = flows(def) && def->material_count > 0, .grows = grows(def)};
    treacle_status status = make_materials(ctx, def, out);
    if (status == TREACLE_OK) {
        status = make_sources(ctx, def, out);
    }
    if (status != TREACLE_OK) {
        heat_setup_destroy(ctx, out);
    }
    return status;
}
