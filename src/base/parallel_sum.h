// Sums and maxima over many items, in parallel, the same for every number of threads.
//
// The callback gives one number for one item (a tile, a block of rows): a sum of its own parts in
// an order fixed by the item. Those numbers are then added exactly and rounded once, so neither the
// order of the items nor the number of threads shows in the result.
#pragma once

#include "base/context.h"
#include "base/exact_sum.h"

typedef double parallel_term_fcn(void* data, int64_t item);

/// The sum of fcn(data, i) for i in [0, count). 0 if count <= 0.
double parallel_sum(treacle_context* ctx, int64_t count, parallel_term_fcn* fcn, void* data);

/// The same before it is rounded.
void parallel_sum_exact(treacle_context* ctx, int64_t count, parallel_term_fcn* fcn, void* data,
                        exact_sum* out);

/// The largest fcn(data, i) for i in [0, count). -INFINITY if count <= 0; NaN if any is NaN.
double parallel_max(treacle_context* ctx, int64_t count, parallel_term_fcn* fcn, void* data);
