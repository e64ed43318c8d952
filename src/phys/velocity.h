// Velocity on faces: the field, and blocks of it that respect the sides of the domain.
//
// Component a of velocity lives on the faces across axis a. A block is a cube of samples around a
// tile, `halo` samples beyond its own 8 on each side of every active axis. Samples beyond a side of
// the domain are mirror images:
//
//     side       along the side (b != a)          across it (b = a), face n on the wall
//     slip       u(-1-i) =  u(i)                  u(-i) = -u(i),  u(0) = 0
//     no-slip    u(-1-i) = v + q (u(i) - v)       u(-i) = -u(i),  u(0) = 0
//     open       u(-1-i) =  u(i)                  u(-i) =  u(0)
//     lets go    as slip or no-slip               u(-i) = 2 u(0) - u(i)
//     gap        likewise, or u(-1-i) =           likewise
//                2 u(0) - u(1+i), which keeps the flow through the cell at the wall
//
// with v the velocity of a side that moves in its own plane [visc.6] and q = (b - y)/(b + y), which
// is -1 without a slip length b; y = (i + 1/2) h,
// so that a particle near a wall sees a field that is continuous and does not cross it. Liquid
// without viscosity slides along a no-slip side as along any other.
#pragma once

#include "grid/domain.h"
#include "grid/face_field.h"
#include "grid/tile_map.h"

/// A face field on a set of tiles. Values of faces where `is_valid` is 0 mean nothing.
typedef struct face_velocity {
    const tile_map* map;
    const grid_domain* domain;
    bool has_viscosity; // no-slip sides hold liquid
    bool has_gaps;      // walls as if they let go: liquid comes up to them
    bool keeps_flux;    // along walls velocity goes on as a line
    face_field u;       // m/s, [count + 1][512]
} face_velocity;

typedef struct velocity_block {
    int halo, size; // size = 8 + 2 halo
} velocity_block;

enum { VELOCITY_HALO_MAX = 7 };

enum { VELOCITY_NO_EDGE = INT32_MIN };

/// A sample beyond a side of the domain as the image of one inside, by the rules above.
typedef struct velocity_mirror {
    int plane;  // index, along the axis, of the sample whose image it is
    float sign; // factor of its image: 1, -1, between them with a slip length; 0 for faces on walls
    int edge;   // index of the sample on the side, of which twice the value is added; or
                // VELOCITY_NO_EDGE
    float add;  // m/s, added to the image: what a side that moves gives to it
} velocity_mirror;
/// The mirror image of index g along axis b, for component a, or for values at cells with a = AXES.
/// An index inside of the domain is its own image. Only the domain of the field and its sides
/// count.
velocity_mirror velocity_mirror_of(const face_velocity* field, int a, int b, int g);

/// Gathers component a around a tile into out[(z n + y) n + x] with n = size; on an inactive axis
/// only the layer of the tile's cell 0 is set.
void velocity_gather(const face_velocity* field, int a, tile_ix tile, velocity_block block,
                     float* out);
/// Gathers values at cells on the map and domain of the field; beyond sides they are mirrored.
void velocity_gather_cells(const face_velocity* field, const float* cell, tile_ix tile,
                           velocity_block block, float* out);
