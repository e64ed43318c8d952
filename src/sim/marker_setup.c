// The marker as another kind of heat: of volume instead of heat capacity, and nothing melts.
#include <math.h>

#include "base/alloc.h"
#include "sim/heat_setup.h"

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
                                   const sim_plan* plan, heat_setup* out) {
    *out = (heat_setup){.is_on = plan->marker_flows, .grows = plan->marker_grows};
    treacle_status status = make_materials(ctx, def, out);
    if (status == TREACLE_OK) {
        status = make_sources(ctx, def, out);
    }
    if (status != TREACLE_OK) {
        heat_setup_destroy(ctx, out);
    }
    return status;
}
