// One rank.
#include "grid/partition.h"

treacle_status partition_find(treacle_context* ctx, const partition_load* load,
                              uint64_t* rank_key) {
    TREACLE_ASSERT(load->count >= 0);
    (void)ctx;
    (void)load;
    rank_key[0] = 0;
    rank_key[1] = UINT64_MAX;
    return TREACLE_OK;
}

void partition_move(treacle_context* ctx, const int64_t* before, const int64_t* after, void* items,
                    size_t item_bytes) {
    TREACLE_ASSERT(item_bytes > 0);
    (void)ctx;
    (void)before;
    (void)after;
    (void)items;
    (void)item_bytes;
}
