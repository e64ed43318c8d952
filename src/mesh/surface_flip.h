// Triangles without height get some.
//
// Where three vertices lie on one line, the one between the others opposite to their side, the side
// is turned: the triangle and its neighbour across it become two that both have an area. The shape
// of the surface does not change by more than the height of the triangle, and it stays a closed
// manifold.
#pragma once

#include "mesh/surface_mesh.h"

/// Turns the longest sides of triangles whose height is below a twentieth of it.
treacle_status surface_mesh_flip(surface_mesh* m) TREACLE_NODISCARD;
