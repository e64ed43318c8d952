// What the liquid on the grid keeps between steps: the velocity on faces, extrapolated, for the
// next step's particles move through it; the surface, outside of which they fly; the pressure, the
// next solve's first guess; and which walls hold the liquid, where it may let go.
#pragma once

#include "grid/face_field.h"
#include "grid/tile_map.h"
#include "phys/strain.h"

// Cells, beyond which nobody needs to know how far the surface is.
#define LIQUID_DISTANCE_MAX 4.0f

/// What liquid on the grid carries along beside its velocity (compare/euler.h).
enum {
    CARRIED_TEMPERATURE, // K, at cells
    CARRIED_MELTED,      // 0..1, at cells
    CARRIED_STRAIN,      // parts as in phys/strain.h, at cells and edges
    CARRIED_COUNT = CARRIED_STRAIN + STRAIN_PARTS
};

/// Fields between steps. Zeroed: no liquid yet.
typedef struct liquid_state {
    tile_map map;
    float* values;         // one block for all fields
    face_field face_u;     // m/s, [count + 1][512]
    float* cell_pressure;  // p / (rho_ref h), m/s^2, [count + 1][512]
    float* cell_phi;       // distance to the surface, cells, < 0 in the liquid, [count + 1][512]
    uint8_t* cell_contact; // bits of phys/separation.h, [count + 1][512]; NULL: nothing lets go
    float* carried[CARRIED_COUNT]; // [count + 1][512] each; NULL: not carried, or by particles
} liquid_state;

treacle_status liquid_state_create(treacle_context* ctx, const grid_domain* domain,
                                   int64_t tile_count, const tile_coord* tiles,
                                   liquid_state* out) TREACLE_NODISCARD;
/// Zeroed fields on the map that the state has; of walls where the domain has some that let go.
treacle_status liquid_state_fields(liquid_state* state,
                                   const grid_domain* domain) TREACLE_NODISCARD;
/// Zeroed carried fields, those whose bit is set.
treacle_status liquid_state_add_carried(liquid_state* state, uint32_t fields) TREACLE_NODISCARD;
/// Harmless on a zeroed state, and twice.
void liquid_state_destroy(liquid_state* state);
/// The largest component of velocity on faces, m/s.
double liquid_state_fastest(const liquid_state* state);
