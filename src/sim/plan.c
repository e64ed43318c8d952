#include "sim/plan.h"

#include <math.h>

#include "base/text.h"
#include "defs/def_features.h"
#include "phys/rheology.h"
#include "phys/strain.h"

// --- flow ----------------------------------------------------------------------------------------

static bool has_modulus(const treacle_material_def* m) {
    return strain_law_of(&m->elastic).modulus > 0.0;
}

// What `auto` means here.
static treacle_flow flow_of(const treacle_sim_def* def) {
    if (def->flow != TREACLE_FLOW_AUTO) {
        return def->flow;
    }
    bool is_viscous = def_has_law(def) || def_has_tension(def);
    for (int i = 0; i < def->material_count; ++i) {
        const treacle_material_def* m = &def->materials[i];
        is_viscous = is_viscous || m->viscosity > 0.0 || rheology_is_needed(m) || has_modulus(m);
    }
    // Viscosity that already damps the transfer must not count twice.
    if (!is_viscous || def->flip_from_viscosity) {
        return TREACLE_FLOW_PRESSURE;
    }
    bool is_comparator = def->viscosity_solve.method != TREACLE_VISCOSITY_IMPLICIT ||
                         def->viscosity_solve.surface != TREACLE_VISCOSITY_NATURAL;
    return is_comparator ? TREACLE_FLOW_SPLIT : TREACLE_FLOW_UNIFIED;
}

// --- materials -----------------------------------------------------------------------------------

static void add_material(const treacle_sim_def* def, const treacle_material_def* m, sim_plan* out) {
    const strain_law law = strain_law_of(&m->elastic);
    // Elastic stress acts in the solve that knows viscosity, and on the grid by itself.
    bool can_pull =
        out->flow == TREACLE_FLOW_SPLIT || out->flow == TREACLE_FLOW_UNIFIED || out->is_eulerian;
    bool is_elastic = law.modulus > 0.0 && can_pull;
    bool can_yield = law.decay > 0.0 && law.yield > 0.0 && isfinite(law.yield);
    float relative_density = (float)(m->density / def->materials[0].density);
    out->has_densities = out->has_densities || relative_density != 1.0f;
    out->has_buoyancy = out->has_buoyancy || m->expansion != 0.0 || m->marker_buoyancy != 0.0;
    out->has_rheology = out->has_rheology || rheology_is_needed(m);
    out->has_elastic = out->has_elastic || is_elastic;
    bool can_break = is_elastic && m->elastic.strength > 0.0 && out->flow == TREACLE_FLOW_UNIFIED &&
                     !out->is_eulerian;
    out->has_cracks = out->has_cracks || can_break;
    out->has_yield = out->has_yield || (is_elastic && can_yield) || can_break;
    bool shrinks = (m->shrinkage.cooling > 0.0 && out->has_heat) ||
                   (m->shrinkage.drying > 0.0 && (out->marker_flows || out->marker_grows));
    bool can_shrink = out->flow != TREACLE_FLOW_NONE && !out->is_eulerian;
    out->has_shrinkage = out->has_shrinkage || (shrinks && can_shrink);
    out->has_no_merge = out->has_no_merge || (!m->merges && def->material_count > 1);
}

// Across a front of melting layers shear in series. A law scales what a rheology gives in the
// logarithm only (step/law_viscosity.c).
static treacle_viscosity_mean mean_of(const treacle_sim_def* def, const sim_plan* plan) {
    bool is_given = def->viscosity_solve.mean != TREACLE_VISCOSITY_MEAN_AUTO;
    return is_given                               ? def->viscosity_solve.mean
           : plan->has_law && !plan->has_rheology ? TREACLE_VISCOSITY_HARMONIC
                                                  : TREACLE_VISCOSITY_GEOMETRIC;
}

// --- columns -------------------------------------------------------------------------------------

// Whether viscosity differs from particle to particle of one material.
static bool has_factors(const treacle_sim_def* def) {
    bool is_any = false;
    for (int i = 0; i < def->liquid_count; ++i) {
        const treacle_field* factor = &def->liquids[i].viscosity_factor;
        is_any = is_any || factor->kind != TREACLE_FIELD_CONSTANT || factor->value_a[0] != 1.0;
    }
    for (int i = 0; i < def->emitter_count; ++i) {
        is_any = is_any || def->emitters[i].viscosity_factor != 1.0;
    }
    return is_any && def->flow != TREACLE_FLOW_NONE;
}

static bool has_colours(const treacle_sim_def* def) {
    bool is_any = def->particles.colour;
    for (int i = 0; i < def->liquid_count; ++i) {
        const treacle_field* colour = &def->liquids[i].colour;
        is_any = is_any || colour->kind != TREACLE_FIELD_CONSTANT || colour->value_a[0] >= 0.0;
    }
    return is_any;
}

static uint32_t columns_of(const treacle_sim_def* def, const sim_plan* plan) {
    bool has_affine = def->flow != TREACLE_FLOW_NONE && def->transfer == TREACLE_TRANSFER_APIC;
    bool is_carried = plan->has_buoyancy || plan->has_law, has_strain = false;
    for (int i = 0; i < def->material_count; ++i) {
        has_strain = has_strain || has_modulus(&def->materials[i]);
    }
    return (has_affine ? 1u << PARTICLE_AFFINE : 0u) |
           (def->particles.rest ? 1u << PARTICLE_REST : 0u) |
           (def->particles.age ? 1u << PARTICLE_BIRTH : 0u) |
           (has_factors(def) ? 1u << PARTICLE_LOG_FACTOR : 0u) |
           (has_strain ? 1u << PARTICLE_STRAIN : 0u) |
           (plan->has_shrinkage ? 1u << PARTICLE_REST_SIZE : 0u) |
           (plan->has_cracks ? 1u << PARTICLE_DAMAGE : 0u) |
           (has_colours(def) ? 1u << PARTICLE_COLOUR : 0u) |
           (plan->marker_flows || plan->marker_grows ? 1u << PARTICLE_MARKER : 0u) |
           (is_carried ? 1u << PARTICLE_TEMPERATURE | 1u << PARTICLE_MARKER : 0u) |
           (plan->has_heat
                ? 1u << PARTICLE_TEMPERATURE | 1u << PARTICLE_ENTHALPY | 1u << PARTICLE_MELTED
                : 0u);
}

// --- stages --------------------------------------------------------------------------------------

// Those that have something to do.
static uint32_t stages_of(const treacle_sim_def* def, const sim_plan* plan) {
    uint32_t stages = 1u << TREACLE_STAGE_ADVECT;
    bool is_flying = plan->flow == TREACLE_FLOW_NONE;
    bool comes_or_goes = def->emitter_count > 0 || def->drop_count > 0 || def->sink_count > 0;
    bool is_heated = plan->has_heat || plan->marker_flows || plan->marker_grows;
    stages |= comes_or_goes ? 1u << TREACLE_STAGE_EMIT : 0u;
    stages |= plan->is_eulerian ? 0u : 1u << TREACLE_STAGE_SORT;
    if (is_flying) {
        return stages;
    }
    bool has_solids = def->solid_count > 0 || def->body_count > 0;
    stages |= has_solids ? 1u << TREACLE_STAGE_SOLIDS : 0u;
    stages |= 1u << TREACLE_STAGE_TILES | 1u << TREACLE_STAGE_TO_GRID |
              1u << TREACLE_STAGE_GEOMETRY | 1u << TREACLE_STAGE_FORCES | 1u << TREACLE_STAGE_FLOW |
              1u << TREACLE_STAGE_EXTRAPOLATE | 1u << TREACLE_STAGE_TO_PARTICLES |
              1u << TREACLE_STAGE_ENERGY;
    stages |= is_heated ? 1u << TREACLE_STAGE_HEAT : 0u;
    bool is_moved = def->density_correction || has_solids; // they push out what is in them
    stages |= is_moved && !plan->is_eulerian ? 1u << TREACLE_STAGE_DENSITY : 0u;
    return stages;
}

// --- ranks ---------------------------------------------------------------------------------------

static bool is_material_whole(const treacle_material_def* m) {
    return has_modulus(m) || !m->merges || m->expansion != 0.0 || m->marker_buoyancy != 0.0;
}

// What ranks cannot do with their own tiles alone. Whatever makes a loop look at all tiles or all
// particles stands here, until that loop has learned to do without.
static const char* whole_because(const treacle_sim_def* def, const grid_domain* domain,
                                 const sim_plan* plan) {
    for (int i = 0; i < def->material_count; ++i) {
        if (is_material_whole(&def->materials[i])) {
            return "a material is elastic, does not merge, or has buoyancy";
        }
    }
    return plan->flow == TREACLE_FLOW_NONE                    ? "particles fly freely"
           : plan->is_eulerian                                ? "the grid carries the liquid"
           : def->pressure.method == TREACLE_PROJECTION_RELAX ? "the pressure is relaxed"
           : def->viscosity_solve.method != TREACLE_VISCOSITY_IMPLICIT ||
                   def->viscosity_solve.surface != TREACLE_VISCOSITY_NATURAL
               ? "viscosity acts by a comparator"
           : def->fill != TREACLE_FILL_PARTICLES            ? "liquid fills the domain"
           : def->step.splitting != TREACLE_SPLITTING_FIRST ? "splitting is of second order"
           : domain->lets_go                                ? "liquid lets go of walls"
           : plan->has_tension                              ? "there is surface tension"
           : def->body_count > 0                            ? "there are bodies"
           : def->solid_count > 0                           ? "there are solids"
           : plan->has_heat || plan->has_law                ? "there is heat"
           : plan->marker_flows || plan->marker_grows       ? "the marker changes"
                                                            : NULL;
}

sim_plan sim_plan_of(const treacle_sim_def* def, const grid_domain* domain) {
    TREACLE_ASSERT(domain->h > 0.0 && domain->tiles[0] >= 1);
    sim_plan plan = {
        .flow = flow_of(def),
        .is_eulerian = def->motion == TREACLE_MOTION_EULERIAN,
        .has_heat = def_has_heat(def) && def->material_count > 0,
        .has_law = def_has_law(def),
        .has_tension = def_has_tension(def),
        .marker_flows = def_marker_flows(def) && def->material_count > 0,
        .marker_grows = def_marker_grows(def),
    };
    for (int i = 0; i < def->material_count; ++i) {
        add_material(def, &def->materials[i], &plan);
    }
    plan.mean = mean_of(def, &plan);
    plan.columns = columns_of(def, &plan);
    plan.stages = stages_of(def, &plan);
    plan.whole_because = whole_because(def, domain, &plan);
    return plan;
}

// --- in words ------------------------------------------------------------------------------------

static void print_laws(const sim_plan* plan, text* out) {
    const struct {
        bool is_there;
        const char* name;
    } laws[] = {
        {plan->has_densities, "densities that differ"},
        {plan->has_buoyancy, "buoyancy"},
        {plan->has_rheology, "rheology"},
        {plan->has_elastic, "elastic stress"},
        {plan->has_yield, "yield"},
        {plan->has_cracks, "cracks"},
        {plan->has_shrinkage, "shrinkage"},
        {plan->has_no_merge, "materials that do not merge"},
        {plan->has_tension, "surface tension"},
        {plan->has_heat, "heat"},
        {plan->has_law, "viscosity by what particles carry"},
        {plan->marker_flows, "a marker that spreads"},
        {plan->marker_grows, "a marker that grows"},
    };
    const char* comma = "";
    text_append(out, "laws       ");
    for (size_t i = 0; i < sizeof(laws) / sizeof(laws[0]); ++i) {
        if (laws[i].is_there) {
            text_printf(out, "%s%s", comma, laws[i].name);
            comma = ", ";
        }
    }
    text_append(out, comma[0] == '\0' ? "none but the flow's\n" : "\n");
}

void sim_plan_print(const sim_plan* plan, text* out) {
    TREACLE_ASSERT(plan->flow != TREACLE_FLOW_AUTO);
    static const char* const flows[] = {"none: particles fly freely", "pressure, no viscosity",
                                        "split: pressure, viscosity, pressure",
                                        "unified: pressure and viscosity in one solve"};
    static const char* const means[] = {"geometric", "arithmetic", "harmonic"};
    const uint32_t always = 1u << PARTICLE_POSITION | 1u << PARTICLE_VELOCITY | 1u << PARTICLE_ID |
                            1u << PARTICLE_VOLUME | 1u << PARTICLE_MATERIAL;
    text_printf(out, "motion     %s\n", plan->is_eulerian ? "eulerian" : "particles");
    text_printf(out, "flow       %s\n", flows[plan->flow]);
    if (plan->flow == TREACLE_FLOW_SPLIT || plan->flow == TREACLE_FLOW_UNIFIED) {
        text_printf(out, "mean       of viscosities, %s\n", means[plan->mean]);
    }
    print_laws(plan, out);
    text_append(out, "columns   ");
    for (int c = 0; c < PARTICLE_COLUMN_COUNT; ++c) {
        if (((plan->columns | always) >> c & 1u) != 0) {
            text_printf(out, " %s", particle_columns[c].name);
        }
    }
    text_append(out, "\nstages    ");
    for (int s = 0; s < TREACLE_STAGE_COUNT; ++s) {
        if ((plan->stages >> s & 1u) != 0) {
            text_printf(out, " %s", treacle_stage_name((treacle_stage)s));
        }
    }
    text_printf(out, "\nranks      each holds %s%s\n",
                plan->whole_because == NULL ? "its own tiles and those around them"
                                            : "everything: ",
                plan->whole_because == NULL ? "" : plan->whole_because);
}
