#include "base/comm_hash.h"
#include "base/hash.h"
#include "particles/particle_ranks.h"
#include "sim/sim_internal.h"

static uint64_t hash_surface(const level_set* set, uint64_t hash) {
    const particles* m = &set->markers;
    size_t tiles = (size_t)set->map.count, members = (size_t)m->count;
    hash = hash_bytes(set->map.coord, tiles * sizeof(tile_coord), hash + set->births);
    hash = hash_bytes(set->phi, tiles * TILE_CELLS * sizeof(float), hash);
    hash = hash_bytes(m->column[PARTICLE_POSITION], members * AXES * sizeof(float), hash);
    hash = hash_bytes(m->column[PARTICLE_ID], members * sizeof(uint64_t), hash);
    hash = hash_bytes(m->column[PARTICLE_VOLUME], members * sizeof(float), hash);
    hash = hash_bytes(m->column[PARTICLE_MATERIAL], members, hash);
    return hash_bytes(m->tile_first, ((size_t)m->tile_count + 1) * sizeof(int64_t), hash);
}

uint64_t treacle_sim_hash(const treacle_sim* sim) {
    const particles* p = &sim->now.particles;
    size_t tiles = (size_t)p->tile_count;
    uint64_t hash = hash_bytes(&sim->now.time, sizeof(sim->now.time),
                               (uint64_t)sim->now.step + sim->now.reseed_births);
    hash = hash_bytes(&sim->now.calm, sizeof(sim->now.calm), hash);
    bool is_distributed = sim->ranks.owners.is_distributed;
    if (is_distributed) {
        particle_ranks_first(p, sim->ranks.rows);
    }
    for (int c = 0; c < PARTICLE_COLUMN_COUNT; ++c) {
        if (p->column[c] != NULL) {
            comm_array column = {p->column[c], particle_columns[c].bytes, p->count,
                                 is_distributed ? sim->ranks.rows : NULL};
            hash = comm_hash(sim->ctx, &column, hash);
        }
    }
    hash = hash_bytes(p->tile, tiles * sizeof(*p->tile), hash);
    hash = hash_bytes(p->tile_first, (tiles + 1) * sizeof(*p->tile_first), hash);
    const liquid_state* liquid = &sim->now.liquid;
    size_t values = (size_t)liquid->map.count * TILE_CELLS;
    comm_array values_of = {.item_bytes = TILE_CELLS * sizeof(float), .count = liquid->map.count};
    values_of.first = tile_ranks_are_distributed(&liquid->map) ? liquid->map.ranks->first : NULL;
    const float* const fields[] = {liquid->face_u.at[0], liquid->face_u.at[1], liquid->face_u.at[2],
                                   liquid->cell_pressure, liquid->cell_phi};
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]) && values > 0; ++i) {
        values_of.data = fields[i];
        hash = comm_hash(sim->ctx, &values_of, hash);
    }
    if (liquid->cell_contact != NULL) {
        hash = hash_bytes(liquid->cell_contact, values, hash);
    }
    for (int f = 0; f < CARRIED_COUNT && values > 0; ++f) {
        if (liquid->carried[f] != NULL) {
            hash = hash_bytes(liquid->carried[f], values * sizeof(float), hash);
        }
    }
    if (sim->plan.is_eulerian) {
        hash = hash_surface(&sim->now.surface, hash);
    }
    size_t bodies = (size_t)sim->setup.bodies.count;
    return bodies > 0 ? hash_bytes(sim->now.bodies, bodies * sizeof(body_state), hash) : hash;
}
