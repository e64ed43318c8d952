// The isosurface of a sparse field: marching cubes whose table is made, not written down.
//
// A cube's corners are inside (value > iso, and clip > 0 where the blocks have it) or not. On each
// face, runs of inside corners around it are cut off from each other: two opposite inside corners
// stay apart. This depends on the face's own corners alone, so cubes that share a face agree. The
// segments on the faces join to loops; a loop becomes triangles in such a way that no diagonal lies
// on a face of the cube. Then the mesh is closed, and every edge has exactly two triangles: the
// sides of a loop belong to two cubes, the diagonals to one. Around a vertex, which sits on an edge
// of the lattice, the four cubes of that edge have one loop each, joined through four faces: one
// fan. So it is a manifold.
#pragma once

#include "mesh/mesh_blocks.h"
#include "mesh/surface_mesh.h"

enum { CONTOUR_CASES = 256, CONTOUR_TRIANGLES_MAX = 5, CONTOUR_EDGES = 12 };

/// Triangles of a case as edges of the cube. Corner c is at (c & 1, c >> 1 & 1, c >> 2); edge
/// 4 a + j runs along axis a from the corner with bits (j & 1, j >> 1) along the two axes after a.
typedef struct contour_table {
    uint8_t count[CONTOUR_CASES];
    uint8_t edge[CONTOUR_CASES][CONTOUR_TRIANGLES_MAX][3];
    uint8_t corner[CONTOUR_EDGES][2]; // low and high end of an edge
} contour_table;
/// False if a case cannot be triangulated, which a test rules out.
bool contour_table_make(contour_table* out);

/// The volume enclosed, cells^3.
double contour_volume(const mesh_blocks* b, const contour_table* table, float iso);
treacle_status contour_mesh(const mesh_blocks* b, const contour_table* table, float iso,
                            surface_mesh* out) TREACLE_NODISCARD;
/// Does the same and tells which vertices lie on what bounds the liquid: [vertex_count] bytes for
/// alloc_free. Without distances in the blocks there are none.
treacle_status contour_mesh_marked(const mesh_blocks* b, const contour_table* table, float iso,
                                   surface_mesh* out, uint8_t** is_bound) TREACLE_NODISCARD;
/// The value between low and high whose isosurface encloses `volume`, to 1e-4 of it; the nearer end
/// if none does.
float contour_match_volume(const mesh_blocks* b, const contour_table* table, const float range[2],
                           double volume);
