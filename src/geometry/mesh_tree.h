// How far a point is from a mesh, and whether it is inside.
//
// A tree of boxes over the triangles. The distance is that to the nearest triangle, exact but for
// rounding. Inside is where the generalized winding number [B18] exceeds 1/2: for a closed mesh
// that is the usual inside, and with holes in it or parts that intersect it still makes sense.
// Triangles far from the point count as dipoles. Questions only read: any number of threads may
// ask, and the answers are the same bits on every machine.
#pragma once

#include "geometry/triangle_mesh.h"

typedef struct mesh_tree mesh_tree;

/// Copies what it needs of the mesh.
treacle_status mesh_tree_create(const triangle_mesh* mesh, mesh_tree** out) TREACLE_NODISCARD;
/// Accepts NULL.
void mesh_tree_destroy(mesh_tree* tree);

/// Moves the vertices, of which there are as many as the mesh has.
void mesh_tree_refit(mesh_tree* tree, const vec3* vertices);

/// Negative inside.
double mesh_tree_distance(const mesh_tree* tree, vec3 x);
bool mesh_tree_is_inside(const mesh_tree* tree, vec3 x);

/// Whether the mesh is about as thick as a width behind all of its triangles but few near edges,
/// a twentieth of the area.
bool mesh_tree_is_thicker(const mesh_tree* tree, double width);

/// Half the solid angle of the mesh seen from a point: 2 pi times the winding number. It is
/// far + 2 pi turns + the angle of (re, im), in which no arc tangent was needed.
typedef struct mesh_winding {
    double re, im;
    int turns;
    double far;
} mesh_winding;
mesh_winding mesh_tree_wind(const mesh_tree* tree, vec3 x);

/// The point of a mesh that is nearest to a place while its vertices go straight from where one
/// tree has them to where another tree of the same mesh has them.
typedef struct mesh_nearest {
    double distance;      // >= 0; INFINITY if no number was given
    bool is_face;         // the point is none of an edge
    bool is_behind;       // the place is behind its triangle
    vec3 place, normal;   // of the point, and of its triangle, outward
    vec3 end, end_normal; // at the end of the way
    vec3 motion;          // over all of the way
} mesh_nearest;
/// `fraction` of the way, 0..1.
mesh_nearest mesh_tree_nearest(const mesh_tree* from, const mesh_tree* to, double fraction, vec3 x);
