#include "solve/stagger_transfer.h"

typedef void stagger_loop(const stagger_job* job, int64_t begin, int64_t end);

typedef struct loop_job {
    stagger_loop* loop;
    const stagger_job* job;
} loop_job;

static void run_chunk(void* data, int64_t begin, int64_t end) {
    const loop_job* work = data;
    work->loop(work->job, begin, end);
}

void stagger_restrict(const tile_map* coarse, const stagger_job* job, tile_range range) {
    tile_for_range(coarse->ctx, range, 2, run_chunk,
                   &(loop_job){ISA_CALL(coarse->ctx, stagger_loop_restrict), job});
}

void stagger_prolong(const tile_map* coarse, const stagger_job* job, tile_range range) {
    tile_for_range(coarse->ctx, range, 2, run_chunk,
                   &(loop_job){ISA_CALL(coarse->ctx, stagger_loop_prolong), job});
}
