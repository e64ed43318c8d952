// Faces next to liquid, whose velocity a flow finds, and values beyond them.
#pragma once

#include "grid/tile_mask.h"
#include "grid/tile_sample.h"
#include "step/liquid_grid.h"
#include "step/solid_grid.h"

/// Where liquid is, as far as values on faces ask.
typedef struct wet_faces {
    const grid_domain* domain;
    const tile_map* map;
    const float* cell_phi; // cells, < 0 in liquid
    const solid_grid* solid;
    const liquid_grid* liquid;
    tile_sampler surface; // on a lattice of half cells, where that carries it; zeroed: it does not
    float surface_reach;  // cells of it, as far as the surface is known
    tile_mask* known;     // [count + 1], room for what is found
} wet_faces;

/// known = faces across the axis that are next to liquid, or have the mass of a unified flow; with
/// those that solids close, or without.
void wet_faces_find(const wet_faces* w, int axis, bool has_closed);
/// Takes values from known faces to some layers of others. slope as in grid/extrapolate.h.
treacle_status wet_faces_extend(const wet_faces* w, int axis, int layers, const float* slope,
                                float* values) TREACLE_NODISCARD;
/// Finds open wet faces and extends values of each axis from there.
treacle_status wet_faces_extend_all(const wet_faces* w, int layers,
                                    float* const values[AXES]) TREACLE_NODISCARD;
/// The velocity on wet faces as a flow leaves it, extended by some layers. slope: NULL for none.
treacle_status wet_faces_extend_velocity(const wet_faces* w, int layers, bool has_closed,
                                         const float* slope,
                                         float* const u[AXES]) TREACLE_NODISCARD;
/// A copy of u on wet faces, also on those that solids close; NAN elsewhere.
void wet_faces_copy(const wet_faces* w, face_view u, float* const out[AXES]);
