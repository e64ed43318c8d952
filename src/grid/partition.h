// Which part of the Morton curve each rank owns: as much work for each, in runs of whole families
// of eight tiles, so that a coarser tile has its children on one rank.
//
// There are two of it: grid/partition.c for one rank, grid/partition_p4est.c for those of mpirun,
// by the forest and the weighted partition of p4est.
#pragma once

#include "grid/tile_map.h"

/// What shall be shared out.
typedef struct partition_load {
    tile_ix count;
    const tile_coord* tile; // [count], Morton order
    const int32_t* weight;  // [count], > 0
} partition_load;

/// The weight of a tile with so many particles.
int32_t partition_weight(int64_t particles);
/// rank_key: [ranks + 1]; rank r owns the keys from rank_key[r] to rank_key[r + 1] - 1. The first
/// is 0 and the last UINT64_MAX. Every rank gives the same load and gets the same keys.
treacle_status partition_find(treacle_context* ctx, const partition_load* load,
                              uint64_t* rank_key) TREACLE_NODISCARD;
/// Items that ranks hold in one array, each at the place that it has among all: rank r those from
/// before[r] to before[r + 1] - 1. Afterwards it holds those from after[r] to after[r + 1] - 1.
void partition_move(treacle_context* ctx, const int64_t* before, const int64_t* after, void* items,
                    size_t item_bytes);
/// The largest load of a rank over the mean; 1 is the best.
double partition_imbalance(treacle_context* ctx, const partition_load* load,
                           const uint64_t* rank_key);
