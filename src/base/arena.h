// The step's scratch memory: one block, used as a stack, kept from step to step.
//
//     | first block | second block | ...   free   |      blocks begin on cache lines
//     0                            ^used          ^capacity
//
// Blocks are taken and given back in the order of a stack, and all are back at the end of a step.
// A block that does not fit comes from the heap for this once; arena_end_step then grows the arena
// to the most that the step held, in whole chunks. So the first steps allocate and later ones do
// not. Taking is for the thread that runs the step, not for kernels.
//
// A sparse arena is for ranks that touch only some pages of a block: large blocks come from the
// heap every time and go back there, so that no page outlives its block.
#pragma once

#include "base/context.h"

enum {
    ARENA_BLOCKS_MAX = 256,
    ARENA_CHUNK = 1 << 20, // bytes; the capacity is a multiple of this
};

typedef struct arena_block {
    const char* name; // not owned; for messages
    char* data;
    size_t bytes;    // rounded up to whole cache lines
    bool is_on_heap; // it did not fit, or is large in a sparse arena
} arena_block;

typedef struct arena {
    treacle_context* ctx;
    bool is_sparse;
    char* data;
    size_t capacity, used;   // bytes of `data`
    size_t held, high_water; // bytes of blocks that belong in `data`: now, and at most
    int block_count;
    arena_block block[ARENA_BLOCKS_MAX];
} arena;

/// An empty arena; allocates nothing.
void arena_init(arena* a, treacle_context* ctx);
/// Frees everything, blocks that were not given back included (a step that failed).
void arena_finish(arena* a);

/// *out = count items of item_bytes, not initialised, 64-byte aligned. `name` must outlive the
/// block. ERR_MEMORY, or ERR_LIMIT at more than ARENA_BLOCKS_MAX blocks; *out is then NULL.
treacle_status arena_take(arena* a, size_t count, size_t item_bytes, const char* name,
                          void** out) TREACLE_NODISCARD;
/// The same, zeroed.
treacle_status arena_take_zero(arena* a, size_t count, size_t item_bytes, const char* name,
                               void** out) TREACLE_NODISCARD;
/// Gives back the block that was taken last. NULL is ignored.
void arena_give(arena* a, const void* block);
/// Gives back all blocks taken since arena_mark returned `mark`.
int arena_mark(const arena* a);
void arena_give_to(arena* a, int mark);

/// The end of a step: asserts that every block was given back, and grows to the high-water mark.
/// ERR_MEMORY leaves an empty arena: blocks come from the heap, as in the first step.
treacle_status arena_end_step(arena* a) TREACLE_NODISCARD;
