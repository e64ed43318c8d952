// The liquid's level set from its particles.
//
// Two ways to tell how far a cell's centre x is from the liquid, both evaluated at cell centres, in
// cells, and then redistanced [geometry.1]:
//
//   LEVEL_SMOOTH   phi = |x - mean of the points around| - r, the mean weighted by a bump of radius
//                  `radius`, r such that the surface of a half space of even density is where the
//                  half space ends [ZB05 eq. 1]. Flat surfaces come out flat. The default.
//   LEVEL_SPHERES  the union of balls around the points, closed: balls are LEVEL_CLOSING too large,
//                  and the surface is then moved back by as much. So gaps between points fill up
//                  and the outside keeps the shape of single drops.
//
// Either way a cell that holds more than the surface would have it hold is liquid: with the volume
// c that a cell sees of the points through the linear kernel, phi <= LEVEL_CROWD - c. In evenly
// spread liquid c is at most 1/2 outside. Without this, points that run together, in a film on a
// wall or in a drop smaller than a cell, would be outside however many they are.
//
// Points are mirrored at the sides of the domain that are not periodic: the liquid goes on behind
// walls.
#pragma once

#include "grid/tile_points.h"

typedef enum level_kind {
    LEVEL_SMOOTH,
    LEVEL_SPHERES,
} level_kind;

typedef struct level_params {
    const grid_domain* domain;
    const tile_map* map; // holds the tiles of the points and all within LEVEL_REACH cells of them
    const tile_points* points;
    level_kind kind;
    float radius;             // cells; see level_radius_default
    double per_cell;          // > 0, points in a full cell
    float limit;              // cells, >= 2: distances beyond are cut off
    const float* cell_volume; // [count + 1][512], c; NULL: nothing is known of volumes
} level_params;

#define LEVEL_REACH 2
#define LEVEL_CLOSING 0.65f
#define LEVEL_CROWD 0.75f

/// The radius for points of `per_cell` to a full cell (square or line where axes are flat).
float level_radius_default(const grid_domain* domain, level_kind kind, double per_cell);

/// phi: [count + 1][512], set in all tiles but the dummy: signed distance at cells, in cells, < 0
/// in the liquid, +-limit beyond.
treacle_status level_liquid(const level_params* params, float* phi) TREACLE_NODISCARD;
