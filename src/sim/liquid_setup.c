#include "sim/liquid_setup.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "compare/paper_methods.h"
#include "math/elementary.h"
#include "phys/stress.h"
#include "sim/bodies.h"
#include "sim/heat_setup.h"
#include "sim/overlap.h"

static treacle_status copy_materials(treacle_context* ctx, const treacle_sim_def* def,
                                     liquid_setup* out) {
    size_t count = (size_t)def->material_count;
    TREACLE_TRY(
        alloc_zero(ctx, count, sizeof(*out->density), "the materials", (void**)&out->density));
    TREACLE_TRY(
        alloc_zero(ctx, count, sizeof(*out->materials), "the materials", (void**)&out->materials));
    TREACLE_TRY(
        alloc_zero(ctx, count, sizeof(*out->log_mu), "the materials", (void**)&out->log_mu));
    TREACLE_TRY(alloc_zero(ctx, count, sizeof(*out->strain_laws), "the materials",
                           (void**)&out->strain_laws));
    out->reference_density = count > 0 ? def->materials[0].density : 1.0;
    for (size_t i = 0; i < count; ++i) {
        const treacle_material_def* m = &def->materials[i];
        out->materials[i] = *m;
        out->materials[i].name = NULL;
        out->materials[i].viscosity_law.table = (treacle_curve){0};
        out->density[i] = (float)(m->density / out->reference_density);
        out->log_mu[i] = (float)elementary_log(fmax(m->viscosity, VISCOSITY_LEAST));
        out->strain_laws[i] = strain_law_of(&m->elastic);
        if (out->has.cracks) {
            out->strain_laws[i].crack = fracture_law_of(&out->strain_laws[i], m->elastic.strength,
                                                        m->elastic.fracture_energy, out->domain->h);
        }
    }
    return TREACLE_OK;
}

static treacle_status make_force(treacle_context* ctx, const treacle_force_def* def,
                                 liquid_force* out) {
    out->start = def->start;
    out->stop = def->stop;
    if (def->shape != NULL) {
        TREACLE_TRY(shape_create(ctx, def->shape, &out->where));
    }
    TREACLE_TRY(field_init(ctx, &def->acceleration, AXES, &out->acceleration));
    TREACLE_TRY(curve_check(ctx, &def->strength, "a force's strength"));
    return curve_copy(ctx, &def->strength, &out->strength);
}

static treacle_status make_forces(treacle_context* ctx, const treacle_sim_def* def,
                                  liquid_setup* out) {
    TREACLE_TRY(alloc_zero(ctx, (size_t)def->force_count, sizeof(*out->forces), "the forces",
                           (void**)&out->forces));
    out->force_count = def->force_count;
    for (int i = 0; i < def->force_count; ++i) {
        TREACLE_TRY(make_force(ctx, &def->forces[i], &out->forces[i]));
    }
    return TREACLE_OK;
}

static treacle_status make_sides(treacle_context* ctx, const treacle_domain_def* def,
                                 liquid_setup* out) {
    for (int n = 0; n < 2 * AXES; ++n) {
        const treacle_curve* said = &def->surface_velocity[n / 2][n % 2];
        if (said->count > 0) {
            TREACLE_TRY(curve_check(ctx, said, "the surface velocity of a side"));
            TREACLE_TRY(curve_copy(ctx, said, &out->side_velocity[n / 2][n % 2]));
        }
    }
    return TREACLE_OK;
}

treacle_status liquid_setup_create(treacle_context* ctx, const treacle_sim_def* def,
                                   const sim_plan* plan, const grid_domain* domain,
                                   liquid_setup* out) {
    TREACLE_ASSERT(plan->flow != TREACLE_FLOW_AUTO && domain->h > 0.0);
    TREACLE_ASSERT(def->material_count <= LIQUID_MATERIALS_MAX);
    *out = (liquid_setup){
        .domain = domain,
        .material_count = def->material_count,
        .has = {.densities = plan->has_densities,
                .buoyancy = plan->has_buoyancy,
                .rheology = plan->has_rheology,
                .elastic = plan->has_elastic,
                .no_merge = plan->has_no_merge,
                .yield = plan->has_yield,
                .tension = plan->has_tension,
                .cracks = plan->has_cracks,
                .shrinkage = plan->has_shrinkage},
        .other = paper_methods(def),
    };
    treacle_status status = copy_materials(ctx, def, out);
    if (status == TREACLE_OK) {
        status = make_forces(ctx, def, out);
    }
    if (status == TREACLE_OK) {
        status = make_sides(ctx, &def->domain, out);
    }
    if (status == TREACLE_OK) {
        status = solids_create(ctx, def, domain, &out->solids);
    }
    if (status == TREACLE_OK) {
        status = bodies_create(ctx, def, domain, &out->solids, &out->bodies);
    }
    if (status == TREACLE_OK) {
        status = overlaps_refuse(ctx, def, domain, &out->solids, &out->bodies);
    }
    if (status == TREACLE_OK) {
        status = heat_setup_create(ctx, def, plan, &out->heat);
    }
    if (status == TREACLE_OK) {
        status = marker_setup_create(ctx, def, plan, &out->marker);
    }
    if (status != TREACLE_OK) {
        liquid_setup_destroy(ctx, out);
    }
    return status;
}

void liquid_setup_destroy(treacle_context* ctx, liquid_setup* setup) {
    size_t materials = (size_t)setup->material_count;
    for (int n = 0; n < 2 * AXES; ++n) {
        curve_free(ctx, &setup->side_velocity[n / 2][n % 2]);
    }
    solids_destroy(ctx, &setup->solids);
    bodies_destroy(ctx, &setup->bodies);
    heat_setup_destroy(ctx, &setup->heat);
    heat_setup_destroy(ctx, &setup->marker);
    for (int i = 0; i < setup->force_count; ++i) {
        shape_destroy(setup->forces[i].where);
        field_finish(&setup->forces[i].acceleration);
        curve_free(ctx, &setup->forces[i].strength);
    }
    alloc_free(ctx, setup->forces, (size_t)setup->force_count * sizeof(*setup->forces));
    alloc_free(ctx, setup->density, materials * sizeof(*setup->density));
    alloc_free(ctx, setup->strain_laws, materials * sizeof(*setup->strain_laws));
    alloc_free(ctx, setup->log_mu, materials * sizeof(*setup->log_mu));
    alloc_free(ctx, setup->materials, materials * sizeof(*setup->materials));
    *setup = (liquid_setup){0};
}
