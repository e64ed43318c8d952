// Streamlines of a flat frame, for plots.
#pragma once

#include "treacle/treacle.h"

/// One curve through all streamlines, with a NAN between two of them; m along the two axes of the
/// plane.
typedef struct streamlines {
    int64_t count;
    double *x, *y;
    int axes[2]; // of the plane
} streamlines;

/// ERR_USAGE if the frame is not flat, ERR_FORMAT if it has no velocities, ERR_MEMORY.
treacle_status streamlines_find(const treacle_frame* frame, streamlines* out);
void streamlines_free(streamlines* s);
