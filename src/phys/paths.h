// Paths of points through the velocity on faces: forward for particles, back for semi-Lagrangian
// advection.
#pragma once

#include "phys/advect_kernel.h"
#include "phys/velocity.h"

enum { PATHS_SIZE_MAX = TILE_SIZE + 2 * VELOCITY_HALO_MAX };

typedef struct paths {
    const face_velocity* flow; // stands still during the step
    double dt;                 // s; negative: back in time
    double reach;              // bound on what any point moves, cells, at most 5
    treacle_advection scheme;
} paths;

/// The velocity around a tile; large, for a worker's stack.
typedef struct paths_block {
    float u[AXES][PATHS_SIZE_MAX * PATHS_SIZE_MAX * PATHS_SIZE_MAX];
    advect_tile tile;
    treacle_context* ctx;
} paths_block;

void paths_gather(const paths* p, tile_ix tile, paths_block* out);
/// Moves points along their paths: x is [count][3], cells from the tile's low corner, where they
/// may be a cell beyond the tile.
void paths_trace(const paths_block* block, int64_t count, float* x);
/// Component a of the velocity at a point, m/s.
float paths_component(const paths_block* block, int a, const float x[AXES]);
