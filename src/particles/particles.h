// The particle store: columns in a registry, sorted by tile.
//
// A particle is one row over the columns that the scene uses; columns that it does not use do not
// exist (NULL). Rows are sorted by (tile, cell, id): rows of tile i are tile_first[i] ..
// tile_first[i+1]-1, and the tiles are in Morton order. The order is total, because ids are unique:
// it depends on the particles alone, not on how they got there.
//
// Position is tile-local, in cells, float: the place in the domain is 8 * tile + position. World
// floats would stall slow creep far from the origin. Between sorts a position may leave [0, 8): the
// next sort carries it over to the tile it has gone to.
//
// id = source << 48 | birth count. Randomness is a hash of (seed, id, purpose).
#pragma once

#include "base/context.h"
#include "grid/domain.h"
#include "grid/tile_map.h"
#include "treacle/cache.h"

typedef int64_t particle_ix;

// Column, name in files, type, components.
#define PARTICLE_COLUMN_LIST(X)                                                                    \
    X(POSITION, "position", F32, 3) /* cells, from the low corner of the tile */                   \
    X(VELOCITY, "velocity", F32, 3) /* m/s */                                                      \
    X(ID, "id", U64, 1)                                                                            \
    X(VOLUME, "volume", F32, 1) /* m^3, constant over a particle's life */                         \
    X(MATERIAL, "material", U8, 1)                                                                 \
    X(AFFINE, "affine", F32, 9) /* 1/s, C of APIC: row a is the gradient of velocity a */          \
    X(COLOUR, "colour", F32, 3) /* linear RGB */                                                   \
    X(REST, "rest", F32, 3)     /* m from the origin, where it was born */                         \
    X(TEMPERATURE, "temperature", F32, 1) /* K */                                                  \
    X(MARKER, "marker", F32, 1)           /* any unit, carried along */

typedef enum particle_column {
#define PARTICLE_COLUMN_ENUM(name, text, type, components) PARTICLE_##name,
    PARTICLE_COLUMN_LIST(PARTICLE_COLUMN_ENUM)
#undef PARTICLE_COLUMN_ENUM
        PARTICLE_COLUMN_COUNT
} particle_column;

typedef struct particle_column_info {
    const char* name;
    treacle_type type;
    int components;
    size_t bytes; // of one row
} particle_column_info;
extern const particle_column_info particle_columns[PARTICLE_COLUMN_COUNT];

typedef struct particles {
    treacle_context* ctx;
    uint32_t column_mask; // bit c: column c exists
    particle_ix count, capacity;
    void* column[PARTICLE_COLUMN_COUNT]; // NULL where it does not exist
    tile_ix tile_count;
    tile_ix tile_capacity;
    tile_coord* tile;        // [tile_count], Morton order
    particle_ix* tile_first; // [tile_count + 1]
} particles;

/// An empty store with the given columns. POSITION, VELOCITY, ID, VOLUME and MATERIAL always exist.
treacle_status particles_create(treacle_context* ctx, uint32_t column_mask,
                                particles* out) TREACLE_NODISCARD;
void particles_destroy(particles* p);

static inline float* particles_f32(const particles* p, particle_column column) {
    return (float*)p->column[column];
}
static inline uint64_t* particles_id(const particles* p) {
    return (uint64_t*)p->column[PARTICLE_ID];
}
static inline uint8_t* particles_material(const particles* p) {
    return (uint8_t*)p->column[PARTICLE_MATERIAL];
}
