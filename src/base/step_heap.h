// The heap of steps: memory that a step gives back is there for the rest of it and for the next.
//
// A step makes what the step before made and drops it again: levels of solves, maps, vectors. The
// memory comes in chunks, each cut into blocks that lie side by side:
//
//     chunk  | header block | header block | header  free  |
//
// A block that comes back is joined with what is free on both sides of it. Free blocks are listed
// by size, in eight classes between powers of two, and a request takes the first of the least class
// in which all are large enough, and leaves the rest of it. So sizes may change from step to step
// and from stage to stage, and little more is held than a step needs at once. A chunk in which
// nothing was asked for during STEP_HEAP_STEPS steps goes back to the machine's heap: in scenes of
// steady size steps take nothing from there.
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { STEP_HEAP_STEPS = 2, STEP_HEAP_CLASSES = 8 * 56 };

struct heap_block;
struct heap_chunk;

/// Where chunks come from.
typedef struct heap_source {
    void* (*alloc)(size_t bytes, size_t alignment, void* user);
    void (*free)(void* block, size_t bytes, void* user);
    void* user;
} heap_source;

/// Zeroed: empty. Threads may take and give at the same time.
typedef struct step_heap {
    atomic_flag lock;
    int64_t step;
    size_t held; // bytes of all chunks
    struct heap_chunk* chunks;
    struct heap_block* free[STEP_HEAP_CLASSES];
} step_heap;

/// A block of at least so many bytes, on a cache line; NULL where the source has none.
void* step_heap_take(step_heap* heap, const heap_source* source, size_t bytes);
/// Whether the block is the heap's; then it takes it back.
bool step_heap_give(step_heap* heap, void* block);
/// The end of a step: chunks that were idle for long go back.
void step_heap_end_step(step_heap* heap, const heap_source* source);
/// All chunks go back in which there is no block.
void step_heap_trim(step_heap* heap, const heap_source* source);
