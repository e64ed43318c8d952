#include "sim/heat_setup.h"

#include <math.h>

#include "base/alloc.h"

// Whether there is one temperature everywhere at the start and in all that comes.
static bool is_even(const treacle_sim_def* def) {
    double first = 0.0;
    bool has_first = false, is_same = true;
    const int first_drop = def->liquid_count + def->emitter_count;
    for (int i = 0; i < first_drop + def->drop_count; ++i) {
        bool is_liquid = i < def->liquid_count;
        const treacle_field* field = is_liquid ? &def->liquids[i].temperature : NULL;
        double t = is_liquid        ? field->value_a[0]
                   : i < first_drop ? def->emitters[i - def->liquid_count].temperature
                                    : def->drops[i - first_drop].temperature;
        is_same = is_same && (field == NULL || field->kind == TREACLE_FIELD_CONSTANT) &&
                  (!has_first || t == first);
        first = t;
        has_first = true;
    }
    return is_same;
}

static bool heats(const treacle_solid_def* solid) {
    return solid->temperature.count > 0 || solid->flux.count > 0;
}

bool heat_is_on(const treacle_sim_def* def) {
    bool conducts = false;
    bool comes = def->heat_source_count > 0 || def->heat_wall_count > 0 || def->heat.loss > 0.0 ||
                 def->heat.emissivity > 0.0;
    for (int i = 0; i < def->solid_count; ++i) {
        comes = comes || heats(&def->solids[i]);
    }
    for (int i = 0; i < def->material_count; ++i) {
        conducts = conducts || def->materials[i].conductivity > 0.0;
    }
    return (comes || (conducts && !is_even(def))) && def->flow != TREACLE_FLOW_NONE;
}

bool heat_has_law(const treacle_sim_def* def) {
    bool has_law = false;
    for (int i = 0; i < def->material_count; ++i) {
        has_law = has_law || def->materials[i].viscosity_law.kind != TREACLE_LAW_NONE;
    }
    return has_law;
}

// --- checks --------------------------------------------------------------------------------------

static treacle_status check_material(treacle_context* ctx, const treacle_material_def* m) {
    const char* name = m->name == NULL ? "a material" : m->name;
    if (!(m->conductivity >= 0.0 && isfinite(m->conductivity))) {
        return check_fail(ctx, TREACLE_ERR_SCENE,
                          "conductivity of '%s' is %g W/(m K): expected a number >= 0", name,
                          m->conductivity);
    }
    if (!(m->heat_capacity > 0.0 && isfinite(m->heat_capacity))) {
        return check_fail(ctx, TREACLE_ERR_SCENE,
                          "heat_capacity of '%s' is %g J/(kg K): expected a number > 0, or no heat "
                          "would change its temperature",
                          name, m->heat_capacity);
    }
    if (!(m->latent_heat >= 0.0 && isfinite(m->latent_heat))) {
        return check_fail(ctx, TREACLE_ERR_SCENE,
                          "latent_heat of '%s' is %g J/kg: expected a number >= 0", name,
                          m->latent_heat);
    }
    return TREACLE_OK;
}

static treacle_status check_range(treacle_context* ctx, const treacle_material_def* m) {
    const char* name = m->name == NULL ? "a material" : m->name;
    if (m->latent_heat == 0.0) {
        return TREACLE_OK;
    }
    if (!(m->solidus > 0.0 && m->liquidus >= m->solidus && isfinite(m->liquidus))) {
        return check_fail(ctx, TREACLE_ERR_SCENE,
                          "'%s' melts from %g K to %g K: expected 0 < solidus <= liquidus", name,
                          m->solidus, m->liquidus);
    }
    double end = m->freezing_solidus == 0.0 ? m->solidus : m->freezing_solidus;
    double begin = m->freezing_liquidus == 0.0 ? m->liquidus : m->freezing_liquidus;
    if (!(end > 0.0 && end <= begin && end <= m->solidus && begin <= m->liquidus)) {
        return check_fail(ctx, TREACLE_ERR_SCENE,
                          "'%s' freezes from %g K to %g K and melts from %g K to %g K: freezing "
                          "must not be warmer than melting",
                          name, begin, end, m->solidus, m->liquidus);
    }
    return TREACLE_OK;
}

static treacle_status check_above_zero(treacle_context* ctx, const treacle_curve* curve,
                                       const char* what) {
    TREACLE_TRY(curve_check(ctx, curve, what));
    for (int i = 0; i < curve->count; ++i) {
        if (!(curve->keys[i].value[0] >= 0.0)) {
            return check_fail(ctx, TREACLE_ERR_SCENE, "%s is %g K at %g s, below absolute zero",
                              what, curve->keys[i].value[0], curve->keys[i].time);
        }
    }
    return TREACLE_OK;
}

static treacle_status check_source(treacle_context* ctx, const treacle_heat_source_def* def) {
    if (!isfinite(def->start) || !(def->stop >= def->start)) {
        return check_fail(ctx, TREACLE_ERR_SCENE,
                          "a heat source runs from %g s to %g s: expected a stop that is not "
                          "before the start",
                          def->start, def->stop);
    }
    if (def->shape == NULL) {
        TREACLE_TRY(curve_check(ctx, &def->place, "the place of a heat source"));
        return curve_check(ctx, &def->power, "the power of a heat source");
    }
    return def->power.count > 0
               ? curve_check(ctx, &def->power, "the power of a heat source")
               : check_above_zero(ctx, &def->temperature, "the temperature of a heat source");
}

static treacle_status check_wall(treacle_context* ctx, const treacle_heat_wall_def* def) {
    if ((int)def->side < 0 || (int)def->side >= 2 * AXES) {
        return check_fail(ctx, TREACLE_ERR_SCENE, "a heat wall is at side %d: expected 0 to 5",
                          (int)def->side);
    }
    if (!(def->contact > 0.0)) {
        return check_fail(ctx, TREACLE_ERR_SCENE,
                          "contact of a heat wall is %g W/(m^2 K): expected a number > 0",
                          def->contact);
    }
    return def->temperature.count > 0
               ? check_above_zero(ctx, &def->temperature, "the temperature of a heat wall")
               : curve_check(ctx, &def->flux, "the flux of a heat wall");
}

static treacle_status check_solid(treacle_context* ctx, const treacle_solid_def* def) {
    const char* name = def->name == NULL ? "a solid" : def->name;
    if (def->temperature.count > 0 && def->flux.count > 0) {
        return check_fail(ctx, TREACLE_ERR_SCENE,
                          "%s has a temperature and a flux of heat: expected one of them", name);
    }
    if (def->temperature.count > 0 && !(def->contact > 0.0)) {
        return check_fail(ctx, TREACLE_ERR_SCENE,
                          "contact of %s is %g W/(m^2 K): expected a number > 0", name,
                          def->contact);
    }
    if (def->temperature.count > 0) {
        return check_above_zero(ctx, &def->temperature, "the temperature of a solid");
    }
    return def->flux.count > 0 ? curve_check(ctx, &def->flux, "the flux of a solid") : TREACLE_OK;
}

treacle_status heat_check(treacle_context* ctx, const treacle_sim_def* def) {
    const treacle_heat_def* heat = &def->heat;
    bool is_right = heat->air >= 0.0 && isfinite(heat->air) && heat->loss >= 0.0 &&
                    isfinite(heat->loss) && heat->emissivity >= 0.0 && heat->emissivity <= 1.0;
    if (!is_right) {
        return check_fail(ctx, TREACLE_ERR_SCENE,
                          "heat has air at %g K, a loss of %g W/(m^2 K) and an emissivity of %g: "
                          "expected air not below absolute zero, loss >= 0, emissivity 0 to 1",
                          heat->air, heat->loss, heat->emissivity);
    }
    for (int i = 0; i < def->material_count; ++i) {
        const treacle_material_def* m = &def->materials[i];
        if (heat_is_on(def)) {
            TREACLE_TRY(check_material(ctx, m));
            TREACLE_TRY(check_range(ctx, m));
        }
        TREACLE_TRY(viscosity_law_check(ctx, &m->viscosity_law, m->name));
    }
    for (int i = 0; i < def->heat_source_count; ++i) {
        TREACLE_TRY(check_source(ctx, &def->heat_sources[i]));
    }
    for (int i = 0; i < def->heat_wall_count; ++i) {
        TREACLE_TRY(check_wall(ctx, &def->heat_walls[i]));
    }
    for (int i = 0; i < def->solid_count; ++i) {
        TREACLE_TRY(check_solid(ctx, &def->solids[i]));
    }
    return TREACLE_OK;
}

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
        if (from->shape != NULL) {
            TREACLE_TRY(shape_create(ctx, from->shape, &to->where));
        }
        TREACLE_TRY(copy_some(ctx, &from->place, &to->place));
        TREACLE_TRY(copy_some(ctx, &from->power, &to->power));
        TREACLE_TRY(copy_some(ctx, &from->temperature, &to->temperature));
    }
    return TREACLE_OK;
}

static treacle_status make_walls(treacle_context* ctx, const treacle_sim_def* def,
                                 heat_setup* out) {
    TREACLE_TRY(alloc_zero(ctx, (size_t)def->heat_wall_count, sizeof(*out->walls), "heat walls",
                           (void**)&out->walls));
    out->wall_count = def->heat_wall_count;
    for (int i = 0; i < def->heat_wall_count; ++i) {
        const treacle_heat_wall_def* from = &def->heat_walls[i];
        heat_wall* to = &out->walls[i];
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
        count = heats(&def->solids[i]) ? def->solid_count : count;
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
                                 heat_setup* out) {
    *out = (heat_setup){.is_on = heat_is_on(def) && def->material_count > 0,
                        .has_law = heat_has_law(def)};
    treacle_status status;
    TREACLE_TRY_GOTO(make_materials(ctx, def, out), finish);
    TREACLE_TRY_GOTO(make_sources(ctx, def, out), finish);
    TREACLE_TRY_GOTO(make_walls(ctx, def, out), finish);
    TREACLE_TRY_GOTO(make_solids(ctx, def, out), finish);
finish:
    if (status != TREACLE_OK) {
        heat_setup_destroy(ctx, out);
    }
    return status;
}

static void free_walls(treacle_context* ctx, heat_wall* walls, int count) {
    for (int i = 0; i < count; ++i) {
        curve_free(ctx, &walls[i].temperature);
        curve_free(ctx, &walls[i].flux);
    }
    alloc_free(ctx, walls, (size_t)count * sizeof(*walls));
}

void heat_setup_destroy(treacle_context* ctx, heat_setup* setup) {
    size_t count = (size_t)setup->material_count;
    for (int i = 0; i < setup->source_count; ++i) {
        shape_destroy(setup->sources[i].where);
        curve_free(ctx, &setup->sources[i].place);
        curve_free(ctx, &setup->sources[i].power);
        curve_free(ctx, &setup->sources[i].temperature);
    }
    free_walls(ctx, setup->walls, setup->wall_count);
    free_walls(ctx, setup->solids, setup->solid_count);
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
    for (particle_ix i = first; setup->is_on && i < p->count; ++i) {
        const heat_curve* curve = &setup->curve[particles_material(p)[i]];
        double temperature = (double)particles_f32(p, PARTICLE_TEMPERATURE)[i];
        double melted = heat_curve_melted(curve, temperature, 0.0);
        particles_f32(p, PARTICLE_MELTED)[i] = (float)melted;
        particles_f64(p, PARTICLE_ENTHALPY)[i] =
            heat_curve_energy(curve, temperature, (double)(float)melted);
    }
}
