// Lumps of liquid that touch nothing but air.
#pragma once

#include "base/arena.h"
#include "grid/face_field.h"
#include "particles/particles.h"
#include "solve/regions.h"

typedef struct flying_lumps_params {
    const grid_domain* domain;
    const tile_map* map;
    const float* cell_phi; // cells, < 0 in the liquid, [count + 1][512]
    face_view face_u;
    arena* scratch;
    /// Whether something that holds liquid is nearer to x than `reach`, m; NULL: nothing does but
    /// the sides of the domain.
    bool (*is_near)(const void* data, vec3 x, double reach);
    const void* near_data;
} flying_lumps_params;

typedef struct flying_lumps {
    const flying_lumps_params* params;
    pressure_level level;
    region_set set;
    int64_t* is_held;         // [set.count]
    double (*velocity)[AXES]; // [set.count], m/s, mean of those in flight
    bool has_flight;
} flying_lumps;

/// Finds the lumps and which of them are in flight. flying_lumps_finish frees it.
treacle_status flying_lumps_find(const flying_lumps_params* params,
                                 flying_lumps* out) TREACLE_NODISCARD;
/// Harmless on a zeroed one.
void flying_lumps_finish(flying_lumps* p);

/// What a particle's lump adds to its motion in a step, in cells; zero for those that are held.
typedef struct lump_motion {
    float frame[AXES]; // what the lump moves by
    float shift[AXES]; // what it gains beyond that
} lump_motion;

/// Motions of particles, [count]; is_moved[t] says which tiles of the store have any but zero.
typedef struct lump_motions {
    lump_motion* motion;
    uint8_t* is_moved;
} lump_motions;

/// Finds them for a step of dt in which what flies falls by `fall`, m. They are in the arena; of a
/// tile that is not moved they are not set.
treacle_status flying_lumps_motions(const flying_lumps* p, const particles* liquid, double dt,
                                    const double fall[AXES], lump_motions* out) TREACLE_NODISCARD;
