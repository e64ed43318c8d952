#include "sim/sim_seed.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "grid/partition.h"
#include "particles/seed.h"
#include "phys/collide.h"
#include "phys/shrinkage.h"
#include "sim/eulerian.h"
#include "sim/heat_setup.h"

enum { FIELDS = 5 };

// Liquids with their shapes and fields compiled; needed only while they are seeded.
typedef struct liquids {
    int count;
    shape** shape;
    field *velocity, *temperature, *marker, *factor, *tint;
    seed_liquid* seed;
} liquids;

// What fills the rest of a domain without surface, as one more liquid.
typedef struct background {
    treacle_shape box;
    treacle_liquid_def liquid;
} background;

static void background_fill(const grid_domain* domain, background* out) {
    out->box = treacle_shape_default(TREACLE_SHAPE_BOX);
    for (int a = 0; a < AXES; ++a) {
        double size = domain->cells[a] * domain->h;
        out->box.size[a] = size + 2.0 * domain->h;
        out->box.move[a] = domain->origin[a] + 0.5 * size;
    }
    out->liquid = treacle_liquid_def_default();
    out->liquid.shape = &out->box;
}

// The axis along which distances do not count, or -1.
static int flat_axis(const grid_domain* domain) {
    int out = -1;
    for (int a = 0; a < AXES; ++a) {
        out = domain->is_active[a] ? out : a;
    }
    return out;
}

static treacle_status compile_liquids(treacle_sim* sim, const treacle_sim_def* def,
                                      const background* rest, liquids* out) {
    bool has_rest = def->fill == TREACLE_FILL_ALL;
    out->count = def->liquid_count + (has_rest ? 1 : 0);
    size_t count = (size_t)out->count;
    TREACLE_TRY(
        alloc_zero(sim->ctx, count, sizeof(*out->shape), "the liquids", (void**)&out->shape));
    field** fields[FIELDS] = {&out->velocity, &out->temperature, &out->marker, &out->factor,
                              &out->tint};
    for (int i = 0; i < FIELDS; ++i) {
        TREACLE_TRY(alloc_zero(sim->ctx, count, sizeof(field), "the liquids", (void**)fields[i]));
    }
    TREACLE_TRY(alloc_zero(sim->ctx, count, sizeof(*out->seed), "the liquids", (void**)&out->seed));
    for (int i = 0; i < out->count; ++i) {
        bool is_rest = i == def->liquid_count;
        const treacle_liquid_def* liquid = is_rest ? &rest->liquid : &def->liquids[i];
        int flat = sim->plan.is_eulerian ? flat_axis(&sim->domain) : -1;
        TREACLE_TRY(flat < 0 ? shape_create(sim->ctx, liquid->shape, &out->shape[i])
                             : shape_create_flat(sim->ctx, liquid->shape, flat, &out->shape[i]));
        TREACLE_TRY(field_init(sim->ctx, &liquid->velocity, 3, &out->velocity[i]));
        TREACLE_TRY(field_init(sim->ctx, &liquid->temperature, 1, &out->temperature[i]));
        TREACLE_TRY(field_init(sim->ctx, &liquid->marker, 1, &out->marker[i]));
        TREACLE_TRY(field_init(sim->ctx, &liquid->viscosity_factor, 1, &out->factor[i]));
        TREACLE_TRY(field_init(sim->ctx, &liquid->colour, 3, &out->tint[i]));
        out->seed[i] = (seed_liquid){
            .shape = out->shape[i],
            .velocity = &out->velocity[i],
            .temperature = &out->temperature[i],
            .marker = &out->marker[i],
            .factor = &out->factor[i],
            .tint = &out->tint[i],
            .spin = vec3_from(liquid->spin),
            .spin_centre = vec3_from(liquid->spin_centre),
            .material = (uint8_t)liquid->material,
            .source = (uint64_t)(is_rest ? SIM_SOURCE_REST(def) : i),
        };
        sim_colour(def, liquid->material, out->seed[i].colour);
    }
    return TREACLE_OK;
}

static void free_liquids(treacle_context* ctx, liquids* l) {
    size_t count = (size_t)l->count;
    for (int i = 0; l->shape != NULL && i < l->count; ++i) {
        shape_destroy(l->shape[i]);
    }
    field* fields[FIELDS] = {l->velocity, l->temperature, l->marker, l->factor, l->tint};
    for (int f = 0; f < FIELDS; ++f) {
        for (int i = 0; fields[f] != NULL && i < l->count; ++i) {
            field_finish(&fields[f][i]);
        }
        alloc_free(ctx, fields[f], count * sizeof(field));
    }
    alloc_free(ctx, l->shape, count * sizeof(*l->shape));
    alloc_free(ctx, l->seed, count * sizeof(*l->seed));
}

static treacle_status sort_seeds(treacle_sim* sim) {
    particle_sorter sorter = {&sim->domain, &sim->scratch};
    particle_sort_stats stats;
    TREACLE_TRY(particle_sort(&sim->now.particles, &sorter, &stats));
    return arena_end_step(&sim->scratch);
}

// What a group of particles costs, and where its tile is in the order of tiles.
typedef struct seed_load {
    uint64_t key;
    tile_coord tile;
    int64_t rows;
} seed_load;

static int by_key(const void* a, const void* b) {
    const seed_load *x = a, *y = b;
    return (x->key > y->key) - (x->key < y->key);
}

// Tiles in order, each once, with all the rows that groups give to it. Returns how many.
static tile_ix merge_loads(const particles* p, seed_load* loads) {
    for (tile_ix g = 0; g < p->tile_count; ++g) {
        loads[g] =
            (seed_load){tile_key(p->tile[g]), p->tile[g], p->tile_first[g + 1] - p->tile_first[g]};
    }
    qsort(loads, (size_t)p->tile_count, sizeof(*loads), by_key);
    tile_ix count = 0;
    for (tile_ix g = 0; g < p->tile_count; ++g) {
        if (count > 0 && loads[count - 1].key == loads[g].key) {
            loads[count - 1].rows += loads[g].rows;
        } else {
            loads[count++] = loads[g];
        }
    }
    return count;
}

treacle_status sim_partition_tiles(treacle_sim* sim, const particles* p) {
    TREACLE_ASSERT(!sim->ranks.owners.is_distributed || sim->ranks.key != NULL);
    if (!sim->ranks.owners.is_distributed) { // the next step does it
        return TREACLE_OK;
    }
    size_t groups = (size_t)p->tile_count;
    seed_load* loads = NULL;
    tile_coord* tiles = NULL;
    int32_t* weights = NULL;
    int mark = arena_mark(&sim->scratch);
    TREACLE_TRY(arena_take(&sim->scratch, groups, sizeof(*loads), "loads", (void**)&loads));
    TREACLE_TRY(arena_take(&sim->scratch, groups, sizeof(*tiles), "loads", (void**)&tiles));
    TREACLE_TRY(arena_take(&sim->scratch, groups, sizeof(*weights), "loads", (void**)&weights));
    tile_ix count = merge_loads(p, loads);
    for (tile_ix t = 0; t < count; ++t) {
        tiles[t] = loads[t].tile;
        weights[t] = partition_weight(loads[t].rows);
    }
    partition_load load = {count, tiles, weights};
    treacle_status status = partition_find(sim->ctx, &load, sim->ranks.key);
    arena_give_to(&sim->scratch, mark);
    return status;
}

static treacle_status partition_seeds(void* data, const particles* p) {
    return sim_partition_tiles(data, p);
}

// Solids where they are at the start.
typedef struct blockers {
    solid_scene scene;
    double gap; // m
} blockers;

static bool is_in_solid(const void* data, vec3 x) {
    const blockers* b = data;
    double distance;
    solid_nearest(&b->scene, x, &distance);
    return distance < b->gap;
}

void sim_pose_solids(const treacle_sim* sim, double time, solid_pose* poses) {
    TREACLE_ASSERT(sim->setup.solids.count == 0 || poses != NULL);
    TREACLE_ASSERT(isfinite(time));
    const solid_set* set = &sim->setup.solids;
    for (int i = 0; i < set->scripted_count; ++i) {
        solid_pose* pose = &poses[i];
        *pose = solids_pose_at(&set->motions[i], time);
        if (set->solids[i].sequence != NULL) {
            solids_reshape(&set->solids[i], &set->motions[i], time, time,
                           (solid_pose* const[2]){pose, pose});
        }
    }
    for (int i = set->scripted_count; i < set->count; ++i) {
        poses[i] = body_pose(&sim->now.bodies[i - set->scripted_count]);
    }
}

static treacle_status seed_outside(treacle_sim* sim, seed_def* seeding) {
    const solid_set* set = &sim->setup.solids;
    size_t count = (size_t)set->count;
    void* poses = NULL;
    TREACLE_TRY(alloc_zero(sim->ctx, count, sizeof(solid_pose), "poses of solids", &poses));
    sim_pose_solids(sim, 0.0, poses);
    blockers b = {{set->count, set->solids, poses}, COLLIDE_GAP * sim->domain.h};
    seeding->is_blocked = count > 0 ? is_in_solid : NULL;
    seeding->blocked_data = &b;
    treacle_status status;
    if (sim->plan.is_eulerian) {
        status = eulerian_seed(sim, seeding);
    } else {
        status = seed_particles(&sim->now.particles, seeding);
        heat_begin(&sim->setup.heat, &sim->now.particles, 0);
        shrinkage_begin(sim->setup.materials, &sim->now.particles, 0);
    }
    alloc_free(sim->ctx, poses, count * sizeof(solid_pose));
    return status;
}

treacle_status sim_seed(treacle_sim* sim, const treacle_sim_def* def) {
    TREACLE_ASSERT(sim->now.particles.count == 0);
    liquids compiled = {0};
    background rest;
    background_fill(&sim->domain, &rest);
    treacle_status status;
    TREACLE_TRY_GOTO(compile_liquids(sim, def, &rest, &compiled), finish);
    seed_def seeding = {
        .domain = &sim->domain,
        .seed = def->seed,
        .particles = def->particles,
        .liquid_count = compiled.count,
        .liquids = compiled.seed,
        .partition = partition_seeds,
        .partition_data = sim,
    };
    TREACLE_TRY_GOTO(seed_outside(sim, &seeding), finish);
    TREACLE_TRY_GOTO(sort_seeds(sim), finish);
finish:
    free_liquids(sim->ctx, &compiled);
    return status;
}
