// Everything that a picture is made from: meshes, materials, light, camera.
#pragma once

#include "render/trace_camera.h"
#include "render/trace_flat.h"
#include "render/trace_glow.h"
#include "render/trace_scene.h"
#include "render/trace_solid.h"
#include "treacle/render.h"

/// Vertices at both ends of the exposure.
typedef struct trace_motion {
    float* at; // first all of the begin, then all of the end; NULL: nothing moves
    size_t floats;
} trace_motion;

/// What is there beside the liquid.
typedef struct trace_things {
    solid_meshes solids;
    surface_mesh sides;
    surface_mesh* nozzles; // [emitters]
} trace_things;

typedef struct trace_stage {
    treacle_context* ctx;
    const treacle_frame* frame;
    const treacle_render_def* def;
    treacle_mesh* mesh;
    trace_things things;
    int liquid_count;          // materials of liquid; then the ground's, the solids', the molten,
                               // those of the sides and the nozzles
    int material_count;        // in all
    trace_material* materials; // [material_count]
    trace_mesh* meshes;        // [1 + solids]
    trace_motion motion;       // of the mesh that is being added
    trace_lamp* lamps;
    trace_environment environment;
    trace_glow glow;
    trace_scene scene;
    trace_camera camera;
    double low[3], high[3]; // what the camera frames
    double size;            // m, of the domain
    trace_flat flat;
    float exposure;
} trace_stage;

/// Fills the stage in; ctx, frame, def, flat and mesh are set, all else is zero.
treacle_status trace_stage_set(trace_stage* s) TREACLE_NODISCARD;
/// To be called whether it was filled in or not.
void trace_stage_clear(trace_stage* s);
