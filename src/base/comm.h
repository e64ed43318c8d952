// The communicator: what ranks of one run say to each other. All calls but rank and size are
// collective: every rank makes them, in the same order.
//
// This build has one rank, for which every call is the identity. Sums go through exact_sum, so that
// they do not depend on the number of ranks.
#pragma once

#include "base/context.h"
#include "base/exact_sum.h"

/// This process, 0 .. size-1.
int comm_rank(const treacle_context* ctx);
int comm_size(const treacle_context* ctx);
/// Returns when every rank has called it.
void comm_barrier(treacle_context* ctx);

/// values[i] = sum or maximum of values[i] over the ranks.
void comm_sum_i64(treacle_context* ctx, int64_t* values, int count);
void comm_max_i64(treacle_context* ctx, int64_t* values, int count);
/// NaN on any rank gives NaN on all.
void comm_max_f64(treacle_context* ctx, double* values, int count);
void comm_sum_exact(treacle_context* ctx, exact_sum* sums, int count);

/// The status that all ranks return: OK if it is OK everywhere, else that of the lowest rank that
/// failed. Call it before leaving a collective function.
treacle_status comm_agree(treacle_context* ctx, treacle_status status) TREACLE_NODISCARD;
