#include "base/hash.h"
#include "sim/sim_internal.h"

uint64_t treacle_sim_hash(const treacle_sim* sim) {
    const particles* p = &sim->now.particles;
    size_t rows = (size_t)p->count, tiles = (size_t)p->tile_count;
    uint64_t hash = hash_bytes(&sim->now.time, sizeof(sim->now.time),
                               (uint64_t)sim->now.step + sim->now.reseed_births);
    for (int c = 0; c < PARTICLE_COLUMN_COUNT; ++c) {
        if (p->column[c] != NULL) {
            hash = hash_bytes(p->column[c], rows * particle_columns[c].bytes, hash);
        }
    }
    hash = hash_bytes(p->tile, tiles * sizeof(*p->tile), hash);
    hash = hash_bytes(p->tile_first, (tiles + 1) * sizeof(*p->tile_first), hash);
    const liquid_state* liquid = &sim->now.liquid;
    size_t values = (size_t)liquid->map.count * TILE_CELLS;
    for (int a = 0; a < AXES && values > 0; ++a) {
        hash = hash_bytes(liquid->face_u[a], values * sizeof(float), hash);
    }
    return values > 0 ? hash_bytes(liquid->cell_pressure, values * sizeof(float), hash) : hash;
}
