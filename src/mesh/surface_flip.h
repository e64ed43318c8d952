// Triangles without height get some, and vertices that lie as good as in one place are merged.
//
// Where three vertices lie on one line, the one between the others opposite to their side, the side
// is turned: the triangle and its neighbour across it become two that both have an area. The shape
// of the surface does not change by more than the height of the triangle, and it stays a closed
// manifold.
#pragma once

#include "mesh/mesh_seams.h"

/// Turns the longest sides of triangles whose height is below a twentieth of it.
treacle_status surface_mesh_flip(surface_mesh* m) TREACLE_NODISCARD;

/// Takes away the sides that are shorter than `length` cells where that pinches nothing. Of the two
/// ends the one on more walls stays where it is; ends on different walls stay both. The seams, of
/// which NULL is none, are those of the mesh before.
treacle_status surface_mesh_merge(surface_mesh* m, const mesh_seams* seams,
                                  double length) TREACLE_NODISCARD;
