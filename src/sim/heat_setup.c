#include "sim/heat_setup.h"

#include <math.h>

#include "base/alloc.h"
#include "math/elementary.h"

// --- making ready --------------------------------------------------------------------------------

static heat_curve curve_of(const treacle_material_def* m) {
    bool has_end = m->freezing_solidus > 0.0, has_begin = m->freezing_liquidus > 0.0;
    return (heat_curve){.capacity = m->heat_capacity,
                        .latent = m->latent_heat,
                        .melt = {m->solidus, m->liquidus},
                        .freeze = {has_end ? m->freezing_solidus : m->solidus,
                                   has_begin ? m->freezing_liquidus : m->liquidus},
                        .reference = HEAT_REFERENCE};
}

static bool is_same_range(const heat_curve* a, const heat_curve* b) {
    return a->melt[0] == b->melt[0] && a->melt[1] == b->melt[1] && a->freeze[0] == b->freeze[0] &&
           a->freeze[1] == b->freeze[1];
}

static void fill_units(const treacle_sim_def* def, heat_setup* out) {
    const heat_curve* first = NULL;
    out->capacity_unit = def->materials[0].density * def->materials[0].heat_capacity;
    for (int i = 0; i < def->material_count; ++i) {
        const treacle_material_def* m = &def->materials[i];
        double volume_latent = m->density * m->latent_heat;
        out->latent_unit = fmax(out->latent_unit, volume_latent);
        double diffusivity = m->conductivity / (m->density * m->heat_capacity);
        out->diffusivity = fmax(out->diffusivity, diffusivity);
        out->least_diffusivity = i == 0 ? diffusivity : fmin(out->least_diffusivity, diffusivity);
        out->has_conductivities =
            out->has_conductivities || m->conductivity != def->materials[0].conductivity;
        if (volume_latent > 0.0) {
            first = first == NULL ? &out->curve[i] : first;
            out->has_ranges = out->has_ranges || !is_same_range(first, &out->curve[i]);
        }
    }
}

static treacle_status make_materials(treacle_context* ctx, const treacle_sim_def* def,
                                     heat_setup* out) {
    size_t count = (size_t)def->material_count;
    out->material_count = def->material_count;
    TREACLE_TRY(alloc_zero(ctx, count, sizeof(*out->curve), "materials", (void**)&out->curve));
    TREACLE_TRY(alloc_zero(ctx, count, sizeof(*out->law), "materials", (void**)&out->law));
    float** floats[] = {&out->capacity, &out->latent, &out->conductivity};
    for (int k = 0; k < 3; ++k) {
        TREACLE_TRY(alloc_zero(ctx, count, sizeof(float), "materials", (void**)floats[k]));
    }
    for (size_t i = 0; i < count; ++i) {
        const treacle_material_def* m = &def->materials[i];
        out->curve[i] = curve_of(m);
        out->conductivity[i] = (float)m->conductivity;
        TREACLE_TRY(viscosity_law_init(ctx, &m->viscosity_law, m->viscosity, &out->law[i]));
    }
    if (out->is_on) {
        fill_units(def, out);
    }
    for (size_t i = 0; i < count && out->is_on; ++i) {
        const treacle_material_def* m = &def->materials[i];
        out->capacity[i] = (float)(m->density * m->heat_capacity / out->capacity_unit);
        out->latent[i] =
            out->latent_unit > 0.0 ? (float)(m->density * m->latent_heat / out->latent_unit) : 0.0f;
    }
    return TREACLE_OK;
}

static treacle_status copy_some(treacle_context* ctx, const treacle_curve* from,
                                treacle_curve* out) {
    return from->count > 0 ? curve_copy(ctx, from, out) : TREACLE_OK;
}

static vec3 unit_of(vec3 v) {
    double length = vec3_length(v);
    return length > 0.0 ? vec3_scale(1.0 / length, v) : v;
}

static treacle_status make_sources(treacle_context* ctx, const treacle_sim_def* def,
                                   heat_setup* out) {
    TREACLE_TRY(alloc_zero(ctx, (size_t)def->heat_source_count, sizeof(*out->sources),
                           "heat sources", (void**)&out->sources));
    out->source_count = def->heat_source_count;
    for (int i = 0; i < def->heat_source_count; ++i) {
        const treacle_heat_source_def* from = &def->heat_sources[i];
        heat_source* to = &out->sources[i];
        to->start = from->start;
        to->stop = from->stop;
        to->aim = unit_of(vec3_from(from->aim));
        to->edge = elementary_cos(from->angle);
        to->is_shaded = from->shadows;
        if (from->shape != NULL) {
            TREACLE_TRY(shape_create(ctx, from->shape, &to->where));
        }
        TREACLE_TRY(copy_some(ctx, &from->place, &to->place));
        TREACLE_TRY(copy_some(ctx, &from->power, &to->power));
        TREACLE_TRY(copy_some(ctx, &from->temperature, &to->temperature));
    }
    return TREACLE_OK;
}

static treacle_status make_boundaries(treacle_context* ctx, const treacle_sim_def* def,
                                      heat_setup* out) {
    TREACLE_TRY(alloc_zero(ctx, (size_t)def->heat_wall_count, sizeof(*out->boundaries),
                           "heat walls", (void**)&out->boundaries));
    out->boundary_count = def->heat_wall_count;
    for (int i = 0; i < def->heat_wall_count; ++i) {
        const treacle_heat_wall_def* from = &def->heat_walls[i];
        heat_boundary* to = &out->boundaries[i];
        to->axis = (int)from->side / 2;
        to->end = (int)from->side % 2;
        to->contact = from->contact;
        TREACLE_TRY(copy_some(ctx, &from->temperature, &to->temperature));
        TREACLE_TRY(copy_some(ctx, &from->flux, &to->flux));
    }
    return TREACLE_OK;
}

static treacle_status make_solids(treacle_context* ctx, const treacle_sim_def* def,
                                  heat_setup* out) {
    int count = 0;
    for (int i = 0; i < def->solid_count; ++i) {
        bool heats = def->solids[i].temperature.count > 0 || def->solids[i].flux.count > 0;
        count = heats ? def->solid_count : count;
    }
    TREACLE_TRY(alloc_zero(ctx, (size_t)count, sizeof(*out->solids), "heat of solids",
                           (void**)&out->solids));
    out->solid_count = count;
    for (int i = 0; i < count; ++i) {
        const treacle_solid_def* from = &def->solids[i];
        out->solids[i].contact = from->contact;
        TREACLE_TRY(copy_some(ctx, &from->temperature, &out->solids[i].temperature));
        TREACLE_TRY(copy_some(ctx, &from->flux, &out->solids[i].flux));
    }
    return TREACLE_OK;
}

treacle_status heat_setup_create(treacle_context* ctx, const treacle_sim_def* def,
                                 const sim_plan* plan, heat_setup* out) {
    *out = (heat_setup){.is_on = plan->has_heat, .has_law = plan->has_law};
    treacle_status status;
    TREACLE_TRY_GOTO(make_materials(ctx, def, out), finish);
    TREACLE_TRY_GOTO(make_sources(ctx, def, out), finish);
    TREACLE_TRY_GOTO(make_boundaries(ctx, def, out), finish);
    TREACLE_TRY_GOTO(make_solids(ctx, def, out), finish);
finish:
    if (status != TREACLE_OK) {
        heat_setup_destroy(ctx, out);
    }
    return status;
}

static void free_boundaries(treacle_context* ctx, heat_boundary* boundaries, int count) {
    for (int i = 0; i < count; ++i) {
        curve_free(ctx, &boundaries[i].temperature);
        curve_free(ctx, &boundaries[i].flux);
    }
    alloc_free(ctx, boundaries, (size_t)count * sizeof(*boundaries));
}

void heat_setup_destroy(treacle_context* ctx, heat_setup* setup) {
    size_t count = (size_t)setup->material_count;
    for (int i = 0; i < setup->source_count; ++i) {
        shape_destroy(setup->sources[i].where);
        curve_free(ctx, &setup->sources[i].place);
        curve_free(ctx, &setup->sources[i].power);
        curve_free(ctx, &setup->sources[i].temperature);
    }
    free_boundaries(ctx, setup->boundaries, setup->boundary_count);
    free_boundaries(ctx, setup->solids, setup->solid_count);
    for (size_t i = 0; setup->law != NULL && i < count; ++i) {
        viscosity_law_finish(&setup->law[i]);
    }
    alloc_free(ctx, setup->sources, (size_t)setup->source_count * sizeof(*setup->sources));
    alloc_free(ctx, setup->curve, count * sizeof(*setup->curve));
    alloc_free(ctx, setup->law, count * sizeof(*setup->law));
    float* floats[] = {setup->capacity, setup->latent, setup->conductivity};
    for (int k = 0; k < 3; ++k) {
        alloc_free(ctx, floats[k], count * sizeof(float));
    }
    *setup = (heat_setup){0};
}

void heat_begin(const heat_setup* setup, const particles* p, particle_ix first) {
    TREACLE_ASSERT(first >= 0 && first <= p->count);
    TREACLE_ASSERT(!setup->is_on ||
                   (p->column[PARTICLE_TEMPERATURE] != NULL && p->column[PARTICLE_MELTED] != NULL &&
                    p->column[PARTICLE_ENTHALPY] != NULL));
    for (particle_ix i = first; setup->is_on && i < p->count; ++i) {
        const heat_curve* curve = &setup->curve[particles_material(p)[i]];
        double temperature = (double)particles_f32(p, PARTICLE_TEMPERATURE)[i];
        double melted = heat_curve_melted(curve, temperature, 0.0);
        particles_f32(p, PARTICLE_MELTED)[i] = (float)melted;
        particles_f64(p, PARTICLE_ENTHALPY)[i] =
            heat_curve_energy(curve, temperature, (double)(float)melted);
    }
}
