// The fields whose isosurface is the liquid's surface: larger inside than outside.
#pragma once

#include "mesh/mesh_blocks.h"
#include "mesh/mesh_points.h"
#include "mesh/mesh_room.h"

typedef struct mesh_field {
    mesh_blocks blocks;
    float iso;       // of the surface, before its volume is matched
    float low, high; // between which the value of the surface may be moved to match it
} mesh_field;

/// Each makes the field with `resolution` samples along a cell. On failure nothing is left.
/// The blocks may have their distances to the room.
typedef treacle_status mesh_field_fcn(const mesh_points* p, const mesh_room* room,
                                      double resolution, mesh_field* out);

/// In bulk (field_bulk.h) the share of liquid, in thin liquid the density of the kernels of
/// mesh_kernels.h.
mesh_field_fcn mesh_field_smooth;
/// [CMVT02 sec. 6]: the samples of full cells are 1, the particles of others are splatted with a
/// tent; then a low-pass filter. A cell is full if it and all cells around it hold particles.
/// differs from [CMVT02]: the tent ends 2.5 samples from the particle; with 8 particles a cell, as
/// here, a tent of 2.5 from end to end leaves holes that the filter does not close.
mesh_field_fcn mesh_field_splat;
/// |x - mean of the particles around| - r, with the sign turned [ZB05 eq. 1]; or the array
/// `surface` of the frame.
mesh_field_fcn mesh_field_level;

/// Blocks within `reach` cells of any point.
treacle_status mesh_field_blocks(const mesh_points* p, double step, double offset, double reach,
                                 mesh_blocks* out) TREACLE_NODISCARD;

/// The rows of bins around a block, widened by `reach` cells.
typedef struct field_window {
    int32_t low[3], high[3]; // bins
    double corner[3];        // cells, of the block's first sample
} field_window;
field_window mesh_field_window(const mesh_points* p, const mesh_blocks* b, int64_t block,
                               double reach);
