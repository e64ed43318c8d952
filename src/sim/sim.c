#include <string.h>

#include "base/alloc.h"
#include "base/comm.h"
#include "defs/def_features.h"
#include "phys/rheology.h"
#include "sim/heat_setup.h"
#include "sim/liquid_setup.h"
#include "sim/sim_internal.h"

// What `auto` means here.
static treacle_flow flow_of(const treacle_sim_def* def) {
    if (def->flow != TREACLE_FLOW_AUTO) {
        return def->flow;
    }
    bool is_viscous = false;
    for (int i = 0; i < def->material_count; ++i) {
        const treacle_material_def* m = &def->materials[i];
        is_viscous = is_viscous || m->viscosity > 0.0 || rheology_is_needed(m) ||
                     strain_law_of(&m->elastic).modulus > 0.0;
    }
    is_viscous = is_viscous || def_has_law(def);
    // Viscosity that already damps the transfer must not count twice.
    if (!is_viscous || def->flip_from_viscosity) {
        return TREACLE_FLOW_PRESSURE;
    }
    bool is_comparator = def->viscosity_solve.method != TREACLE_VISCOSITY_IMPLICIT ||
                         def->viscosity_solve.surface != TREACLE_VISCOSITY_NATURAL;
    return is_comparator ? TREACLE_FLOW_SPLIT : TREACLE_FLOW_UNIFIED;
}

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

static uint32_t columns_of(const treacle_sim_def* def) {
    bool has_affine = def->flow != TREACLE_FLOW_NONE && def->transfer == TREACLE_TRANSFER_APIC;
    bool has_buoyancy = false, has_elastic = false;
    for (int i = 0; i < def->material_count; ++i) {
        const treacle_material_def* m = &def->materials[i];
        has_buoyancy = has_buoyancy || m->expansion != 0.0 || m->marker_buoyancy != 0.0;
        has_elastic = has_elastic || strain_law_of(&m->elastic).modulus > 0.0;
    }
    bool is_carried = has_buoyancy || def_has_law(def), has_heat = def_has_heat(def);
    return (has_affine ? 1u << PARTICLE_AFFINE : 0u) |
           (def->particles.rest ? 1u << PARTICLE_REST : 0u) |
           (def->particles.age ? 1u << PARTICLE_BIRTH : 0u) |
           (has_factors(def) ? 1u << PARTICLE_LOG_FACTOR : 0u) |
           (has_elastic ? 1u << PARTICLE_STRAIN : 0u) |
           (has_colours(def) ? 1u << PARTICLE_COLOUR : 0u) |
           (def_marker_flows(def) || def_marker_grows(def) ? 1u << PARTICLE_MARKER : 0u) |
           (is_carried ? 1u << PARTICLE_TEMPERATURE | 1u << PARTICLE_MARKER : 0u) |
           (has_heat ? 1u << PARTICLE_TEMPERATURE | 1u << PARTICLE_ENTHALPY | 1u << PARTICLE_MELTED
                     : 0u);
}

void sim_colour(const treacle_sim_def* def, int material, float out[3]) {
    for (int c = 0; c < 3; ++c) {
        out[c] = (float)def->materials[material].colour[c];
    }
}

// Sources of ids: the liquids, then the emitters.
static treacle_status init_emitters(treacle_sim* sim, const treacle_sim_def* def) {
    TREACLE_TRY(alloc_zero(sim->ctx, (size_t)def->emitter_count, sizeof(*sim->emitters),
                           "the emitters", (void**)&sim->emitters));
    sim->emitter_count = def->emitter_count;
    for (int i = 0; i < def->emitter_count; ++i) {
        emitter_setting setting = {
            .domain = &sim->domain,
            .seed = def->seed,
            .source = (uint64_t)(def->liquid_count + i),
            .particles = def->particles,
        };
        sim_colour(def, def->emitters[i].material, setting.colour);
        TREACLE_TRY(emitter_init(sim->ctx, &def->emitters[i], &setting, &sim->emitters[i]));
    }
    return TREACLE_OK;
}

static treacle_status init_drops(treacle_sim* sim, const treacle_sim_def* def) {
    TREACLE_TRY(alloc_zero(sim->ctx, (size_t)def->drop_count, sizeof(*sim->drops), "the drops",
                           (void**)&sim->drops));
    sim->drop_count = def->drop_count;
    for (int i = 0; i < def->drop_count; ++i) {
        uint64_t source = (uint64_t)(SIM_SOURCE_DROPS(def) + i);
        TREACLE_TRY(drop_list_init(sim->ctx, &def->drops[i], source, &sim->drops[i]));
        sim_colour(def, def->drops[i].material, sim->drops[i].colour);
    }
    return TREACLE_OK;
}

static treacle_status init_sinks(treacle_sim* sim, const treacle_sim_def* def) {
    TREACLE_TRY(alloc_zero(sim->ctx, (size_t)def->sink_count, sizeof(*sim->sinks), "the sinks",
                           (void**)&sim->sinks));
    sim->sink_count = def->sink_count;
    for (int i = 0; i < def->sink_count; ++i) {
        TREACLE_TRY(sink_init(sim->ctx, &def->sinks[i], &sim->domain, &sim->sinks[i]));
    }
    return TREACLE_OK;
}

static treacle_status init_materials(treacle_sim* sim, const treacle_sim_def* def) {
    TREACLE_TRY(alloc_array(sim->ctx, (size_t)def->material_count, sizeof(*sim->density),
                            "the materials", (void**)&sim->density));
    sim->material_count = def->material_count;
    TREACLE_TRY(alloc_array(sim->ctx, (size_t)def->material_count, sizeof(*sim->palette),
                            "the colours of materials", (void**)&sim->palette));
    for (int i = 0; i < def->material_count; ++i) {
        sim->density[i] = def->materials[i].density;
        sim_colour(def, i, sim->palette[i]);
    }
    return TREACLE_OK;
}

static treacle_status init_liquid(treacle_sim* sim, const treacle_sim_def* def) {
    treacle_sim_def chosen = *def; // with the flow that `auto` stands for
    chosen.flow = sim->def.flow;
    TREACLE_TRY(liquid_setup_create(sim->ctx, &chosen, &sim->domain, &sim->setup));
    sim->setup.def = &sim->def;
    sim->setup.emitter_count = sim->emitter_count;
    sim->setup.emitters = sim->emitters;
    return TREACLE_OK;
}

// Tiles are shared out where particles carry the liquid; the first step does it.
static treacle_status init_ranks(treacle_sim* sim, const treacle_sim_def* def) {
    size_t ranks = (size_t)comm_size(sim->ctx);
    if (ranks == 1 || sim->def.flow == TREACLE_FLOW_NONE || euler_is_on(&sim->def)) {
        return TREACLE_OK;
    }
    TREACLE_TRY(alloc_zero(sim->ctx, 2 * (ranks + 1), sizeof(uint64_t), "what ranks own",
                           (void**)&sim->rank_key));
    TREACLE_TRY(alloc_zero(sim->ctx, 2 * (ranks + 1), sizeof(int64_t), "what ranks own",
                           (void**)&sim->rank_rows));
    sim->rank_cells = sim->rank_rows + ranks + 1;
    for (size_t r = 1; r <= ranks; ++r) {
        sim->rank_key[r] = UINT64_MAX;
    }
    sim->domain.rank_key = sim->rank_key;
    sim->domain.is_lean = sim_can_be_lean(def, &sim->domain);
    sim->scratch.is_lean = sim->domain.is_lean;
    return TREACLE_OK;
}

static treacle_status init_bodies(treacle_sim* sim) {
    const body_set* set = &sim->setup.bodies;
    size_t count = (size_t)set->count;
    TREACLE_TRY(alloc_zero(sim->ctx, count, sizeof(body_state), "states of bodies",
                           (void**)&sim->now.bodies));
    TREACLE_TRY(alloc_zero(sim->ctx, count, sizeof(body_state), "states of bodies",
                           (void**)&sim->next.bodies));
    if (count > 0) {
        memcpy(sim->now.bodies, set->start, count * sizeof(body_state));
    }
    return TREACLE_OK;
}

void sim_copy_bodies(treacle_sim* sim) {
    size_t count = (size_t)sim->setup.bodies.count;
    if (count > 0) {
        memcpy(sim->next.bodies, sim->now.bodies, count * sizeof(body_state));
    }
}

static treacle_status init(treacle_sim* sim, const treacle_sim_def* def) {
    sim->def = *def;
    sim->def.flow = flow_of(def);
    sim->def.gravity = (treacle_curve){0};
    sim->def.materials = NULL;
    sim->def.liquids = NULL;
    sim->def.emitters = NULL;
    sim->def.sinks = NULL;
    sim->def.forces = NULL;
    sim->def.heat_sources = NULL;
    sim->def.heat_walls = NULL;
    sim->def.marker_sources = NULL;
    sim->def.drops = NULL;
    sim->def.solids = NULL;
    sim->def.bodies = NULL;
    arena_init(&sim->scratch, sim->ctx);
    particle_spares_init(&sim->spares, sim->ctx);
    TREACLE_TRY(sim_check_def(sim->ctx, def));
    TREACLE_TRY(grid_domain_init(sim->ctx, &def->domain, &sim->domain));
    for (int i = 0; i < def->solid_count; ++i) {
        sim->domain.lets_go = sim->domain.lets_go || def->solids[i].separation.is_on;
    }
    TREACLE_TRY(init_ranks(sim, def));
    TREACLE_TRY(curve_copy(sim->ctx, &def->gravity, &sim->gravity));
    TREACLE_TRY(init_materials(sim, def));
    TREACLE_TRY(init_emitters(sim, def));
    TREACLE_TRY(init_drops(sim, def));
    TREACLE_TRY(init_sinks(sim, def));
    TREACLE_TRY(init_liquid(sim, def));
    TREACLE_TRY(init_bodies(sim));
    TREACLE_TRY(particles_create(sim->ctx, columns_of(def), &sim->now.particles));
    TREACLE_TRY(particles_create(sim->ctx, columns_of(def), &sim->next.particles));
    TREACLE_TRY(sim_level_create(sim));
    TREACLE_TRY(sim_seed(sim, def));
    return step_prepare(sim);
}

treacle_status treacle_sim_create(treacle_context* ctx, const treacle_sim_def* def,
                                  treacle_sim** out) {
    *out = NULL;
    void* block = NULL;
    TREACLE_TRY(alloc_zero(ctx, 1, sizeof(treacle_sim), "a simulation", &block));
    treacle_sim* sim = block;
    sim->ctx = ctx;
    treacle_status status = init(sim, def);
    if (status == TREACLE_ERR_MEMORY) { // perhaps on this rank alone
        status = comm_give_up(ctx, status);
    }
    if (status != TREACLE_OK) {
        treacle_sim_destroy(sim);
        return status;
    }
    *out = sim;
    return TREACLE_OK;
}

void treacle_sim_destroy(treacle_sim* sim) {
    if (sim == NULL) {
        return;
    }
    treacle_context* ctx = sim->ctx;
    for (int i = 0; i < sim->emitter_count; ++i) {
        emitter_finish(&sim->emitters[i]);
    }
    for (int i = 0; i < sim->drop_count; ++i) {
        drop_list_finish(&sim->drops[i]);
    }
    for (int i = 0; i < sim->sink_count; ++i) {
        sink_finish(&sim->sinks[i]);
    }
    alloc_free(ctx, sim->emitters, (size_t)sim->emitter_count * sizeof(*sim->emitters));
    alloc_free(ctx, sim->drops, (size_t)sim->drop_count * sizeof(*sim->drops));
    alloc_free(ctx, sim->sinks, (size_t)sim->sink_count * sizeof(*sim->sinks));
    alloc_free(ctx, sim->density, (size_t)sim->material_count * sizeof(*sim->density));
    alloc_free(ctx, sim->palette, (size_t)sim->material_count * sizeof(*sim->palette));
    curve_free(ctx, &sim->gravity);
    alloc_free(ctx, sim->rank_key, 2 * ((size_t)comm_size(ctx) + 1) * sizeof(uint64_t));
    alloc_free(ctx, sim->rank_rows, 2 * ((size_t)comm_size(ctx) + 1) * sizeof(int64_t));
    size_t body_bytes = (size_t)sim->setup.bodies.count * sizeof(body_state);
    alloc_free(ctx, sim->now.bodies, body_bytes);
    alloc_free(ctx, sim->next.bodies, body_bytes);
    solid_cache_clear(&sim->solid_cache);
    liquid_setup_destroy(ctx, &sim->setup);
    liquid_state_destroy(&sim->now.liquid);
    liquid_state_destroy(&sim->next.liquid);
    particles_destroy(&sim->now.particles);
    particles_destroy(&sim->next.particles);
    level_set_destroy(&sim->now.surface);
    level_set_destroy(&sim->next.surface);
    particles_destroy(&sim->shown);
    particle_spares_finish(&sim->spares);
    arena_finish(&sim->scratch);
    alloc_free(ctx, sim, sizeof(*sim));
    alloc_trim(ctx);
}

double treacle_sim_time(const treacle_sim* sim) {
    return sim->now.time;
}

int64_t treacle_sim_step_count(const treacle_sim* sim) {
    return sim->now.step;
}

int64_t treacle_sim_particle_count(const treacle_sim* sim) {
    return sim->now.particles.count;
}
