// Filters of sparse fields, and particles spread over their samples.
#pragma once

#include "mesh/mesh_blocks.h"
#include "mesh/mesh_points.h"

/// (w, 1 - 2 w, w) along each axis, `passes` times; each adds 2 w to the variance, in samples^2.
/// values: [b->count][512].
treacle_status block_filter_smooth(const mesh_blocks* b, float* values, float w,
                                   int passes) TREACLE_NODISCARD;
/// The largest value within `reach` samples (at most BLOCK_PAD_MAX) along each axis.
treacle_status block_filter_max(const mesh_blocks* b, float* values, int reach) TREACLE_NODISCARD;
/// Undoes, to first order, what a filter of this variance (samples^2) does to level sets of a share
/// between 0 and 1: half of it times their curvature, by which it moves them. Across them nothing
/// is sharpened, which would bring noise back.
treacle_status block_filter_unbend(const mesh_blocks* b, float* values,
                                   float variance) TREACLE_NODISCARD;

/// Adds the points' volumes to the blocks' values as a density, each spread over 27 samples by
/// quadratic splines, whose variance is 1/4 sample^2 along each axis. There must be blocks around
/// those that hold points.
treacle_status block_splat_points(const mesh_points* p, mesh_blocks* b) TREACLE_NODISCARD;
