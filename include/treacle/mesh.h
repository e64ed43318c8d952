// The liquid's surface as a triangle mesh: closed, manifold, oriented.
#pragma once

#include "cache.h"
#include "types.h"

#ifdef __cplusplus
extern "C" {
#endif

/// How the surface follows from the particles.
typedef enum treacle_mesh_method {
    TREACLE_MESH_SMOOTH, ///< density of averaged particles with kernels that lie flat in sheets and
                         ///< along threads [YT13]
    TREACLE_MESH_SPLAT,  ///< particles splatted into a volume and filtered [CMVT02 sec. 6]
    TREACLE_MESH_LEVEL, ///< the simulator's level set: distance to the averaged particle [ZB05], or
                        ///< the very field if the frame has it, as state files do
} treacle_mesh_method;

/// What the liquid ends at. A frame does not know it: without a scene there are no walls, and the
/// surface goes a little through where they would be.
typedef struct treacle_mesh_room {
    bool is_closed[3][2];            ///< [axis][0 low, 1 high], sides of the domain
    int solid_count;                 ///< where they are at the frame's time
    const treacle_solid_def* solids; ///< not owned
    int body_count;                  ///< where the frame says
    const treacle_body_def* bodies;  ///< not owned
} treacle_mesh_room;

/// The room of a scene; valid as long as the def.
TREACLE_API treacle_mesh_room treacle_mesh_room_of(const treacle_sim_def* sim);

typedef struct treacle_mesh_def {
    size_t def_size; ///< set by treacle_mesh_def_default(), checked on entry
    treacle_mesh_method method;
    double resolution; ///< samples along a cell, 0.25..16; 0: 2, for splatting 4 as in the paper
    int smoothing;     ///< 0..1000 rounds of smoothing of the mesh, which keep its volume
    double decimation; ///< 0..0.99, share of the triangles that may go where the surface is flat
    bool keep_volume;  ///< places the surface so that it encloses the particles' volume
    int flat_cells;   ///< 1..1000, how thick liquid in a flat domain is drawn, in cells; its volume
                      ///< grows with it
    int hidden_count; ///< of `hidden`
    const uint8_t* hidden;  ///< by material: not 0, and its particles are left out; not owned
    treacle_mesh_room room; ///< zeroed: nothing bounds the liquid
    double overlap; ///< m, >= 0, how far the surface reaches into what bounds it; for renderers of
                    ///< liquid in glass
} treacle_mesh_def;

TREACLE_API treacle_mesh_def treacle_mesh_def_default(void);

/// What a mesh is made of: valid as long as the mesh. An attribute that the frame lacks is NULL.
typedef struct treacle_mesh_view {
    int64_t vertex_count, triangle_count;
    const float* position;    ///< m, 3 a vertex
    const float* normal;      ///< unit length, out of the liquid, 3 a vertex
    const float* velocity;    ///< m/s, 3 a vertex
    const float* colour;      ///< linear RGB, 3 a vertex
    const float* temperature; ///< K
    const float* viscosity;   ///< Pa s, of a frame that was dressed, see treacle_frame_dress()
    const float* rest;        ///< m, where the material was born, 3 a vertex
    const uint8_t* material;  ///< of most of what is near the vertex
    const int32_t* triangles; ///< 3 vertices each, counter-clockwise seen from outside
    double volume;            ///< m^3, enclosed
    double area;              ///< m^2
    double liquid_volume;     ///< m^3, of the particles
} treacle_mesh_view;

typedef struct treacle_mesh treacle_mesh;

/// Meshes the frame. A frame without particles gives a mesh without triangles. The result is the
/// same bit for bit for every number of threads.
TREACLE_API treacle_status treacle_mesh_create(treacle_context* ctx, const treacle_frame* frame,
                                               const treacle_mesh_def* def, treacle_mesh** out);
TREACLE_API treacle_mesh_view treacle_mesh_get_view(const treacle_mesh* mesh);
/// Accepts NULL.
TREACLE_API void treacle_mesh_destroy(treacle_mesh* mesh);

/// Writes a .ply (binary, all attributes) or .obj (positions, normals, colours) file as a whole or
/// not at all. docs/formats/mesh.md has the names of the attributes.
TREACLE_API treacle_status treacle_mesh_write(treacle_context* ctx, const treacle_mesh* mesh,
                                              const char* path);

#ifdef __cplusplus
}
#endif
