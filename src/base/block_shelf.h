// Large blocks that were given back, kept for the next who asks for one as large.
//
// The C library gives large blocks back to the machine at once and gets them anew, page by page,
// each with a fault. What makes and drops large arrays over and over, a mesh a frame, a copy of a
// frame, the chunks of the heap of steps, gets the same ones again from here. What is kept and what
// is in use together never exceed the most that was in use before, so nothing is held that was not
// needed at some time.
#pragma once

#include <stdatomic.h>
#include <stddef.h>

#include "base/step_heap.h"

enum {
    SHELF_PLACES = 64,
    SHELF_LEAST = 1 << 17, // bytes of a block that is worth keeping
    SHELF_PARTS = 8,       // a block serves for a request if at most one of so many is too much
};

typedef struct shelf_block {
    void* data; // NULL: the place is empty
    size_t bytes;
    size_t age; // when it came: blocks that are there for longest go first
} shelf_block;

/// Zeroed: empty. Threads may take and give at the same time.
typedef struct block_shelf {
    atomic_flag lock;
    size_t held; // bytes
    size_t clock;
    shelf_block block[SHELF_PLACES];
} block_shelf;

/// A block of so many bytes: from the shelf, else from the source; NULL where neither has any.
/// `in_use` bytes are out and `most` were; of what is kept so much goes back to the source that
/// all of it stays below.
void* block_shelf_take(block_shelf* shelf, const heap_source* source, size_t bytes, size_t in_use,
                       size_t most);
/// Keeps the block, or gives it back to the source where it is small or there are too many.
void block_shelf_give(block_shelf* shelf, const heap_source* source, void* block, size_t bytes);
/// Gives all back.
void block_shelf_clear(block_shelf* shelf, const heap_source* source);
