#include "base/comm.h"
#include "grid/partition.h"

// What the cells of a tile cost, in particles.
enum { CELLS_WEIGHT = 1024 };

int32_t partition_weight(int64_t particles) {
    TREACLE_ASSERT(particles >= 0);
    return CELLS_WEIGHT + (int32_t)(particles < INT32_MAX / 2 ? particles : INT32_MAX / 2);
}

double partition_imbalance(treacle_context* ctx, const partition_load* load,
                           const uint64_t* rank_key) {
    TREACLE_ASSERT(rank_key[0] == 0 && rank_key[comm_size(ctx)] == UINT64_MAX);
    int size = comm_size(ctx), rank = 0;
    int64_t sum = 0, most = 0, all = 0;
    for (tile_ix t = 0; t < load->count; ++t) {
        uint64_t key = tile_key(load->tile[t]);
        while (rank + 1 < size && rank_key[rank + 1] <= key) {
            most = sum > most ? sum : most;
            sum = 0;
            rank += 1;
        }
        sum += load->weight[t];
        all += load->weight[t];
    }
    most = sum > most ? sum : most;
    return all > 0 ? (double)most * size / (double)all : 1.0;
}
