// The context: what would otherwise be global.
#pragma once

#include <stdatomic.h>

#include "base/block_shelf.h"
#include "base/check.h"
#include "base/compiler.h"
#include "base/step_heap.h"
#include "treacle/base.h"

struct parallel_pool;
struct comm;
struct ledger;

enum { CONTEXT_ERROR_CAPACITY = 2048 };

// Work that does not depend on the machine: the same for every number of threads. Only the thread
// that calls the library counts, outside of loops.
typedef struct context_work {
    int64_t loops, items;    // of parallel_for, but those inside a loop
    int64_t particle_passes; // loops over all particles of a store
    int64_t scratch_bytes;   // that steps have taken for their fields, to be written and read; some
                             // of it is for each thread
} context_work;

struct treacle_context {
    treacle_context_def def;
    treacle_isa isa; // chosen, never AUTO
    int threads;     // chosen, never 0
    struct parallel_pool* pool;
    struct comm* comm; // NULL: one rank
    bool has_pages;    // large blocks are mapped one by one, see alloc_is_zeroed
    // What a loop must not read is spoilt, so that a loop that reads it is found out: the
    // environment has TREACLE_POISON. For tests.
    bool poisons;
    context_work work; // since the context was made
    atomic_size_t memory;
    atomic_size_t memory_peak;
    struct ledger* ledger; // books blocks by name; NULL: nobody asks
    char error[CONTEXT_ERROR_CAPACITY];
    bool has_heap;   // of steps, see alloc_begin_step
    bool is_in_step; // which has a heap
    step_heap heap;
    block_shelf shelf; // of large blocks, where there is a heap
};

/// Cores of this machine, at least 1.
int context_core_count(void);
/// Whether memory comes from the C library: then any thread may ask for it at any time.
bool context_has_plain_memory(const treacle_context* ctx);
