#include "step/partition_tiles.h"

#include "base/comm.h"
#include "grid/grid_valid.h"
#include "grid/partition.h"
#include "particles/particle_ranks.h"

// The largest load of a rank over the mean, beyond which tiles are shared out anew.
static const double imbalance_max = 1.1;

static void weigh_tiles(const particles* p, int32_t* weight) {
    for (tile_ix t = 0; t < p->tile_count; ++t) {
        weight[t] = partition_weight(p->tile_first[t + 1] - p->tile_first[t]);
    }
}

// New keys, and the rows to whom they then belong.
static treacle_status partition_anew(const step_frame* f, const partition_load* load,
                                     uint64_t* rank_key, particles* p) {
    size_t ranks = (size_t)comm_size(f->ctx);
    int64_t *before = NULL, *after = NULL;
    TREACLE_TRY(
        arena_take(f->scratch, ranks + 1, sizeof(int64_t), "rows of ranks", (void**)&before));
    TREACLE_TRY(
        arena_take(f->scratch, ranks + 1, sizeof(int64_t), "rows of ranks", (void**)&after));
    particle_ranks_first(p, before);
    TREACLE_TRY(partition_find(f->ctx, load, rank_key));
    TREACLE_VALIDATE(partition_is_valid(comm_size(f->ctx), rank_key));
    particle_ranks_first(p, after);
    for (int c = 0; c < PARTICLE_COLUMN_COUNT && p->owners->is_distributed; ++c) {
        if (p->column[c] != NULL) {
            partition_move(f->ctx, before, after, p->column[c], particle_columns[c].bytes);
        }
    }
    particle_ranks_keep_own(p);
    return TREACLE_OK;
}

treacle_status partition_tiles(const step_frame* f, uint64_t* rank_key, particles* p) {
    TREACLE_ASSERT(rank_key == NULL || (p->owners != NULL && p->owners->key == rank_key));
    f->stats->imbalance = 1.0;
    if (rank_key == NULL) {
        return TREACLE_OK;
    }
    int32_t* weight = NULL;
    TREACLE_TRY(arena_take(f->scratch, (size_t)p->tile_count, sizeof(*weight), "loads of tiles",
                           (void**)&weight));
    weigh_tiles(p, weight);
    int mark = arena_mark(f->scratch);
    partition_load load = {.count = p->tile_count, .tile = p->tile, .weight = weight};
    treacle_status status = TREACLE_OK;
    if (partition_imbalance(f->ctx, &load, rank_key) > imbalance_max) {
        status = partition_anew(f, &load, rank_key, p);
    }
    f->stats->imbalance = partition_imbalance(f->ctx, &load, rank_key);
    arena_give_to(f->scratch, mark);
    arena_give(f->scratch, weight);
    return status;
}
