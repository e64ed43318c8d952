// What bounds the liquid: sides of the domain, solids, bodies, and the ends of a flat slab.
//
// Each is a surface with a number and a distance, in cells, positive where liquid may be. Places
// are in cells from the domain's low corner, as everywhere in the mesher.
#pragma once

#include "base/context.h"
#include "geometry/shape.h"
#include "geometry/solid_place.h"
#include "treacle/mesh.h"

enum { MESH_ROOM_PLANES = 6 };

// A wall across an axis: sign (x[axis] - at) is the distance.
typedef struct room_plane {
    int axis;
    double at, sign;
} room_plane;

// A solid where it is, and as it is bent, at the frame's time.
typedef struct room_solid {
    shape* shape;
    bool is_inside_out;
    solid_place at;
} room_solid;

typedef struct mesh_room {
    treacle_context* ctx;
    vec3 origin; // m
    double cell; // m
    int flat_axis;
    int plane_count;
    room_plane planes[MESH_ROOM_PLANES];
    int solid_count, solid_capacity;
    room_solid* solids;
} mesh_room;

/// Of the def's room and the frame. ERR_FORMAT if the frame's bodies are not those of the room.
treacle_status mesh_room_create(treacle_context* ctx, const treacle_frame* frame,
                                const treacle_mesh_def* def, mesh_room* out) TREACLE_NODISCARD;
/// The arrays of states in which the frame's bodies began and have come to, NULL if there are none;
/// ERR_FORMAT if they are not of as many bodies.
treacle_status mesh_room_states(treacle_context* ctx, const treacle_frame* frame, int body_count,
                                const double* out[2]) TREACLE_NODISCARD;
/// Harmless on a zeroed one.
void mesh_room_destroy(mesh_room* r);

/// How many surfaces bound it: planes, then solids.
int mesh_room_count(const mesh_room* r);
/// Distance to one of them.
double mesh_room_distance(const mesh_room* r, int surface, vec3 x);
/// The direction in which that grows, of length 1.
vec3 mesh_room_normal(const mesh_room* r, int surface, vec3 x);
/// The least distance, and which surface has it; INFINITY and -1 where nothing bounds it.
double mesh_room_nearest(const mesh_room* r, vec3 x, int* surface);
/// Whether it is an end of a flat slab, behind which there is nothing.
bool mesh_room_is_end(const mesh_room* r, int surface);
