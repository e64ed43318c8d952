#include "solve/stagger_transfer.h"

#include "base/parallel.h"

typedef void stagger_loop(const stagger_job* job, int64_t begin, int64_t end);

typedef struct loop_job {
    stagger_loop* loop;
    const stagger_job* job;
} loop_job;

static void run_chunk(void* data, int64_t begin, int64_t end, int worker) {
    const loop_job* work = data;
    (void)worker;
    work->loop(work->job, begin, end);
}

void stagger_restrict(treacle_context* ctx, const stagger_job* job, int64_t count) {
    parallel_for(ctx, count, 2, run_chunk, &(loop_job){ISA_CALL(ctx, stagger_loop_restrict), job});
}

void stagger_prolong(treacle_context* ctx, const stagger_job* job, int64_t count) {
    parallel_for(ctx, count, 2, run_chunk, &(loop_job){ISA_CALL(ctx, stagger_loop_prolong), job});
}
