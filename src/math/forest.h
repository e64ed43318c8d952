// Trees of numbers that belong together: union-find.
//
// parent[i] is a number further up in the tree of i, or i itself at a root. The root is the least
// number of its tree, so that the outcome does not depend on the order of the unions.
#pragma once

#include <stdint.h>

/// The root of the tree of i, whose path it shortens.
static inline int32_t forest_root(int32_t* parent, int32_t i) {
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

/// Makes one tree of those of i and j.
static inline void forest_unite(int32_t* parent, int32_t i, int32_t j) {
    int32_t p = forest_root(parent, i), q = forest_root(parent, j);
    parent[p > q ? p : q] = p > q ? q : p;
}
