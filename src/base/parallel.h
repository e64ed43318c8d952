// Loops over many threads whose results do not depend on the number of threads.
//
// A pool of workers belongs to the context. parallel_for cuts [0, count) into chunks of `grain`
// items; idle workers take the next chunk. Which worker does a chunk is left to chance, so a chunk
// may write only what belongs to its own items. Sums go through base/exact_sum.h. The caller is
// worker 0 and works too. Loops do not nest: a loop begun inside a chunk runs in that chunk's
// thread alone, as the same worker.
#pragma once

#include <stdint.h>

#include "base/context.h"

typedef void parallel_fcn(void* data, int64_t begin, int64_t end);

treacle_status parallel_pool_create(treacle_context* ctx) TREACLE_NODISCARD;
void parallel_pool_destroy(treacle_context* ctx);

void parallel_for(treacle_context* ctx, int64_t count, int64_t grain, parallel_fcn* fcn,
                  void* data);
/// The number of the thread that runs the chunk which calls this, in [0, ctx->threads). It may only
/// pick scratch memory.
int parallel_worker(void);
/// Counts a pass over all particles in ctx->work; code that is about to loop over them calls it.
void parallel_count_pass(treacle_context* ctx);
