#include "solve/stagger_transfer.h"

void stagger_restrict(const tile_map* coarse, stagger_job* job, tile_range range) {
    tile_for_range(coarse->ctx, range, 2, ISA_CALL(coarse->ctx, stagger_loop_restrict), job);
}

void stagger_prolong(const tile_map* coarse, stagger_job* job, tile_range range) {
    tile_for_range(coarse->ctx, range, 2, ISA_CALL(coarse->ctx, stagger_loop_prolong), job);
}
