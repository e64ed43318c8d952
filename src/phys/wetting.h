// The surface of the liquid behind sides and solids, which it meets at a contact angle: for its
// curvature alone.
#pragma once

#include "grid/domain.h"
#include "grid/tile_map.h"
#include "phys/solid.h"

/// Sides and solids as the surface meets them. Fields are [count + 1][512].
typedef struct wetting_params {
    const grid_domain* domain; // has the angles of sides
    const tile_map* map;
    const float* cell_phi;       // cells, < 0 in the liquid
    const float* cell_solid_phi; // cells, > 0 outside; NULL: there are no solids
    const uint16_t* cell_solid;  // the nearest, or SOLID_NONE
    const solid* solids;         // with their angles
    const float* cell_bend;      // curvature across the line of contact, times h; NULL: none
} wetting_params;

/// Heights above sides and solids, in cells, between which the surface says how it bends there.
#define WETTING_LOW 2.4f
#define WETTING_HIGH 5.6f
/// Most that it bends, times h.
#define WETTING_BEND_MAX 0.3f

/// Whether a surface meets anything but sides at right angles.
bool wetting_is_needed(const grid_domain* domain, int solid_count);
/// Whether what is behind sides and solids changes curvature in a tile.
bool wetting_is_near(const wetting_params* params, tile_ix t);

/// out = cell_phi, and behind solids, and within a cell of them, the surface as it meets them at
/// their angles [tension.4]. The dummy is copied.
void wetting_extend(const wetting_params* params, float* out);

/// A gathered block of phi with the same margin all round, 8 at most.
typedef struct wetting_block {
    tile_coord coord; // of the tile
    int margin;
    float* phi;
    const float* bend; // gathered as phi; NULL: none
} wetting_block;
/// Fills what is beyond the sides of the domain. NULL for params: all angles are right ones.
void wetting_fill_sides(const wetting_params* params, const grid_domain* domain,
                        const wetting_block* block);

/// The height of a cell above the nearest side or solid, in cells, and the direction away from it.
float wetting_height_at(const wetting_params* params, tile_ix t, int q, float normal[AXES]);

/// cell_bend, from the curvature across lines of contact of cells between WETTING_LOW and
/// WETTING_HIGH, NAN where it is not known: the mean of those that are nearest.
void wetting_bend(const wetting_params* params, const float* cell_across, float* cell_bend);
