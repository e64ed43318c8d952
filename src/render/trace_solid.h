// The scene's solids as meshes, for pictures.
#pragma once

#include "mesh/surface_mesh.h"
#include "treacle/render.h"

typedef struct solid_meshes {
    treacle_context* ctx;
    int count;
    surface_mesh* meshes; // in the world at the frame's time, m
} solid_meshes;

/// Containers, which are everything outside of their shape, are left out: they would hide all.
treacle_status solid_meshes_create(treacle_context* ctx, const treacle_render_def* def,
                                   const treacle_frame* frame, solid_meshes* out) TREACLE_NODISCARD;
/// Harmless on a zeroed one.
void solid_meshes_destroy(solid_meshes* s);
