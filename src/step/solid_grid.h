// What sides and solids leave open of the grid, with solids as they stand at the end of the step.
// In the scratch arena; phys/solid_fields.h has the laws.
#pragma once

#include <stdint.h>

#include "grid/face_field.h"
#include "step/solid_set.h"

/// Where solids are at both ends of a step.
typedef struct solid_poses {
    solid_pose* from; // [solids]; NULL without solids
    solid_pose* to;
} solid_poses;

/// The solids with one of the two.
static inline solid_scene solid_scene_of(const solid_set* set, const solid_pose* poses) {
    return (solid_scene){set->count, set->solids, poses};
}

/// Fields at cells and on faces, [count + 1][512]; but face_open they are NULL without solids.
typedef struct solid_grid {
    float* phi;           // cells, > 0 outside
    uint16_t* id;         // the nearest
    float* open;          // fraction of a cell's volume
    uint8_t* across;      // bits of axes: a thin solid is below
    face_field face_open; // 0..1, what sides and solids leave open
    face_field face_u;    // m/s, where face_open < 1
} solid_grid;
