// A sparse symmetric matrix of 6 x 6 blocks, factored as L D L^T.
//
// The order of elimination is nested dissection by position: the nodes are cut in two at the median
// of their widest axis, the nodes of one half that touch the other go last, and so on within the
// halves. Everything runs in one fixed order, so the factor depends on the matrix alone.
//
// A pivot that falls below a tiny fraction of the original diagonal belongs to a direction that the
// matrix does not hold, such as a rotation of nodes in a line: it is left out, and the solution has
// no part in it. So flat grids need no special case.
#pragma once

#include "base/context.h"
#include "base/simd.h"

enum { BLOCK_SIZE = 6 };

/// Rows are padded to vectors.
typedef struct ldl_block {
    double at[BLOCK_SIZE][SIMD_LANES];
} ldl_block;

typedef struct ldl_matrix {
    int32_t count;               // nodes
    const double (*position)[3]; // [count]
    int64_t entry_count;
    const int32_t (*entry)[2]; // row > column, each pair once
    const ldl_block* value;    // [entry_count]
    const ldl_block* diagonal; // [count], symmetric
} ldl_matrix;

typedef struct block_ldl block_ldl;

treacle_status block_ldl_create(treacle_context* ctx, const ldl_matrix* matrix,
                                block_ldl** out) TREACLE_NODISCARD;
/// Accepts NULL.
void block_ldl_destroy(block_ldl* ldl);
/// y = A^-1 y; y is [count][6]. Not for two threads at once.
void block_ldl_solve(const block_ldl* ldl, double* y);
/// Blocks in the factor, for statistics.
int64_t block_ldl_fill(const block_ldl* ldl);

// to -= from other^T, with other^T given: to[r] -= sum over k of from[r][k] other_t[k].
ISA_DECLARE(void, block_ldl_update,
            (ldl_block * to, const ldl_block* from, const ldl_block* other_t));
