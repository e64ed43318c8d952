// Merges vertices that lie as good as in one place: triangles between them have no width.
#pragma once

#include "mesh/mesh_seams.h"

/// Takes away the sides that are shorter than `length` cells where that pinches nothing. Of the two
/// ends the one on more walls stays where it is; ends on different walls stay both. The seams, of
/// which NULL is none, are those of the mesh before.
treacle_status surface_mesh_merge(surface_mesh* m, const mesh_seams* seams,
                                  double length) TREACLE_NODISCARD;
