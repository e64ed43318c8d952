// Values carried outward, layer by layer, from where they are known.
#pragma once

#include "grid/tile_mask.h"

typedef struct extrapolate_params {
    const grid_domain* domain;
    const tile_map* map;
    grid_place place; // of the values
    int layers;       // >= 0
    /// [count + 1][512], 0..1: how much of the slope goes on outside. NULL: none.
    const float* slope;
    /// Bit b: nothing passes between the cell and the one below along b, [count + 1][512]. NULL:
    /// everything passes. For values on faces across `axis`.
    const uint8_t* cell_across;
    int axis;
} extrapolate_params;

/// values: [count + 1][512]. valid: [count + 1], the dummy's empty; the samples that are known.
/// A layer is made of the samples in the domain that are not known but have a known neighbour
/// across one cell along an active axis; each becomes the mean of those neighbours, and then it is
/// known, too. Samples that were known keep their value; those never reached keep theirs. Between
/// faces that are neighbours along b != axis lie two faces across b, one on each of their sides: if
/// nothing passes one of these, nothing passes.
///
/// With a slope of 1 a neighbour that has another known one behind it counts with the value that
/// continues the line through both, and neighbours that have none behind do not count, unless all
/// are so. Linear fields, rigid rotation among them, are then continued exactly.
treacle_status extrapolate(const extrapolate_params* params, float* values,
                           tile_mask* valid) TREACLE_NODISCARD;
/// Several fields that are known at the same samples.
treacle_status extrapolate_fields(const extrapolate_params* params, int count, float* const* fields,
                                  tile_mask* valid) TREACLE_NODISCARD;
