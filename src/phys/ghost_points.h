// The liquid goes on behind solids: images of particles in them.
#pragma once

#include "base/arena.h"
#include "grid/tile_points.h"
#include "particles/particles.h"

typedef struct ghost_params {
    const grid_domain* domain;
    const tile_map* map;
    const float* cell_solid_phi; // cells, > 0 outside, [count + 1][512]
    const particles* p;          // sorted
    arena* scratch;
    bool has_all; // images of what does not touch, too: where contacts say what is held
} ghost_params;

/// The particles and their images, as points; they live in the scratch arena.
treacle_status ghost_points(const ghost_params* params, tile_points* out) TREACLE_NODISCARD;
