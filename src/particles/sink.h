// Volumes in which liquid vanishes.
#pragma once

#include "base/arena.h"
#include "geometry/shape.h"
#include "particles/particles.h"

typedef struct sink {
    grid_domain domain;
    shape* shape;
    double start, stop; // s
} sink;

treacle_status sink_init(treacle_context* ctx, const treacle_sink_def* def,
                         const grid_domain* domain, sink* out) TREACLE_NODISCARD;
/// Harmless on a zeroed sink.
void sink_finish(sink* s);

/// Removes the particles inside the sink if `time` is in [start, stop]. *count: how many.
treacle_status sink_absorb(const sink* s, double time, particles* p, arena* scratch,
                           int64_t* count) TREACLE_NODISCARD;
