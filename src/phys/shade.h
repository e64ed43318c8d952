// Shadows: how much of the light of a point comes to another one past liquid and solids.
#pragma once

#include "grid/domain.h"
#include "grid/tile_map.h"
#include "phys/solid.h"

/// What stands in the way.
typedef struct shade {
    const grid_domain* domain;
    const tile_map* map;
    const float* cell_phi; // distance to the liquid's surface, cells, [count + 1][512]
    solid_scene solids;    // count 0: none
} shade;

/// 0..1, of the light at `to` what comes to `from`, a place on a surface with this normal; a normal
/// of 0: in the open. Along an axis on which the domain is flat both are in its middle. What is
/// within a cell of `to` does not count.
double shade_light(const shade* s, vec3 from, vec3 normal, vec3 to);
