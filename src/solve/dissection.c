// Nested dissection by place. The nodes are cut in half across their widest axis; those of the
// upper half that touch the lower one separate the two and are eliminated last, and each half is
// cut again. Eliminating a node joins its neighbours; with separators last no such fill arises
// between halves, and a factor of n nodes in space has of the order of n^(4/3) blocks. Order and
// ties depend on places and numbers alone, so the factor has the same bits everywhere.
#include "solve/dissection.h"

#include <math.h>

#include "base/alloc.h"
#include "base/sort.h"
#include "solve/policy.h"

typedef struct ranked {
    double key;
    int32_t node;
} ranked;

typedef struct dissector {
    const dissection_graph* graph;
    ranked* list; // the nodes; each part is a run of it
    ranked* spare;
    int32_t* side; // of each node: the number of the half that it was last put into
    int32_t sides; // numbers given
} dissector;

static int compare(const void* p, const void* q) {
    const ranked *a = p, *b = q;
    if (a->key != b->key) {
        return a->key < b->key ? -1 : 1;
    }
    // Equal places, as in a regular grid of aggregates: by number, so that the order is one alone.
    return a->node < b->node ? -1 : a->node > b->node ? 1 : 0;
}

// Across the longest extent a cut meets the fewest nodes.
static int widest_axis(const dissector* d, int32_t begin, int32_t end) {
    int widest = 0;
    double most = -1.0;
    for (int a = 0; a < 3; ++a) {
        double low = INFINITY, high = -INFINITY;
        for (int32_t i = begin; i < end; ++i) {
            double at = d->graph->position[d->list[i].node][a];
            low = fmin(low, at);
            high = fmax(high, at);
        }
        // The first of equal ones.
        widest = high - low > most ? a : widest;
        most = fmax(most, high - low);
    }
    return widest;
}

// By place, so that the halves are the nodes on both sides of a plane.
static void sort_along(dissector* d, int32_t begin, int32_t end, int axis) {
    for (int32_t i = begin; i < end; ++i) {
        d->list[i].key = d->graph->position[d->list[i].node][axis];
    }
    sort_items(d->list + begin, (size_t)(end - begin), sizeof(ranked), compare);
}

// Whether a node has a neighbour in the given half.
static bool touches(const dissector* d, int32_t node, int32_t side) {
    for (int64_t p = d->graph->first[node]; p < d->graph->first[node + 1]; ++p) {
        // Nodes of parts further up have other numbers: separators above are not asked.
        if (d->side[d->graph->neighbour[p]] == side) {
            return true;
        }
    }
    return false;
}

// Moves the nodes of [middle, end) that touch the other half to the end; returns where they begin.
static int32_t separate(dissector* d, int32_t middle, int32_t end, int32_t other) {
    int32_t kept = middle, moved = 0;
    for (int32_t i = middle; i < end; ++i) {
        if (touches(d, d->list[i].node, other)) {
            // Both keep their order.
            d->spare[moved++] = d->list[i];
        } else {
            d->list[kept++] = d->list[i];
        }
    }
    for (int32_t i = 0; i < moved; ++i) {
        d->list[kept + i] = d->spare[i];
    }
    return kept;
}

// Parts of at most dissection_part nodes are left in the order of places: cutting them saves
// nothing.
static void dissect(dissector* d, int32_t begin, int32_t end) {
    // The upper half is what the loop goes on with, so only the lower one takes stack: its depth is
    // the logarithm of the number of nodes.
    while (end - begin > solve_policy_default()->lump.dissection_part) {
        // Sides have numbers that no part before had, so marks need not be cleared.
        int32_t middle = begin + (end - begin) / 2, low = d->sides + 1;
        d->sides += 2;
        sort_along(d, begin, end, widest_axis(d, begin, end));
        for (int32_t i = begin; i < end; ++i) {
            d->side[d->list[i].node] = i < middle ? low : low + 1;
        }
        // Nodes of the upper half that touch the lower one go last: then elimination within the
        // halves fills nothing between them.
        int32_t separator = separate(d, middle, end, low);
        dissect(d, begin, middle);
        begin = middle;
        end = separator;
    }
}

treacle_status dissection_order(treacle_context* ctx, const dissection_graph* graph,
                                int32_t* order) {
    TREACLE_ASSERT(graph->count >= 0);
    size_t count = (size_t)graph->count;
    dissector d = {.graph = graph};
    treacle_status status;
    TREACLE_TRY_GOTO(alloc_array(ctx, count, sizeof(ranked), "nodes to order", (void**)&d.list),
                     finish);
    TREACLE_TRY_GOTO(alloc_array(ctx, count, sizeof(ranked), "nodes to order", (void**)&d.spare),
                     finish);
    TREACLE_TRY_GOTO(alloc_zero(ctx, count, sizeof(int32_t), "sides of nodes", (void**)&d.side),
                     finish);
    for (int32_t i = 0; i < graph->count; ++i) {
        d.list[i].node = i;
    }
    dissect(&d, 0, graph->count);
    for (int32_t i = 0; i < graph->count; ++i) {
        order[i] = d.list[i].node;
    }
finish:
    alloc_free(ctx, d.list, count * sizeof(ranked));
    alloc_free(ctx, d.spare, count * sizeof(ranked));
    alloc_free(ctx, d.side, count * sizeof(int32_t));
    return status;
}
