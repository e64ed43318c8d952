#include "defs/def_features.h"

#include <math.h>
#include <stddef.h>

#include "base/check.h"

// --- heat ----------------------------------------------------------------------------------------

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

bool def_has_heat(const treacle_sim_def* def) {
    bool conducts = false;
    bool comes = def->heat_source_count > 0 || def->heat_wall_count > 0 || def->heat.loss > 0.0 ||
                 def->heat.emissivity > 0.0;
    for (int i = 0; i < def->solid_count; ++i) {
        const treacle_solid_def* solid = &def->solids[i];
        comes = comes || solid->temperature.count > 0 || solid->flux.count > 0;
    }
    for (int i = 0; i < def->material_count; ++i) {
        conducts = conducts || def->materials[i].conductivity > 0.0;
    }
    return (comes || (conducts && !is_even(def))) && def->flow != TREACLE_FLOW_NONE;
}

bool def_has_law(const treacle_sim_def* def) {
    bool has_law = false;
    for (int i = 0; i < def->material_count; ++i) {
        has_law = has_law || def->materials[i].viscosity_law.kind != TREACLE_LAW_NONE;
    }
    return has_law;
}

// --- the marker ----------------------------------------------------------------------------------

bool def_marker_flows(const treacle_sim_def* def) {
    bool spreads = false;
    for (int i = 0; i < def->material_count; ++i) {
        spreads = spreads || def->materials[i].marker_diffusivity > 0.0;
    }
    return (spreads || def->marker_source_count > 0 || def->marker.loss > 0.0) &&
           def->flow != TREACLE_FLOW_NONE;
}

bool def_marker_grows(const treacle_sim_def* def) {
    bool is_any = false;
    for (int i = 0; i < def->material_count; ++i) {
        is_any = is_any || def->materials[i].marker_rate > 0.0;
    }
    return is_any && def->flow != TREACLE_FLOW_NONE;
}

// --- what springs back ---------------------------------------------------------------------------

void def_elastic_to_words(treacle_elastic_def* e) {
    TREACLE_ASSERT(e->shear_modulus >= 0.0 || !isnan(e->mu_e));
    e->shear_modulus = isnan(e->mu_e) ? e->shear_modulus : 0.5 * e->mu_e;
    e->relaxation_time = isnan(e->alpha) ? e->relaxation_time : 1.0 / e->alpha;
    e->yield_stress = isnan(e->gamma) ? e->yield_stress : sqrt(2.0) * e->gamma * e->shear_modulus;
    e->mu_e = e->alpha = e->gamma = NAN;
}

// --- surface tension -----------------------------------------------------------------------------

// m^2/s^4, the least of the squared gravity between two keys.
static double least_between(const double one[3], const double two[3]) {
    double way = 0.0, back = 0.0, least = 0.0;
    for (int a = 0; a < 3; ++a) {
        way += (two[a] - one[a]) * (two[a] - one[a]);
        back -= one[a] * (two[a] - one[a]);
    }
    double part = way > 0.0 ? fmin(fmax(back / way, 0.0), 1.0) : 0.0;
    for (int a = 0; a < 3; ++a) {
        double at = one[a] + part * (two[a] - one[a]);
        least += at * at;
    }
    return least;
}

static double least_gravity(const treacle_sim_def* def) {
    const treacle_curve* g = &def->gravity;
    double least = g->count > 0 ? INFINITY : 0.0;
    for (int i = 0; i < g->count; ++i) {
        const treacle_key* next = &g->keys[i + 1 < g->count ? i + 1 : i];
        least = fmin(least, least_between(g->keys[i].value, next->value));
    }
    return sqrt(least);
}

double def_tension_ratio(const treacle_sim_def* def, const treacle_material_def* material) {
    double h = def->domain.cell, k = 0.5 * 3.14159265358979323846 / h;
    TREACLE_ASSERT(h > 0.0);
    double weight = material->density * least_gravity(def);
    double pull = material->surface_tension * k * k;
    return pull > 0.0 ? pull / weight : 0.0; // [tension.9]
}

bool def_has_tension(const treacle_sim_def* def) {
    bool is_any = false;
    for (int i = 0; i < def->material_count; ++i) {
        is_any = is_any || def_tension_ratio(def, &def->materials[i]) >= DEF_TENSION_LEAST;
    }
    return is_any && def->flow != TREACLE_FLOW_NONE;
}

// Whether the flow is the unified one, chosen or by what `auto` makes of the rest.
static bool is_unified(const treacle_sim_def* def) {
    bool is_auto = def->flow == TREACLE_FLOW_AUTO && !def->flip_from_viscosity &&
                   def->viscosity_solve.method == TREACLE_VISCOSITY_IMPLICIT &&
                   def->viscosity_solve.surface == TREACLE_VISCOSITY_NATURAL;
    return def->flow == TREACLE_FLOW_UNIFIED || is_auto;
}

bool def_is_beyond_tension(const treacle_sim_def* def) {
    return def_has_tension(def) && !is_unified(def);
}

// --- what shrinks and breaks ---------------------------------------------------------------------

static bool def_shrinks(const treacle_sim_def* def) {
    bool is_any = false;
    for (int i = 0; i < def->material_count; ++i) {
        const treacle_shrinkage_def* s = &def->materials[i].shrinkage;
        is_any = is_any || s->cooling > 0.0 || s->drying > 0.0;
    }
    return is_any;
}

static bool def_breaks(const treacle_sim_def* def) {
    bool is_any = false;
    for (int i = 0; i < def->material_count; ++i) {
        is_any = is_any || def->materials[i].elastic.strength > 0.0;
    }
    return is_any;
}

bool def_is_beyond_cracks(const treacle_sim_def* def) {
    return def_breaks(def) && def->flow != TREACLE_FLOW_NONE && !is_unified(def);
}

// --- liquid on the grid --------------------------------------------------------------------------

static bool is_marker_used(const treacle_sim_def* def) {
    bool is_any = false;
    for (int i = 0; i < def->material_count; ++i) {
        const treacle_material_def* m = &def->materials[i];
        is_any = is_any || m->marker_buoyancy != 0.0 ||
                 (m->viscosity_law.kind != TREACLE_LAW_NONE &&
                  m->viscosity_law.of == TREACLE_LAW_OF_MARKER);
    }
    return is_any;
}

static bool has_uneven_viscosity(const treacle_sim_def* def) {
    bool is_any = false;
    for (int i = 0; i < def->liquid_count; ++i) {
        const treacle_field* factor = &def->liquids[i].viscosity_factor;
        is_any = is_any || factor->kind != TREACLE_FIELD_CONSTANT || factor->value_a[0] != 1.0;
    }
    return is_any;
}

const char* def_beyond_eulerian(const treacle_sim_def* def) {
    if (def->motion != TREACLE_MOTION_EULERIAN) {
        return NULL;
    }
    return def->material_count > 1          ? "one material only"
           : def->flow == TREACLE_FLOW_NONE ? "no 'flow: none'"
           : def->drop_count > 0            ? "no 'drops'"
           : def->step.splitting > 0        ? "no 'splitting: second'"
           : def_has_tension(def)           ? "no 'surface_tension'"
           : def_shrinks(def)               ? "no 'shrinkage'"
           : def_breaks(def)                ? "no 'strength' of elastic material"
           : def_marker_flows(def) || def_marker_grows(def) || is_marker_used(def) ? "no 'marker'"
           : has_uneven_viscosity(def)
               ? "no viscosity that differs from place to place but by temperature"
               : NULL;
}
