// The particle store: columns in a registry, sorted by tile.
//
// A particle is one entry in each column that the scene uses; columns that it does not use do
// not exist (NULL). Particles are sorted by (tile, cell, id): particles of tile i are tile_first[i]
// .. tile_first[i+1]-1, and the tiles are in Morton order. The order is total, because ids are
// unique: it depends on the particles alone, not on how they got there.
//
// Position is tile-local, in cells, float: the place in the domain is 8 * tile + position. World
// floats would stall slow creep far from the origin. Between sorts a position may leave [0, 8): the
// next sort carries it over to the tile it has gone to.
//
// id = source << 48 | birth count. Randomness is a hash of (seed, id, purpose).
#pragma once

#include "base/parallel.h"
#include "grid/domain.h"
#include "grid/tile_map.h"
#include "grid/tile_points.h"
#include "math/vec3.h"
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
    X(TEMPERATURE, "temperature", F32, 1)         /* K */                                          \
    X(MARKER, "marker", F32, 1)                   /* any unit, carried along */                    \
    X(STRAIN, "strain", F32, 6)                   /* elastic: xx, yy, zz, yz, zx, xy */            \
    X(LOG_FACTOR, "viscosity_log_factor", F32, 1) /* log of what multiplies the viscosity */       \
    X(ENTHALPY, "enthalpy", F64, 1)               /* J/kg, 0: solid at HEAT_REFERENCE */           \
    X(MELTED, "melted", F32, 1)                   /* 0..1, share that is melted */                 \
    X(BIRTH, "birth", F32, 1)                     /* s, when it came */                            \
    X(REST_SIZE, "rest_size", F32, 1)             /* exponent of [shrink.1] at birth */            \
    X(DAMAGE, "damage", F32, 1)                   /* 0..1, whole to broken [crack.2] */

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
    size_t bytes; // of one particle
} particle_column_info;
extern const particle_column_info particle_columns[PARTICLE_COLUMN_COUNT];

// Where ranks are distributed (tile_owners.is_distributed) a rank holds its own particles alone.
// Those of the other ranks still have numbers and room in all columns, so that a particle has the
// same number on every rank; but nobody touches that memory, and what is in it means nothing. Two
// stretches of the order belong to other ranks: the one before this rank's own and the one behind.
// Particles that were appended since the last sort are on all ranks.
typedef struct particle_away {
    particle_ix low_end;              // particles 0 .. low_end - 1
    particle_ix high_first, high_end; // particles high_first .. high_end - 1
} particle_away;

// The four arrays below grow on their own: a failed growth leaves some of them larger than
// `capacity` asks for and all of them usable.
typedef struct particles {
    treacle_context* ctx;
    uint32_t column_mask; // bit c: column c exists
    // Ranks that own the tiles, and with them their particles; NULL: one has all. The same for all
    // stores of a simulation.
    const struct tile_owners* owners;
    particle_ix count;
    particle_away away;                                 // zeros: all particles are here
    void* column[PARTICLE_COLUMN_COUNT];                // NULL where it does not exist
    particle_ix column_capacity[PARTICLE_COLUMN_COUNT]; // particles, of the store's own block
    // Columns that are another store's, to be read and not written (particles_borrow): bit c. The
    // store's own block is set aside meanwhile.
    uint32_t borrowed_mask;
    particle_ix borrowed_capacity; // of the other store: then the two of a step settle at one size
    void* own_block[PARTICLE_COLUMN_COUNT]; // NULL: there is none yet, or the column is not
                                            // borrowed
    // A group is a run of particles with the same tile. After a sort the groups are the tiles: in
    // Morton order, no tile twice, none empty. Particles that are appended open groups of their own
    // at the end.
    tile_ix tile_count;
    tile_ix tile_capacity, tile_first_capacity;
    tile_coord* tile;        // [tile_count]
    particle_ix* tile_first; // [tile_count + 1]
} particles;

/// An empty store with the given columns. POSITION, VELOCITY, ID, VOLUME and MATERIAL always exist.
treacle_status particles_create(treacle_context* ctx, uint32_t column_mask,
                                particles* out) TREACLE_NODISCARD;
/// Harmless on a zeroed store, and twice.
void particles_destroy(particles* p);

/// Room for that many particles and groups in all. On failure the store holds what it held.
treacle_status particles_reserve(particles* p, particle_ix members,
                                 int64_t groups) TREACLE_NODISCARD;
/// Adds `members` particles at the end, in the group of `tile`, and gives the first of them; their
/// columns are not initialised. Extends the last group if it has the same tile. On failure: as it
/// was.
treacle_status particles_append(particles* p, tile_coord tile, particle_ix members,
                                particle_ix* first) TREACLE_NODISCARD;
/// Removes the particles whose is_removed[particle] is 1, not 0; the others keep their order and
/// groups. All particles must be here; see particle_ranks_remove.
void particles_remove(particles* p, const uint8_t* is_removed);
/// dst = src. Both must have the same columns. On failure dst is empty.
treacle_status particles_copy(particles* dst, const particles* src) TREACLE_NODISCARD;
/// The same without copying: all columns of dst show those of src, which has to stay as it is while
/// any of them is borrowed. All particles must be here.
treacle_status particles_borrow(particles* dst, const particles* src) TREACLE_NODISCARD;
/// Makes columns (bit c of the mask: column c) the store's own, to be written: those that are
/// borrowed are copied. On failure: as it was.
treacle_status particles_own(particles* p, uint32_t columns) TREACLE_NODISCARD;
/// p->own_block for all particles of a borrowed column, to be filled in and shown by
/// particles_show_own.
treacle_status particles_reserve_own(particles* p, particle_column column) TREACLE_NODISCARD;
/// Ends the borrowing of a column without copying it: it shows the store's own block.
void particles_show_own(particles* p, particle_column column);
/// Room for so many groups in all. On failure the store holds what it held.
treacle_status particles_reserve_groups(particles* p, int64_t groups) TREACLE_NODISCARD;
void particles_swap(particles* a, particles* b);
/// No particles, no groups; keeps the memory.
void particles_clear(particles* p);

/// Whether the groups partition the particles.
bool particles_is_grouped(const particles* p);
/// Whether the store is as a sort leaves it: grouped, in order, every position in its tile and
/// domain. For tests and for state that comes from files.
bool particles_is_sorted(const particles* p, const grid_domain* domain);

/// The cell of a tile-local position in [0, 8)^3, as an index into a tile's 512 values.
static inline int particles_cell(const float position[AXES]) {
    return ((int)position[2] * TILE_SIZE + (int)position[1]) * TILE_SIZE + (int)position[0];
}

static inline float* particles_f32(const particles* p, particle_column column) {
    return (float*)p->column[column];
}
static inline double* particles_f64(const particles* p, particle_column column) {
    return (double*)p->column[column];
}
static inline uint64_t* particles_id(const particles* p) {
    return (uint64_t*)p->column[PARTICLE_ID];
}
static inline uint8_t* particles_material(const particles* p) {
    return (uint8_t*)p->column[PARTICLE_MATERIAL];
}

/// A particle as it is born. Along an inactive axis it sits on the mid-plane and does not move.
typedef struct particle_birth {
    uint64_t id;
    float position[AXES]; // in the tile of its particle
    vec3 place;           // m
    vec3 velocity;        // m/s
    double volume;        // m^3
    uint8_t material;
    float colour[3];
    float temperature; // K
    float marker;
    float log_factor; // of the viscosity
    float time;       // s
} particle_birth;
/// Fills every column of the particle.
void particle_init(particles* p, const grid_domain* domain, particle_ix particle,
                   const particle_birth* birth);

/// The particles as the grid sees them.
static inline tile_points particles_points(const particles* p) {
    return (tile_points){.tile_count = p->tile_count,
                         .tile = p->tile,
                         .tile_first = p->tile_first,
                         .position = particles_f32(p, PARTICLE_POSITION),
                         .owners = p->owners};
}

/// The place of a tile-local position, m.
static inline vec3 particles_place(const grid_domain* domain, tile_coord tile,
                                   const float position[AXES]) {
    vec3 out;
    for (int a = 0; a < AXES; ++a) {
        double cells = (double)TILE_SIZE * tile.at[a] + (double)position[a];
        out.at[a] = domain->origin[a] + domain->h * cells;
    }
    return out;
}
/// The tile of a place and the position in it. Places outside the domain get a tile next to it and
/// a position beyond it, for the sort to judge.
void particles_locate(const grid_domain* domain, vec3 place, tile_coord* tile,
                      float position[AXES]);

// The source part of an id.
enum { PARTICLE_SOURCE_SHIFT = 48 };
#define PARTICLE_BIRTHS_MAX (UINT64_C(1) << PARTICLE_SOURCE_SHIFT)
static inline uint64_t particles_make_id(uint64_t source, uint64_t birth) {
    TREACLE_ASSERT(source >> (64 - PARTICLE_SOURCE_SHIFT) == 0 && birth < PARTICLE_BIRTHS_MAX);
    return source << PARTICLE_SOURCE_SHIFT | birth;
}
