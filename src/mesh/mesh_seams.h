// Which vertices lie on what: the liquid's own surface, walls, and the lines where they meet.
//
// A vertex of marching cubes lies on one surface: the liquid's own, or one that bounds the room.
// Where an edge of the mesh joins vertices of two surfaces, the nearer one of them is moved onto
// both: then no triangle cuts the corner, and the line where liquid ends at a wall is sharp. Where
// three meet in a triangle the nearest vertex is moved onto all of them.
#pragma once

#include "mesh/mesh_blocks.h"
#include "mesh/mesh_room.h"
#include "mesh/surface_mesh.h"

enum { SEAM_BOUNDS = 3 };

typedef struct mesh_seams {
    treacle_context* ctx;
    const mesh_room* room;         // not owned
    int64_t count;                 // vertices
    uint8_t* is_free;              // on the liquid's own surface
    int16_t (*bound)[SEAM_BOUNDS]; // surfaces of the room that it lies on, or -1
} mesh_seams;

/// `is_wall` is what contour_mesh_marked() says, blocks and iso what it was made from. Vertices are
/// moved onto what they lie on.
typedef struct seam_field {
    const mesh_blocks* blocks;
    float iso;
    const uint8_t* is_bound;
} seam_field;
treacle_status mesh_seams_create(const mesh_room* room, const seam_field* field, surface_mesh* m,
                                 mesh_seams* out) TREACLE_NODISCARD;
/// Harmless on a zeroed one.
void mesh_seams_destroy(mesh_seams* s);

/// How many walls a vertex lies on.
int mesh_seams_bounds(const mesh_seams* s, int64_t v);
/// Moves the vertices that lie on walls back onto them, across their normals; those of the liquid's
/// surface along it, where `normal` says how it lies: [count].
void mesh_seams_project(const mesh_seams* s, const float (*normal)[3], surface_mesh* m);
/// Moves vertices of the liquid's surface that are behind what bounds it, or as good as on it, in
/// front of it: on it they would be beside those on lines, in triangles without width.
void mesh_seams_keep_out(const mesh_seams* s, surface_mesh* m);
/// Moves the vertices that lie on walls `length` cells into them.
void mesh_seams_push(const mesh_seams* s, double length, surface_mesh* m);
