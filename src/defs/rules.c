#include "defs/rules.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "defs/def_features.h"

// Fills in what is wrong at a key; returns false, for the rule to hand on.
static bool break_at(schema_fault* fault, const char* key, const char* format, ...)
    TREACLE_PRINTF(3, 4);
static bool break_at(schema_fault* fault, const char* key, const char* format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(fault->text, sizeof(fault->text), format, args);
    va_end(args);
    fault->key = key;
    fault->or_key = NULL;
    return false;
}

// rad: a cone that is wider than this has no edge.
#define LAMP_ALL_ROUND 3.1415

static bool is_zero(const double v[3]) {
    return !(v[0] * v[0] + v[1] * v[1] + v[2] * v[2] > 0.0);
}

// --- the whole -----------------------------------------------------------------------------------

bool rule_root(const void* item, schema_fault* fault) {
    TREACLE_ASSERT(fault != NULL);
    const treacle_sim_def* def = item;
    const char* what = def_beyond_eulerian(def);
    if (what != NULL) {
        return break_at(fault, "motion", "'motion: eulerian' knows %s; choose 'motion: particles'",
                        what);
    }
    if (def_is_beyond_cracks(def)) {
        return break_at(fault, "flow",
                        "material breaks at its 'strength' in 'flow: unified' alone; choose that, "
                        "or take the strength away");
    }
    return !def_is_beyond_tension(def) ||
           break_at(fault, "flow",
                    "'surface_tension' acts in 'flow: unified' alone; choose that, or a surface "
                    "tension of 0");
}

bool rule_step(const void* item, schema_fault* fault) {
    TREACLE_ASSERT(fault != NULL);
    const treacle_step_def* step = item;
    return step->min_dt <= step->max_dt ||
           break_at(fault, "min_dt", "'min_dt' (%g s) is larger than 'max_dt' (%g s)", step->min_dt,
                    step->max_dt);
}

bool rule_viscosity_solve(const void* item, schema_fault* fault) {
    const treacle_viscosity_def* def = item;
    bool is_decoupled = def->method == TREACLE_VISCOSITY_DECOUPLED;
    if (def->surface == TREACLE_VISCOSITY_NEUMANN && !is_decoupled) {
        return break_at(fault, "surface", "'surface: neumann' is only for 'method: decoupled'");
    }
    if (def->free_flight && !is_decoupled) {
        return break_at(fault, "free_flight",
                        "'free_flight' gives back what 'method: decoupled' takes from drops that "
                        "fly, and this method takes nothing");
    }
    if (is_decoupled && def->surface == TREACLE_VISCOSITY_NATURAL) {
        return break_at(fault, "method",
                        "'method: decoupled' has no traction that could vanish: choose "
                        "'surface: neumann', 'dirichlet' or 'nichols-hirt'");
    }
    return true;
}

bool rule_ramp(const void* item, schema_fault* fault) {
    const treacle_field* field = item;
    const double way[3] = {field->to[0] - field->from[0], field->to[1] - field->from[1],
                           field->to[2] - field->from[2]};
    return !is_zero(way) || break_at(fault, "to", "'from' and 'to' are the same point");
}

// --- materials -----------------------------------------------------------------------------------

bool rule_is_newtonian(const void* rheology) {
    return ((const treacle_rheology_def*)rheology)->law == TREACLE_RHEOLOGY_NEWTONIAN;
}

static bool is_one_of(const char* key, const char* first, const char* second) {
    return strcmp(key, first) == 0 || strcmp(key, second) == 0;
}

bool rule_rheology_needs(const void* rheology, const char* key) {
    TREACLE_ASSERT(key != NULL);
    switch (((const treacle_rheology_def*)rheology)->law) {
    case TREACLE_RHEOLOGY_POWER_LAW:
        return is_one_of(key, "consistency", "exponent");
    case TREACLE_RHEOLOGY_CARREAU:
        return is_one_of(key, "time", "exponent");
    case TREACLE_RHEOLOGY_BINGHAM:
        return strcmp(key, "yield_stress") == 0;
    case TREACLE_RHEOLOGY_HERSCHEL_BULKLEY:
        return is_one_of(key, "yield_stress", "consistency");
    default:
        return false;
    }
}

bool rule_law_needs(const void* viscosity_law, const char* key) {
    TREACLE_ASSERT(key != NULL);
    treacle_law_kind kind = ((const treacle_viscosity_law*)viscosity_law)->kind;
    bool is_zone = kind == TREACLE_LAW_LINEAR || kind == TREACLE_LAW_QUADRATIC;
    return is_zone && is_one_of(key, "low", "high");
}

bool rule_is_not_elastic(const void* elastic) {
    const treacle_elastic_def* e = elastic;
    return e->shear_modulus == 0.0 && (isnan(e->mu_e) || e->mu_e == 0.0);
}

bool rule_does_not_shrink(const void* shrinkage) {
    const treacle_shrinkage_def* s = shrinkage;
    return s->cooling == 0.0 && s->drying == 0.0;
}

bool rule_has_no_law(const void* viscosity_law) {
    return ((const treacle_viscosity_law*)viscosity_law)->kind == TREACLE_LAW_NONE;
}

static bool break_monotone(schema_fault* fault, const char* key, const char* why) {
    return break_at(fault, key,
                    "the law is not monotone as it must be: what is heated would get thicker; %s",
                    why);
}

static bool rule_zone(const treacle_viscosity_law* law, schema_fault* fault) {
    if (!(law->from < law->to)) {
        return break_at(fault, "to", "'to' (%.9g) must be more than 'from' (%.9g)", law->to,
                        law->from);
    }
    if (law->of == TREACLE_LAW_OF_TEMPERATURE && law->low < law->high) {
        return break_monotone(fault, "high", "exchange 'low' and 'high'");
    }
    return true;
}

static bool rule_table(const treacle_viscosity_law* law, schema_fault* fault) {
    const treacle_curve* table = &law->table;
    if (table->count < 2) {
        return break_at(fault, "table",
                        "expected a 'table' of two points or more: [[20 degC, 100], [60 degC, 1]]");
    }
    if (law->of == TREACLE_LAW_OF_TEMPERATURE && table->keys[0].time < 0.0) {
        return break_at(fault, "table", "the table begins at %.9g K, below absolute zero",
                        table->keys[0].time);
    }
    for (int i = 1; i < table->count && law->of == TREACLE_LAW_OF_TEMPERATURE; ++i) {
        if (table->keys[i].value[0] > table->keys[i - 1].value[0]) {
            return break_monotone(fault, "table",
                                  "each viscosity must be at most the one before it");
        }
    }
    return true;
}

// The number by which a formula gets thinner as it gets hotter: 0 is what nobody gave.
static bool rule_rise(double rise, const char* key, schema_fault* fault) {
    if (rise == 0.0) {
        break_at(fault, key, "this law has no numbers: expected '%s'%s, or a preset that has them",
                 key, key[0] == 'b' ? ", 'a' and 'c'" : "");
        fault->or_key = "kind";
        return false;
    }
    return rise > 0.0 || break_monotone(fault, key, "that number must be > 0");
}

bool rule_viscosity_law(const void* item, schema_fault* fault) {
    const treacle_viscosity_law* law = item;
    if (law->most < law->least) {
        return break_at(fault, "most", "'most' (%.9g Pa.s) is less than 'least' (%.9g Pa.s)",
                        law->most, law->least);
    }
    bool is_formula = law->kind == TREACLE_LAW_ARRHENIUS || law->kind == TREACLE_LAW_VFT;
    if (is_formula && law->of == TREACLE_LAW_OF_MARKER) {
        return break_at(fault, "of",
                        "this kind of law depends on the temperature, not on the marker");
    }
    switch (law->kind) {
    case TREACLE_LAW_LINEAR:
    case TREACLE_LAW_QUADRATIC:
        return rule_zone(law, fault);
    case TREACLE_LAW_ARRHENIUS:
        return rule_rise(law->activation, "activation", fault);
    case TREACLE_LAW_VFT:
        return rule_rise(law->b, "b", fault);
    case TREACLE_LAW_TABLE:
        return rule_table(law, fault);
    case TREACLE_LAW_NONE:
        break;
    }
    return true;
}

bool rule_material(const void* item, schema_fault* fault) {
    TREACLE_ASSERT(fault != NULL);
    const treacle_material_def* m = item;
    if (m->viscosity_law.kind == TREACLE_LAW_ARRHENIUS && !(m->viscosity > 0.0)) {
        return break_at(fault, "viscosity_law",
                        "an 'arrhenius' law multiplies the 'viscosity', which is 0");
    }
    if (m->elastic.strength > 0.0 && rule_is_not_elastic(&m->elastic)) {
        return break_at(fault, "elastic",
                        "it breaks at a 'strength' of %.9g Pa, but nothing pulls in what is not "
                        "elastic: expected a 'shear_modulus' above 0 Pa",
                        m->elastic.strength);
    }
    if (m->elastic.fracture_energy > 0.0 && !(m->elastic.strength > 0.0)) {
        return break_at(fault, "elastic",
                        "a crack takes a 'fracture_energy' of %.9g J/m^2, but nothing says when "
                        "it breaks: expected a 'strength' above 0 Pa",
                        m->elastic.fracture_energy);
    }
    if (m->elastic.strength > 0.0 && !(m->elastic.fracture_energy > 0.0)) {
        return break_at(
            fault, "elastic",
            "it breaks at a 'strength' of %.9g Pa: expected a 'fracture_energy' above 0 "
            "J/m^2, the energy that a crack takes",
            m->elastic.strength);
    }
    if (m->latent_heat == 0.0) {
        return true;
    }
    if (!(m->solidus > 0.0 && m->solidus <= m->liquidus)) {
        return break_at(fault, m->solidus > 0.0 ? "liquidus" : "solidus",
                        "with a 'latent_heat', expected 'solidus' (%.9g K) at most 'liquidus' "
                        "(%.9g K), both given",
                        m->solidus, m->liquidus);
    }
    double end = m->freezing_solidus == 0.0 ? m->solidus : m->freezing_solidus;
    double begin = m->freezing_liquidus == 0.0 ? m->liquidus : m->freezing_liquidus;
    return (end <= begin && end <= m->solidus && begin <= m->liquidus) ||
           break_at(fault, "freezing_liquidus",
                    "it freezes from %.9g K to %.9g K and melts from %.9g K to %.9g K: "
                    "freezing must not be warmer than melting",
                    begin, end, m->solidus, m->liquidus);
}

// --- what comes and goes -------------------------------------------------------------------------

static bool rule_times(double start, double stop, schema_fault* fault) {
    return stop > start ||
           break_at(fault, "stop", "'stop' (%g s) must be after 'start' (%g s)", stop, start);
}

bool rule_emitter(const void* item, schema_fault* fault) {
    const treacle_emitter_def* emitter = item;
    return is_zero(emitter->direction)
               ? break_at(fault, "direction", "the direction must not be [0, 0, 0]")
               : rule_times(emitter->start, emitter->stop, fault);
}

bool rule_sink(const void* item, schema_fault* fault) {
    const treacle_sink_def* sink = item;
    return rule_times(sink->start, sink->stop, fault);
}

bool rule_force(const void* item, schema_fault* fault) {
    const treacle_force_def* force = item;
    return rule_times(force->start, force->stop, fault);
}

bool rule_heat_source(const void* item, schema_fault* fault) {
    const treacle_heat_source_def* source = item;
    return source->place.count > 0 && source->power.count == 0
               ? break_at(fault, "temperature",
                          "a point that radiates has a 'power', not a 'temperature'")
           : source->angle < LAMP_ALL_ROUND && is_zero(source->aim)
               ? break_at(fault, "angle",
                          "a lamp with an 'angle' needs an 'aim', such as [0, -1, 0]")
               : rule_times(source->start, source->stop, fault);
}

bool rule_marker_source(const void* item, schema_fault* fault) {
    const treacle_marker_source_def* source = item;
    return rule_times(source->start, source->stop, fault);
}

bool rule_joint(const void* item, schema_fault* fault) {
    const treacle_joint_def* joint = item;
    return joint->kind == TREACLE_JOINT_FIXED || !is_zero(joint->axis) ||
           break_at(fault, "axis", "the axis is zero: expected a direction, such as [0, 1, 0]");
}

bool rule_solid(const void* item, schema_fault* fault) {
    const treacle_solid_def* solid = item;
    const treacle_field* belt = &solid->surface_velocity;
    bool has_belt = belt->kind != TREACLE_FIELD_CONSTANT || !is_zero(belt->value_a);
    if ((has_belt || !is_zero(solid->surface_spin)) && solid->wall == TREACLE_WALL_SLIP) {
        return break_at(fault, has_belt ? "surface_velocity" : "surface_spin",
                        "liquid slides along this solid, and its surface takes nothing along: say "
                        "'wall: no-slip' or 'wall: slip-length'");
    }
    return solid->temperature.count == 0 || solid->flux.count == 0 ||
           break_at(fault, "flux", "give either 'temperature' or 'flux', not both");
}
