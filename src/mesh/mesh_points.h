// The particles of a frame as the mesher sees them: places in cells, binned for neighbour search.
//
// Points are sorted by bin (a cube of `bin` cells), bins by (z, y, x); inside a bin they keep the
// frame's order. So three bins in a row along x are one run of points, and all that is summed over
// neighbours is summed in an order that depends on the frame alone.
#pragma once

#include "base/context.h"
#include "treacle/mesh.h"

typedef struct mesh_points {
    treacle_context* ctx;
    const treacle_frame* frame;
    int64_t count;
    float* place;    // [count][3], cells from the domain's low corner
    float* volume;   // [count], cells^3
    int64_t* source; // [count], row of the frame
    double spacing;  // cells, edge of the cube that a mean particle fills
    double bin;      // cells
    int64_t bin_count;
    int32_t (*bin_at)[3]; // [bin_count]
    int64_t* bin_first;   // [bin_count + 1]
    size_t capacity, bin_capacity;
} mesh_points;

/// Checks the frame's arrays on the way. Along a flat axis a particle becomes a row, two in each of
/// the def's `flat_cells`, so that the liquid is that thick. Hidden materials are left out.
treacle_status mesh_points_create(treacle_context* ctx, const treacle_frame* frame,
                                  const treacle_mesh_def* def, mesh_points* out) TREACLE_NODISCARD;
/// Harmless on a zeroed one.
void mesh_points_destroy(mesh_points* p);

/// Points first .. last - 1.
typedef struct mesh_run {
    int64_t first, last;
} mesh_run;
enum { MESH_RUNS = 9 };
/// The points of the 27 bins around `bin`, as nine runs; some are empty.
void mesh_points_around(const mesh_points* p, const int32_t bin[3], mesh_run runs[MESH_RUNS]);
/// The points of the bins x0 .. x1 in the row (y, z).
mesh_run mesh_points_row(const mesh_points* p, int32_t x0, int32_t x1, int32_t y, int32_t z);
/// The first bin in the list that is not before `at`.
int64_t mesh_points_find(const mesh_points* p, const int32_t at[3]);
/// The bin of a place.
void mesh_points_bin(const mesh_points* p, const float place[3], int32_t bin[3]);
