#include "step/tile_history.h"

#include <string.h>

#include "base/comm.h"
#include "grid/tile_loop.h"

treacle_status tile_history_find(const tile_map* from, const tile_map* to, arena* scratch,
                                 tile_history* out) {
    TREACLE_ASSERT(from != to && to->ctx != NULL);
    *out = (tile_history){.from = from, .to = to};
    TREACLE_TRY(arena_take(scratch, (size_t)to->count, sizeof(tile_ix), "tiles of the last step",
                           (void**)&out->tile));
    for (tile_ix t = 0; t < to->count; ++t) {
        out->tile[t] = from->count > 0 ? tile_map_find(from, to->coord[t]) : 0;
    }
    if (from->count == 0 || !tile_ranks_are_distributed(to)) {
        return TREACLE_OK;
    }
    return tile_ranks_reach(from, to, &(tile_reach){1, out->tile}, &out->ranks);
}

void tile_history_finish(tile_history* history) {
    if (history->ranks != NULL) {
        tile_ranks_free(history->to->ctx, history->ranks);
        history->ranks = NULL;
    }
}

typedef struct remap_job {
    const tile_history* history;
    const char* from;
    char* to;
    size_t tile_bytes;
} remap_job;

static void remap_tiles(void* data, int64_t begin, int64_t end) {
    const remap_job* job = data;
    for (int64_t t = begin; t < end; ++t) {
        tile_ix old = job->history->tile[t];
        if (old < job->history->from->count) {
            memcpy(job->to + (size_t)t * job->tile_bytes, job->from + (size_t)old * job->tile_bytes,
                   job->tile_bytes);
        }
    }
}

void tile_history_remap(const tile_history* history, const void* from, void* to,
                        size_t tile_bytes) {
    TREACLE_ASSERT(history->to != NULL && tile_bytes > 0);
    TREACLE_ASSERT(to != NULL && from != to);
    remap_job job = {history, from, to, tile_bytes};
    const tile_map* map = history->to;
    if (history->ranks != NULL) {
        comm_items items = {.data = (void*)from, .item_bytes = tile_bytes};
        comm_exchange(map->ctx, history->ranks->peer_count, history->ranks->peers, &items);
    }
    tile_for(map, &(tile_use){.reads = TILE_ALONE, .grain = 16}, remap_tiles, &job);
    if (tile_ranks_are_distributed(map)) { // ghosts may have come from elsewhere
        tile_publish(map, &(tile_values){.at = to, .tile_bytes = tile_bytes});
    }
}
