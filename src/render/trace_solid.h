// The scene's solids and bodies as meshes in the world, for pictures.
#pragma once

#include "mesh/surface_mesh.h"
#include "treacle/render.h"

typedef struct solid_mesh {
    surface_mesh mesh;    // where it is at the frame's time, m
    float (*velocity)[3]; // m/s, of its vertices
    bool is_container;    // the solid is outside of the mesh; its normals point inwards
} solid_mesh;

typedef struct solid_meshes {
    treacle_context* ctx;
    int count;          // the def's solids, then its bodies
    solid_mesh* solids; // those that are not drawn have no triangles
} solid_meshes;

/// A solid or body that the list `is_hidden` names is left out. ERR_FORMAT if the frame's bodies
/// are not those of the def.
treacle_status solid_meshes_create(treacle_context* ctx, const treacle_render_def* def,
                                   const treacle_frame* frame, const uint8_t* is_hidden,
                                   solid_meshes* out) TREACLE_NODISCARD;
/// Harmless on a zeroed one.
void solid_meshes_destroy(solid_meshes* s);
