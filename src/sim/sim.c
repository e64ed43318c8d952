#include <string.h>

#include "base/alloc.h"
#include "base/comm.h"
#include "base/text.h"
#include "sim/attempt.h"
#include "sim/eulerian.h"
#include "sim/liquid_setup.h"
#include "sim/sim_check.h"
#include "sim/sim_seed.h"

void sim_colour(const treacle_sim_def* def, int material, float out[3]) {
    TREACLE_ASSERT(material >= 0 && material < def->material_count);
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
    sim->material_count = def->material_count;
    TREACLE_TRY(alloc_array(sim->ctx, (size_t)def->material_count, sizeof(*sim->palette),
                            "the colours of materials", (void**)&sim->palette));
    for (int i = 0; i < def->material_count; ++i) {
        sim_colour(def, i, sim->palette[i]);
    }
    return TREACLE_OK;
}

static treacle_status init_liquid(treacle_sim* sim, const treacle_sim_def* def) {
    TREACLE_TRY(liquid_setup_create(sim->ctx, def, &sim->plan, &sim->domain, &sim->setup));
    sim->setup.def = &sim->def;
    sim->setup.emitter_count = sim->emitter_count;
    sim->setup.emitters = sim->emitters;
    return TREACLE_OK;
}

// Tiles are shared out where particles carry the liquid; the first step does it.
static treacle_status init_ranks(treacle_sim* sim) {
    size_t ranks = (size_t)comm_size(sim->ctx);
    if (ranks == 1 || sim->plan.flow == TREACLE_FLOW_NONE || sim->plan.is_eulerian) {
        return TREACLE_OK;
    }
    TREACLE_TRY(alloc_zero(sim->ctx, 2 * (ranks + 1), sizeof(uint64_t), "what ranks own",
                           (void**)&sim->ranks.key));
    TREACLE_TRY(alloc_zero(sim->ctx, 2 * (ranks + 1), sizeof(int64_t), "what ranks own",
                           (void**)&sim->ranks.rows));
    sim->ranks.cells = sim->ranks.rows + ranks + 1;
    for (size_t r = 1; r <= ranks; ++r) {
        sim->ranks.key[r] = UINT64_MAX;
    }
    sim->ranks.owners = (tile_owners){sim->ranks.key, sim->plan.whole_because == NULL};
    sim->scratch.is_sparse = sim->ranks.owners.is_distributed;
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
    TREACLE_ASSERT(sim->setup.bodies.count == 0 ||
                   (sim->next.bodies != NULL && sim->next.bodies != sim->now.bodies));
    size_t count = (size_t)sim->setup.bodies.count;
    if (count > 0) {
        memcpy(sim->next.bodies, sim->now.bodies, count * sizeof(body_state));
    }
}

static treacle_status check_def(treacle_context* ctx, const treacle_sim_def* def,
                                grid_domain* domain) {
    TREACLE_TRY(sim_check_def(ctx, def));
    TREACLE_TRY(grid_domain_init(ctx, &def->domain, domain));
    for (int i = 0; i < def->solid_count; ++i) {
        domain->lets_go = domain->lets_go || def->solids[i].separation.is_on;
    }
    return TREACLE_OK;
}

static treacle_status init(treacle_sim* sim, const treacle_sim_def* def) {
    sim->def = *def;
    sim->def.gravity = (treacle_curve){0};
    memset(sim->def.domain.surface_velocity, 0, sizeof(sim->def.domain.surface_velocity));
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
    TREACLE_TRY(check_def(sim->ctx, def, &sim->domain));
    sim->plan = sim_plan_of(def, &sim->domain);
    sim->def.flow = sim->plan.flow;
    sim->def.viscosity_solve.mean = sim->plan.mean;
    TREACLE_TRY(init_ranks(sim));
    TREACLE_TRY(curve_copy(sim->ctx, &def->gravity, &sim->gravity));
    TREACLE_TRY(init_materials(sim, def));
    TREACLE_TRY(init_emitters(sim, def));
    TREACLE_TRY(init_drops(sim, def));
    TREACLE_TRY(init_sinks(sim, def));
    TREACLE_TRY(init_liquid(sim, def));
    TREACLE_TRY(init_bodies(sim));
    TREACLE_TRY(particles_create(sim->ctx, sim->plan.columns, &sim->now.particles));
    TREACLE_TRY(particles_create(sim->ctx, sim->plan.columns, &sim->next.particles));
    const tile_owners* owners = sim->ranks.key != NULL ? &sim->ranks.owners : NULL;
    sim->now.particles.owners = sim->next.particles.owners = owners;
    TREACLE_TRY(eulerian_create(sim));
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
    alloc_free(ctx, sim->palette, (size_t)sim->material_count * sizeof(*sim->palette));
    curve_free(ctx, &sim->gravity);
    alloc_free(ctx, sim->ranks.key, 2 * ((size_t)comm_size(ctx) + 1) * sizeof(uint64_t));
    alloc_free(ctx, sim->ranks.rows, 2 * ((size_t)comm_size(ctx) + 1) * sizeof(int64_t));
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
    arena_finish(&sim->scratch);
    alloc_free(ctx, sim, sizeof(*sim));
    alloc_trim(ctx);
}

treacle_status treacle_sim_plan(treacle_context* ctx, const treacle_sim_def* def, char** out) {
    text t;
    grid_domain domain;
    *out = NULL;
    TREACLE_TRY(check_def(ctx, def, &domain));
    const sim_plan plan = sim_plan_of(def, &domain);
    text_init(&t, ctx);
    sim_plan_print(&plan, &t);
    treacle_status status = text_take(&t, out);
    text_finish(&t);
    return status;
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
