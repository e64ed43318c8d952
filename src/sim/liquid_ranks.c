// Who owns which tiles: shared out anew when the load has drifted. And what goes with a tile from
// step to step, wherever it was.
#include <string.h>

#include "base/comm.h"
#include "grid/partition.h"
#include "grid/tile_ranks.h"
#include "particles/particle_ranks.h"
#include "sim/liquid.h"

// The largest load of a rank over the mean, beyond which tiles are shared out anew.
static const double imbalance_max = 1.1;

static void weigh_tiles(const particles* p, int32_t* weight) {
    for (tile_ix t = 0; t < p->tile_count; ++t) {
        weight[t] = partition_weight(p->tile_first[t + 1] - p->tile_first[t]);
    }
}

// New keys, and the rows to whom they then belong.
static treacle_status share_anew(liquid_work* w, const partition_load* load) {
    const grid_domain* domain = w->setup->domain;
    size_t ranks = (size_t)comm_size(w->ctx);
    int64_t *before = NULL, *after = NULL;
    TREACLE_TRY(
        arena_take(w->scratch, ranks + 1, sizeof(int64_t), "rows of ranks", (void**)&before));
    TREACLE_TRY(
        arena_take(w->scratch, ranks + 1, sizeof(int64_t), "rows of ranks", (void**)&after));
    particle_ranks_first(domain, w->p, before);
    TREACLE_TRY(partition_find(w->ctx, load, w->rank_key));
    particle_ranks_first(domain, w->p, after);
    for (int c = 0; c < PARTICLE_COLUMN_COUNT && domain->is_lean; ++c) {
        if (w->p->column[c] != NULL) {
            partition_move(w->ctx, before, after, w->p->column[c], particle_columns[c].bytes);
        }
    }
    particle_ranks_keep_own(domain, w->p);
    return TREACLE_OK;
}

treacle_status liquid_share_tiles(liquid_work* w) {
    w->stats->imbalance = 1.0;
    if (w->rank_key == NULL) {
        return TREACLE_OK;
    }
    int32_t* weight = NULL;
    TREACLE_TRY(arena_take(w->scratch, (size_t)w->p->tile_count, sizeof(*weight), "loads of tiles",
                           (void**)&weight));
    weigh_tiles(w->p, weight);
    int mark = arena_mark(w->scratch);
    partition_load load = {.count = w->p->tile_count, .tile = w->p->tile, .weight = weight};
    treacle_status status = TREACLE_OK;
    if (partition_imbalance(w->ctx, &load, w->rank_key) > imbalance_max) {
        status = share_anew(w, &load);
    }
    w->stats->imbalance = partition_imbalance(w->ctx, &load, w->rank_key);
    arena_give_to(w->scratch, mark);
    arena_give(w->scratch, weight);
    return status;
}

treacle_status liquid_find_before(liquid_work* w) {
    const tile_map *old = &w->before->map, *map = &w->state->map;
    TREACLE_TRY(arena_take(w->scratch, (size_t)map->count, sizeof(tile_ix),
                           "tiles of the last step", (void**)&w->history.tile));
    for (tile_ix t = 0; t < map->count; ++t) {
        w->history.tile[t] = old->count > 0 ? tile_map_find(old, map->coord[t]) : 0;
    }
    if (old->count == 0 || !tile_ranks_are_lean(map)) {
        return TREACLE_OK;
    }
    return tile_ranks_reach(old, map, &(tile_reach){1, w->history.tile}, &w->history.ranks);
}

typedef struct carry_job {
    const liquid_work* w;
    const char* from;
    char* to;
    size_t tile_bytes;
} carry_job;

static void carry_tiles(void* data, int64_t begin, int64_t end) {
    const carry_job* job = data;
    for (int64_t t = begin; t < end; ++t) {
        tile_ix old = job->w->history.tile[t];
        if (old < job->w->before->map.count) {
            memcpy(job->to + (size_t)t * job->tile_bytes, job->from + (size_t)old * job->tile_bytes,
                   job->tile_bytes);
        }
    }
}

void liquid_carry(liquid_work* w, const void* from, void* to, size_t tile_bytes) {
    carry_job job = {w, from, to, tile_bytes};
    const tile_map* map = &w->state->map;
    if (w->history.ranks != NULL) {
        comm_items items = {.data = (void*)from, .item_bytes = tile_bytes};
        comm_exchange(w->ctx, w->history.ranks->peer_count, w->history.ranks->peers, &items);
    }
    tile_for_held(map, 16, carry_tiles, &job);
    if (tile_ranks_are_lean(map)) { // ghosts may have come from elsewhere
        tile_share(map, to, tile_bytes);
    }
}
