// Shapes as triangle meshes, for pictures.
//
// Primitives have exact corners and normals, files are taken as they are, the parts of a union each
// for itself; of other set operations the isosurface of the distance is drawn, its vertices on the
// surface.
#pragma once

#include "math/vec3.h"
#include "mesh/surface_mesh.h"
#include "treacle/types.h"

/// Where shapes are drawn. In a flat domain they are prisms as thick as the box, with the outline
/// that they have in its middle.
typedef struct trace_shape_room {
    box3 box; // m
    vec3 middle;
    int flat_axis; // -1: none
    int samples;   // along the longest side of what is drawn by its distance
} trace_shape_room;

/// The mesh, in the world; of a sequence of meshes the one of that time, s. What never ends, like a
/// plane, ends with the box.
treacle_status trace_shape_mesh(treacle_context* ctx, const treacle_shape* def,
                                const trace_shape_room* room, double time,
                                surface_mesh* out) TREACLE_NODISCARD;
