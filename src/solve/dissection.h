// Nested dissection of a graph whose nodes have positions.
#pragma once

#include "base/context.h"

typedef struct dissection_graph {
    int32_t count;
    const double (*position)[3];
    const int64_t* first;     // [count + 1]
    const int32_t* neighbour; // of node i: neighbour[first[i]] .. neighbour[first[i + 1] - 1]
} dissection_graph;

/// order[k] = the node that is eliminated k-th.
treacle_status dissection_order(treacle_context* ctx, const dissection_graph* graph,
                                int32_t* order) TREACLE_NODISCARD;
