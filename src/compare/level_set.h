// The particle level set: the liquid's surface on a lattice twice as fine as the grid, and markers
// on both sides of it that keep it in place [G11 sec. 3.4].
//
// The lattice is a domain of its own with cells of h/2, shifted by h/4, so that the centre of its
// cell I is at I h/2 from the grid's origin:
//
//     +-----------+
//     |o    o    o|     o  centres of the lattice's cells: at cells, faces, edges and nodes of the
//     |           |        grid
//     |o    o    o|
//     |           |     cell i of the grid is cell 2 i + 1 of the lattice, its low face 2 i
//     |o    o    o|
//     +-----------+
//
// Distances are in cells of the lattice, negative in the liquid, cut off at LEVEL_LIMIT. Tiles are
// those with a distance below that: all that is not there is air.
//
// A marker is a particle of the lattice's domain: MATERIAL is the side to which it belongs
// (LEVEL_INSIDE, LEVEL_OUTSIDE), VOLUME its radius in cells of the lattice, VELOCITY is not used.
#pragma once

#include "base/arena.h"
#include "particles/particle_sort.h"
#include "particles/particles.h"
#include "phys/velocity.h"

#define LEVEL_LIMIT 5.0f
// Markers are within this distance of the surface when they are made; a cell farther, they go.
#define LEVEL_BAND 3.0f
#define LEVEL_RADIUS_MIN 0.02f
#define LEVEL_RADIUS_MAX 0.5f

enum { LEVEL_INSIDE = 0, LEVEL_OUTSIDE = 1 };

/// The domain of the lattice of a grid.
grid_domain level_set_domain(const grid_domain* grid);

/// The state of a surface. Zeroed: there is none.
typedef struct level_set {
    tile_map map;      // of the lattice
    float* phi;        // [count + 1][512]; the dummy is LEVEL_LIMIT
    particles markers; // sorted
    uint64_t births;   // of markers so far
} level_set;

/// What working on a surface needs.
typedef struct level_set_work {
    treacle_context* ctx;
    const grid_domain* grid;
    const grid_domain* lattice; // level_set_domain of it
    arena* scratch;
    uint64_t seed;
    int per_cell; // markers that a cell of the lattice in the band should have
} level_set_work;

/// The distance to something, in cells of the lattice, at a place in metres.
typedef float level_set_distance(const void* data, vec3 place);

/// An empty surface, with no tiles: all is air.
treacle_status level_set_create(treacle_context* ctx, const grid_domain* lattice,
                                level_set* out) TREACLE_NODISCARD;
/// Harmless on a zeroed one, and twice.
void level_set_destroy(level_set* set);
/// Tiles and zeroed distances of a state that is read from somewhere, in place of those it has.
treacle_status level_set_tiles(const level_set_work* w, int64_t count, const tile_coord* tiles,
                               level_set* set) TREACLE_NODISCARD;

/// out = from; out is as level_set_create leaves it, or an old one.
treacle_status level_set_copy(const level_set_work* w, const level_set* from,
                              level_set* out) TREACLE_NODISCARD;

/// What is to be put into the liquid, or taken out of it.
typedef struct level_set_part {
    level_set_distance* distance;
    const void* data;
    box3 bounds;   // m, that hold it
    bool is_taken; // else put
} level_set_part;
/// phi = min(phi, distance), or max(phi, -distance). Distances away from the surface are then no
/// distances any more: call level_set_restore after the last.
treacle_status level_set_combine(const level_set_work* w, const level_set_part* part,
                                 level_set* set) TREACLE_NODISCARD;
/// Makes phi the distance again, drops tiles of air, and makes up for missing markers.
treacle_status level_set_restore(const level_set_work* w, level_set* set) TREACLE_NODISCARD;

/// How the surface moves.
typedef struct level_set_motion {
    const face_velocity* flow; // on the grid's tiles, known around the liquid
    double dt;                 // s
    double reach;              // cells of the grid, at most 5
    bool is_reseeded;          // markers that are missing are made, those too far are dropped
} level_set_motion;
/// Moves the surface: out = before after dt; out is as level_set_create leaves it, or an old one,
/// whose memory is used.
treacle_status level_set_advance(const level_set_work* w, const level_set_motion* motion,
                                 const level_set* before, level_set* out) TREACLE_NODISCARD;

/// Volume of the liquid, m^3.
double level_set_volume(const level_set_work* w, const level_set* set);
/// The distance at cells of the grid, in its cells: [grid tiles + 1][512], the dummy not written.
void level_set_to_cells(const level_set_work* w, const level_set* set, const tile_map* cells,
                        float* cell_phi);

// --- parts, each in a file of its own; for level_set.c and tests ---------------------------------

/// Where lattice tile t begins and how its cells lie in the grid tile that holds it.
typedef struct level_set_home {
    tile_coord grid;    // tile of the grid
    float offset[AXES]; // cells of the grid: x = offset + position / 2 along active axes
} level_set_home;
level_set_home level_set_home_of(const grid_domain* lattice, tile_coord tile);

/// New tiles and their distances, moved by the flow; markers are not touched.
treacle_status level_set_carry(const level_set_work* w, const level_set_motion* motion,
                               const level_set* before, level_set* out) TREACLE_NODISCARD;
/// Distances that markers on the wrong side say are wrong.
treacle_status level_set_correct(const level_set_work* w, level_set* set) TREACLE_NODISCARD;
treacle_status level_set_redistance(const level_set_work* w, level_set* set) TREACLE_NODISCARD;
/// Drops tiles that are air all over.
treacle_status level_set_prune(const level_set_work* w, level_set* set) TREACLE_NODISCARD;
/// Moves markers with the flow and sorts them.
treacle_status level_set_move_markers(const level_set_work* w, const level_set_motion* motion,
                                      level_set* set) TREACLE_NODISCARD;
/// Radii of markers on their own side.
void level_set_resize_markers(const level_set_work* w, level_set* set);
treacle_status level_set_reseed(const level_set_work* w, level_set* set) TREACLE_NODISCARD;
