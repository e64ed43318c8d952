// Liquid that appears by a list of times and places, a shape at a time; a function of time alone.
//
// A drop is there at the end of the step in which its time comes. Each is seeded like liquid that
// is there from the start, and its ids count on from drop to drop. Nothing makes room for it: it
// should come where no liquid is.
#pragma once

#include "geometry/shape.h"
#include "math/field.h"
#include "particles/seed.h"

typedef struct drop_list {
    treacle_context* ctx;
    int count;     // drops
    double* time;  // [count], s, increasing
    shape** where; // [count]
    field velocity, temperature, marker, factor;
    uint8_t material;
    float colour[3];
    uint64_t source; // of ids
} drop_list;

/// ERR_SCENE with a sentence where the def makes no sense. On failure nothing is held.
treacle_status drop_list_init(treacle_context* ctx, const treacle_drop_def* def, uint64_t source,
                              drop_list* out) TREACLE_NODISCARD;
/// Harmless on a zeroed list.
void drop_list_finish(drop_list* list);

/// Appends the drops of times in (from, to], and of 0 in a step that begins there. `seeding` says
/// how, but for its liquids. *count: particles.
treacle_status drop_list_emit(const drop_list* list, double from, double to,
                              const seed_def* seeding, particles* p,
                              int64_t* count) TREACLE_NODISCARD;
