// The scene's solids and bodies as meshes in the world, for pictures.
#pragma once

#include "render/trace_shape.h"
#include "treacle/cache.h"

/// Whom to draw.
typedef struct solid_cast {
    int solid_count;
    const treacle_solid_def* solids;
    int body_count;
    const treacle_body_def* bodies;
    const uint8_t* is_hidden; // of solids, then bodies; NULL: all are drawn
    int samples;              // along the longest side of shapes that are drawn by their distance
} solid_cast;

typedef struct solid_mesh {
    surface_mesh mesh;    // where it is at the frame's time, m
    float (*velocity)[3]; // m/s, of its vertices
    bool is_container;    // the solid is outside of the mesh; its normals point inwards
} solid_mesh;

typedef struct solid_meshes {
    treacle_context* ctx;
    int count;          // the cast's solids, then its bodies
    solid_mesh* solids; // those that are not drawn have no triangles
} solid_meshes;

/// ERR_FORMAT if the frame's bodies are not those of the cast.
treacle_status solid_meshes_create(treacle_context* ctx, const solid_cast* cast,
                                   const treacle_frame* frame, solid_meshes* out) TREACLE_NODISCARD;
/// Harmless on a zeroed one.
void solid_meshes_destroy(solid_meshes* s);
/// The shape of an emitter where it is at the frame's time.
treacle_status emitter_mesh_create(treacle_context* ctx, const treacle_emitter_def* e,
                                   const treacle_frame* frame, int samples,
                                   surface_mesh* out) TREACLE_NODISCARD;
/// Where shapes of the frame's domain are drawn.
trace_shape_room solid_room(const treacle_frame* frame, int samples);
