// The hash of what ranks hold together.
#pragma once

#include "base/comm.h"

/// An array whose items ranks hold in part, each at the place that it has among all.
typedef struct comm_array {
    const void* data;
    size_t item_bytes;
    int64_t count;
    const int64_t*
        first; // [ranks + 1], rank r holds first[r] .. first[r + 1] - 1; NULL: all hold all
} comm_array;

/// hash_bytes of the whole array, on all ranks.
uint64_t comm_hash(treacle_context* ctx, const comm_array* array, uint64_t seed);
