// Triangle meshes from files, and what they are worth: closed or not, how large, which way out.
//
// Vertices at the very same place are one vertex, whatever the file says; triangles with two equal
// corners are gone. A mesh whose signed volume is negative has been turned inside out as a whole.
#pragma once

#include "geometry/mesh_input.h"

typedef struct triangle_mesh {
    treacle_context* ctx;
    int32_t vertex_count, triangle_count;
    vec3* vertices;
    mesh_triangle* triangles;
    size_t vertex_capacity, triangle_capacity; // allocated
    box3 bounds;                               // of the triangles
    double area, volume; // volume >= 0; of an open mesh, as if seen from its middle
    int64_t bad_edges;   // that do not join exactly two triangles, oppositely oriented
    bool was_inside_out;
    uint64_t hash; // of the file's bytes
} triangle_mesh;

/// Reads a .ply, .obj, .stl, .gltf, .glb or .vdb file. ERR_IO if it cannot be read, ERR_FORMAT if
/// it is not a mesh; the sentence names the file and the place.
treacle_status triangle_mesh_load(treacle_context* ctx, const char* path,
                                  triangle_mesh** out) TREACLE_NODISCARD;
/// What the file says, into an empty builder: vertices are not joined, triangles not checked.
treacle_status triangle_mesh_load_raw(treacle_context* ctx, const char* path,
                                      mesh_builder* out) TREACLE_NODISCARD;
/// The same as a load from memory.
treacle_status triangle_mesh_read(const mesh_input* in, mesh_read_fcn* reader,
                                  triangle_mesh** out) TREACLE_NODISCARD;
/// Accepts NULL.
void triangle_mesh_destroy(triangle_mesh* mesh);

enum { TRIANGLE_MESH_WARNING_MAX = 256 };
/// What there is to warn of, as a sentence that follows the mesh's name; false if there is nothing.
bool triangle_mesh_warning(const triangle_mesh* mesh, char out[TRIANGLE_MESH_WARNING_MAX]);

static inline vec3 triangle_mesh_corner(const triangle_mesh* mesh, int32_t triangle, int corner) {
    TREACLE_ASSERT(triangle >= 0 && triangle < mesh->triangle_count && corner >= 0 && corner < 3);
    return mesh->vertices[mesh->triangles[triangle].at[corner]];
}
