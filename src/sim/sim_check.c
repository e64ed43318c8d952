#include <math.h>

#include "math/limits.h"
#include "sim/heat_setup.h"
#include "sim/sim_internal.h"

typedef struct number_rule {
    const char* name;
    double value, low, high; // low <= value <= high
} number_rule;

static treacle_status check_numbers(treacle_context* ctx, const treacle_sim_def* def) {
    const double tiny = 1e-300;
    const number_rule rules[] = {
        {"fps", def->fps, tiny, LIMIT_FREQUENCY},
        {"particles per_cell", def->particles.per_cell, 1, 64},
        {"particles jitter", def->particles.jitter, 0, 1},
        {"step cfl", def->step.cfl, 0.1, 5},
        {"step max_dt", def->step.max_dt, LIMIT_STEP_LEAST, LIMIT_STEP},
        {"step min_dt", def->step.min_dt, LIMIT_STEP_LEAST, LIMIT_STEP},
        {"step splitting", def->step.splitting, TREACLE_SPLITTING_FIRST, TREACLE_SPLITTING_SECOND},
        {"flip_blend", def->flip_blend, 0, 1},
        {"viscosity_solve substeps", def->viscosity_solve.substeps, 0, 1000000},
        {"viscosity_solve tolerance", def->viscosity_solve.tolerance, tiny, 1},
        {"viscosity_solve max_iterations", def->viscosity_solve.max_iterations, 1, 1000},
        {"level_set markers", def->level_set.markers, 1, 64},
        {"level_set reseed", def->level_set.reseed, 1, 1000000},
        {"level_set cfl", def->level_set.cfl, 0.1, 5},
        {"fill", def->fill, TREACLE_FILL_PARTICLES, TREACLE_FILL_ALL},
        {"material count", def->material_count, 0, SIM_MATERIALS_MAX},
        {"liquid count", def->liquid_count, 0, 30000},
        {"emitter count", def->emitter_count, 0, 30000},
        {"drop count", def->drop_count, 0, 30000},
        {"marker source count", def->marker_source_count, 0, 30000},
        {"sink count", def->sink_count, 0, 30000},
        {"heat source count", def->heat_source_count, 0, 30000},
        {"heat wall count", def->heat_wall_count, 0, 30000},
        {"solid count", def->solid_count, 0, 30000},
        {"body count", def->body_count, 0, 4096},
    };
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); ++i) {
        const number_rule* rule = &rules[i];
        if (!(rule->value >= rule->low && rule->value <= rule->high)) {
            return check_fail(ctx, TREACLE_ERR_SCENE, "%s is %g: expected %s%g to %g", rule->name,
                              rule->value, rule->low == tiny ? "more than " : "",
                              rule->low == tiny ? 0.0 : rule->low, rule->high);
        }
    }
    return TREACLE_OK;
}

static treacle_status check_material(treacle_context* ctx, const treacle_sim_def* def,
                                     const char* what, int material) {
    if (material < 0 || material >= def->material_count) {
        return check_fail(ctx, TREACLE_ERR_SCENE,
                          "%s is of material %d: there are %d, counted from 0", what, material,
                          def->material_count);
    }
    return TREACLE_OK;
}

// Names, bounds and values of what a material says about its flow.
static treacle_status check_flow_of(treacle_context* ctx, const treacle_material_def* m, int i) {
    const treacle_rheology_def* r = &m->rheology;
    const number_rule rules[] = {
        {"viscosity", m->viscosity, 0, 1e15},
        {"rheology law", r->law, 0, TREACLE_RHEOLOGY_HERSCHEL_BULKLEY},
        {"consistency", r->consistency, 1e-300, 1e12},
        {"exponent", r->exponent, 0.01, 10},
        {"yield_stress", r->yield_stress, 0, 1e12},
        {"viscosity_infinite", r->viscosity_infinite, 0, 1e15},
        {"rheology time", r->time, 0, 1e9},
        {"critical_rate", r->critical_rate, 1e-9, 1e6},
    };
    bool has_law = r->law != TREACLE_RHEOLOGY_NEWTONIAN;
    for (size_t k = 0; k < (has_law ? sizeof(rules) / sizeof(rules[0]) : 1); ++k) {
        const number_rule* rule = &rules[k];
        if (!(rule->value >= rule->low && rule->value <= rule->high)) {
            return check_fail(ctx, TREACLE_ERR_SCENE, "%s of material %d is %g: expected %g to %g",
                              rule->name, i, rule->value, rule->low, rule->high);
        }
    }
    return TREACLE_OK;
}

static treacle_status check_viscosity(treacle_context* ctx, const treacle_sim_def* def) {
    const treacle_viscosity_def* v = &def->viscosity_solve;
    bool is_decoupled = v->method == TREACLE_VISCOSITY_DECOUPLED;
    if ((v->surface == TREACLE_VISCOSITY_NEUMANN && !is_decoupled) ||
        (v->surface == TREACLE_VISCOSITY_NATURAL && is_decoupled)) {
        return check_fail(ctx, TREACLE_ERR_SCENE,
                          "method %d and surface %d of the viscosity do not go together",
                          (int)v->method, (int)v->surface);
    }
    if (v->free_flight && !is_decoupled) {
        return check_fail(ctx, TREACLE_ERR_SCENE,
                          "free_flight gives back what the decoupled method takes; method %d takes "
                          "nothing",
                          (int)v->method);
    }
    bool is_comparator =
        v->method != TREACLE_VISCOSITY_IMPLICIT || v->surface != TREACLE_VISCOSITY_NATURAL;
    if (is_comparator && def->flow == TREACLE_FLOW_UNIFIED) {
        return check_fail(
            ctx, TREACLE_ERR_SCENE,
            "a unified flow knows no other method or surface of viscosity: choose the "
            "split");
    }
    for (int i = 0; i < def->emitter_count; ++i) {
        double factor = def->emitters[i].viscosity_factor;
        if (!(factor > 0.0 && factor <= 1e12)) {
            return check_fail(ctx, TREACLE_ERR_SCENE,
                              "viscosity_factor of emitter %d is %g: expected a number > 0", i,
                              factor);
        }
    }
    return TREACLE_OK;
}

static treacle_status check_materials(treacle_context* ctx, const treacle_sim_def* def) {
    for (int i = 0; i < def->material_count; ++i) {
        double density = def->materials[i].density;
        if (!(density >= LIMIT_DENSITY_LEAST && density <= LIMIT_DENSITY)) {
            return check_fail(ctx, TREACLE_ERR_SCENE,
                              "density of material %d is %g kg/m^3: expected %g to %g", i, density,
                              LIMIT_DENSITY_LEAST, LIMIT_DENSITY);
        }
        TREACLE_TRY(check_flow_of(ctx, &def->materials[i], i));
    }
    for (int i = 0; i < def->liquid_count; ++i) {
        TREACLE_TRY(check_material(ctx, def, "a liquid", def->liquids[i].material));
    }
    for (int i = 0; i < def->emitter_count; ++i) {
        TREACLE_TRY(check_material(ctx, def, "an emitter", def->emitters[i].material));
    }
    for (int i = 0; i < def->drop_count; ++i) {
        TREACLE_TRY(check_material(ctx, def, "a drop", def->drops[i].material));
    }
    return TREACLE_OK;
}

// Motions at the start: NaN is not within.
static treacle_status check_motions(treacle_context* ctx, const treacle_sim_def* def) {
    for (int i = 0; i < def->liquid_count; ++i) {
        const treacle_liquid_def* liquid = &def->liquids[i];
        bool is_given = liquid->velocity.kind == TREACLE_FIELD_CONSTANT;
        double speed = is_given ? vec3_length(vec3_from(liquid->velocity.value_a)) : 0.0;
        if (!(vec3_length(vec3_from(liquid->spin)) <= LIMIT_SPIN) ||
            !(vec3_length(vec3_from(liquid->spin_centre)) <= LIMIT_LENGTH) ||
            !(speed <= LIMIT_SPEED)) {
            return check_fail(ctx, TREACLE_ERR_SCENE,
                              "velocity, spin or spin_centre of liquid %d is not finite or too "
                              "large: expected at most %g m/s, %g rad/s and %g m",
                              i, LIMIT_SPEED, LIMIT_SPIN, LIMIT_LENGTH);
        }
    }
    return TREACLE_OK;
}

// All components of all keys.
static treacle_status check_curve(treacle_context* ctx, const treacle_curve* curve, double most,
                                  const char* what) {
    TREACLE_TRY(curve_check(ctx, curve, what));
    for (int i = 0; i < curve->count; ++i) {
        for (int a = 0; a < 3; ++a) {
            if (!(fabs(curve->keys[i].value[a]) <= most)) {
                return check_fail(ctx, TREACLE_ERR_SCENE, "%s is %g: expected at most %g", what,
                                  curve->keys[i].value[a], most);
            }
        }
    }
    return TREACLE_OK;
}

treacle_status sim_check_def(treacle_context* ctx, const treacle_sim_def* def) {
    if (def->def_size != sizeof(*def)) {
        return check_fail(ctx, TREACLE_ERR_USAGE,
                          "def_size of the simulation is %zu: expected %zu, as set by "
                          "treacle_sim_def_default()",
                          def->def_size, sizeof(*def));
    }
    TREACLE_TRY(check_numbers(ctx, def));
    TREACLE_TRY(check_materials(ctx, def));
    TREACLE_TRY(check_viscosity(ctx, def));
    TREACLE_TRY(check_motions(ctx, def));
    TREACLE_TRY(heat_check(ctx, def));
    TREACLE_TRY(euler_check(ctx, def));
    TREACLE_TRY(marker_check(ctx, def));
    return check_curve(ctx, &def->gravity, LIMIT_ACCELERATION, "gravity");
}
