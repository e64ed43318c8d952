// Flat domains, one cell thick, are drawn as slabs: what is in them is as thick as it looks well.
#pragma once

#include "base/check.h"
#include "math/vec3.h"
#include "treacle/cache.h"

typedef struct trace_flat {
    int axis;  // across the domain; -1: it is not flat
    int cells; // thickness that is drawn
} trace_flat;

static inline trace_flat trace_flat_of(const treacle_frame* frame) {
    enum { THINNER = 12 }; // than the domain is long
    trace_flat out = {.axis = -1, .cells = 1};
    int longest = 1;
    for (int k = 0; k < 3; ++k) {
        out.axis = frame->cells[k] == 1 ? k : out.axis;
        longest = frame->cells[k] > longest ? frame->cells[k] : longest;
    }
    if (out.axis >= 0 && longest > THINNER) {
        out.cells = longest / THINNER;
    }
    return out;
}

/// The slab along its axis, m, by `more` cells thicker to either side.
static inline void trace_flat_range(trace_flat flat, const treacle_frame* frame, double more,
                                    double range[2]) {
    TREACLE_ASSERT(flat.axis >= 0 && flat.axis < 3);
    double middle = frame->origin[flat.axis] + 0.5 * frame->cell;
    double half = (0.5 * flat.cells + more) * frame->cell;
    range[0] = middle - half;
    range[1] = middle + half;
}
