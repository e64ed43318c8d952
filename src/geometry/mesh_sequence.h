// Meshes that follow each other in time, of the same vertices and triangles.
//
// Vertices that the first mesh has at one place are one vertex in all of them. Between two meshes
// every vertex goes straight, at a steady speed. All of them are kept in memory.
#pragma once

#include "geometry/triangle_mesh.h"
#include "math/mat3.h"
#include "treacle/types.h"

typedef struct mesh_sequence {
    treacle_context* ctx;
    treacle_mesh_sequence def;
    int count;            // meshes
    triangle_mesh* first; // joined, turned outwards
    vec3* places;         // [count][vertices of `first`]
    box3 bounds;          // of all of them
    uint64_t hash;        // of all that decides on the motion
} mesh_sequence;

enum { MESH_SEQUENCE_PATH_MAX = 4096, MESH_SEQUENCE_LENGTH_MAX = 100000 };

/// The name of the mesh with a number: the run of # in the pattern gives way to it. ERR_SCENE if
/// there is not exactly one run, ERR_LIMIT if the name is too long.
treacle_status mesh_sequence_path(treacle_context* ctx, const char* pattern, int number,
                                  char out[MESH_SEQUENCE_PATH_MAX]) TREACLE_NODISCARD;
/// Reads all meshes. ERR_IO where one is missing or cannot be read, ERR_FORMAT where it is bad or
/// is not of the vertices and triangles of the first, ERR_SCENE where the def is not right.
treacle_status mesh_sequence_load(treacle_context* ctx, const char* pattern,
                                  const treacle_mesh_sequence* def,
                                  mesh_sequence** out) TREACLE_NODISCARD;
/// Accepts NULL.
void mesh_sequence_destroy(mesh_sequence* seq);

/// Scales all vertices, turns and moves them.
void mesh_sequence_transform(mesh_sequence* seq, double scale, const mat3* rotate, vec3 move);
/// Where in the sequence a moment is, in meshes from the first on.
double mesh_sequence_frame(const mesh_sequence* seq, double time);
/// The vertices there.
void mesh_sequence_places(const mesh_sequence* seq, double frame, vec3* out);
