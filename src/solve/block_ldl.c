// Right-looking elimination on a pattern found beforehand.
//
//     pattern of column j = its entries in A below the diagonal, and the patterns of its children
//     in the elimination tree, where the parent of a column is the first row of its pattern.
//
// For column j with diagonal block D and blocks W_i below it: L_i = W_i D^-1, and for every pair of
// rows of the pattern A_ik -= L_i W_k^T, which falls on entries of column k that exist.
#include "solve/block_ldl.h"

#include <string.h>

#include "base/alloc.h"
#include "base/sort.h"
#include "solve/dissection.h"
#include "solve/policy.h"

struct block_ldl {
    treacle_context* ctx;
    int32_t count;
    int64_t capacity; // of row and value
    int32_t* order;   // [count], node eliminated k-th
    int32_t* place;   // [count], when a node is eliminated
    int64_t* first;   // [count + 1], of the columns
    int32_t* row;     // [first[count]], ascending in a column
    ldl_block* value; // L below the diagonal
    ldl_block* pivot; // [count], the scalar factor of D: L below, inverse pivots on the diagonal
    double* work;     // [count][6]
};

typedef void update_fcn(ldl_block* to, const ldl_block* from, const ldl_block* other_t);

// ---- Pattern --------------------------------------------------------------------------------

// Entries of A by node, both triangles.
typedef struct adjacency {
    int64_t* first;
    int32_t* neighbour;
} adjacency;

static void fill_adjacency(const ldl_matrix* m, adjacency* a) {
    // Counted, added up, filled: filling moves each start to its end, which is the next one's
    // start, so all are moved back by one afterwards.
    for (int64_t e = 0; e < m->entry_count; ++e) {
        a->first[m->entry[e][0] + 1] += 1;
        a->first[m->entry[e][1] + 1] += 1;
    }
    for (int32_t i = 0; i < m->count; ++i) {
        a->first[i + 1] += a->first[i];
    }
    for (int64_t e = 0; e < m->entry_count; ++e) {
        for (int side = 0; side < 2; ++side) {
            a->neighbour[a->first[m->entry[e][side]]++] = m->entry[e][1 - side];
        }
    }
    for (int32_t i = m->count; i > 0; --i) {
        a->first[i] = a->first[i - 1];
    }
    a->first[0] = 0;
}

static treacle_status block_ldl_reserve(block_ldl* ldl, int64_t wanted) {
    if (wanted <= ldl->capacity) {
        return TREACLE_OK;
    }
    // Doubled: the fill is not known before the pattern is found, column by column.
    int64_t capacity = 2 * wanted;
    TREACLE_TRY(alloc_resize(ldl->ctx, (void**)&ldl->row, (size_t)ldl->capacity, (size_t)capacity,
                             sizeof(int32_t), "the pattern of a factor"));
    ldl->capacity = capacity;
    return TREACLE_OK;
}

static int compare_rows(const void* p, const void* q) {
    int32_t a = *(const int32_t*)p, b = *(const int32_t*)q;
    return a < b ? -1 : a > b ? 1 : 0;
}

typedef struct pattern_work {
    int32_t* mark;    // [count], the last column that a row was put into
    int32_t* child;   // [count], first child of a column, or -1
    int32_t* sibling; // [count], next child of the same parent, or -1
} pattern_work;

static void add_row(block_ldl* ldl, pattern_work* w, int32_t j, int32_t i, int64_t* end) {
    // A row may come from A and from several children; the mark lets it in once, and needs no
    // clearing from column to column.
    if (i > j && w->mark[i] != j) {
        w->mark[i] = j;
        ldl->row[(*end)++] = i;
    }
}

// The pattern of one column, without looking at numbers. It costs no more than the factor's own
// size, since each column reads its children once.
static treacle_status find_column(block_ldl* ldl, const adjacency* a, pattern_work* w, int32_t j) {
    int64_t begin = ldl->first[j], end = begin;
    int32_t node = ldl->order[j];
    // A column has at most all rows after it.
    TREACLE_TRY(block_ldl_reserve(ldl, begin + ldl->count));
    for (int64_t p = a->first[node]; p < a->first[node + 1]; ++p) {
        add_row(ldl, w, j, ldl->place[a->neighbour[p]], &end);
    }
    // Eliminating a child joins all of its rows to one another, and j is the first of them: so
    // column j has them all. Grandchildren have handed theirs on.
    for (int32_t c = w->child[j]; c >= 0; c = w->sibling[c]) {
        for (int64_t p = ldl->first[c]; p < ldl->first[c + 1]; ++p) {
            add_row(ldl, w, j, ldl->row[p], &end);
        }
    }
    sort_items(ldl->row + begin, (size_t)(end - begin), sizeof(int32_t), compare_rows);
    ldl->first[j + 1] = end;
    if (end > begin) {
        // Ascending: the first row is the next column that this one changes.
        int32_t parent = ldl->row[begin];
        w->sibling[j] = w->child[parent];
        w->child[parent] = j;
    }
    return TREACLE_OK;
}

static treacle_status find_columns(block_ldl* ldl, const adjacency* a, pattern_work* w) {
    for (int32_t j = 0; j < ldl->count; ++j) {
        w->mark[j] = w->child[j] = w->sibling[j] = -1;
    }
    for (int32_t j = 0; j < ldl->count; ++j) {
        TREACLE_TRY(find_column(ldl, a, w, j));
    }
    return TREACLE_OK;
}

static treacle_status find_pattern(block_ldl* ldl, const adjacency* a) {
    treacle_context* ctx = ldl->ctx;
    size_t count = (size_t)ldl->count, bytes = count * sizeof(int32_t);
    pattern_work w = {0};
    treacle_status status;
    const char* what = "the elimination tree";
    TREACLE_TRY_GOTO(alloc_array(ctx, count, sizeof(int32_t), what, (void**)&w.mark), finish);
    TREACLE_TRY_GOTO(alloc_array(ctx, count, sizeof(int32_t), what, (void**)&w.child), finish);
    TREACLE_TRY_GOTO(alloc_array(ctx, count, sizeof(int32_t), what, (void**)&w.sibling), finish);
    status = find_columns(ldl, a, &w);
finish:
    alloc_free(ctx, w.mark, bytes);
    alloc_free(ctx, w.child, bytes);
    alloc_free(ctx, w.sibling, bytes);
    return status;
}

// ---- Numbers --------------------------------------------------------------------------------

static void transpose(const ldl_block* from, ldl_block* to) {
    for (int r = 0; r < BLOCK_SIZE; ++r) {
        for (int c = 0; c < SIMD_LANES; ++c) {
            // Padding stays zero, so that updates by whole vectors leave it so.
            to->at[r][c] = c < BLOCK_SIZE ? from->at[c][r] : 0.0;
        }
    }
}

// Where row i is in column j, by halving.
static int64_t find_row(const block_ldl* ldl, int32_t j, int32_t i) {
    // The row is there: the pattern has all entries of A.
    int64_t low = ldl->first[j], high = ldl->first[j + 1] - 1;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (ldl->row[middle] < i) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

// A into the places of L, in the order of elimination; the fill stays zero until columns are taken
// out.
static void load_values(block_ldl* ldl, const ldl_matrix* m) {
    for (int32_t i = 0; i < m->count; ++i) {
        ldl->pivot[ldl->place[i]] = m->diagonal[i];
    }
    for (int64_t e = 0; e < m->entry_count; ++e) {
        int32_t i = ldl->place[m->entry[e][0]], j = ldl->place[m->entry[e][1]];
        // An entry lies below the diagonal in the order of elimination, or its transpose does.
        if (i > j) {
            ldl->value[find_row(ldl, j, i)] = m->value[e];
        } else {
            transpose(&m->value[e], &ldl->value[find_row(ldl, i, j)]);
        }
    }
}

// The scalar factor of a diagonal block in place: unit L below, inverse pivots on the diagonal.
// E may be singular: a lump in two dimensions has three motions, a body on a hinge one, and a
// periodic domain has none of the rotations. What has no resistance gets no correction either.
static void factor_pivot(ldl_block* d, const double original[BLOCK_SIZE]) {
    double smallest = solve_policy_default()->rounding.pivot;
    for (int j = 0; j < BLOCK_SIZE; ++j) {
        double pivot = d->at[j][j];
        // Against the diagonal before elimination: what is left of it after cancellation is
        // rounding, and its inverse would be noise. Zero leaves the direction out of the solution.
        double inverse = pivot > smallest * original[j] ? 1.0 / pivot : 0.0;
        for (int i = j + 1; i < BLOCK_SIZE; ++i) {
            double factor = d->at[i][j] * inverse;
            for (int k = j + 1; k <= i; ++k) {
                d->at[i][k] -= factor * d->at[k][j];
            }
        }
        for (int i = j + 1; i < BLOCK_SIZE; ++i) {
            d->at[i][j] *= inverse;
        }
        d->at[j][j] = inverse;
    }
}

// v = D^-1 v.
static void solve_pivot(const ldl_block* d, double* v) {
    for (int i = 0; i < BLOCK_SIZE; ++i) {
        for (int k = 0; k < i; ++k) {
            v[i] -= d->at[i][k] * v[k];
        }
    }
    // Inverse pivots stand on the diagonal.
    for (int i = 0; i < BLOCK_SIZE; ++i) {
        v[i] *= d->at[i][i];
    }
    for (int i = BLOCK_SIZE - 1; i >= 0; --i) {
        for (int k = i + 1; k < BLOCK_SIZE; ++k) {
            v[i] -= d->at[k][i] * v[k];
        }
    }
}

// Takes column j out of the columns after it. `other_t` holds W^T of each of its blocks.
static void update_columns(block_ldl* ldl, int32_t j, const ldl_block* other_t,
                           update_fcn* update) {
    int64_t begin = ldl->first[j], end = ldl->first[j + 1];
    for (int64_t q = begin; q < end; ++q) {
        int32_t k = ldl->row[q];
        int64_t at = ldl->first[k];
        // The diagonal block first, then the rows below it, which are rows of this column, too.
        update(&ldl->pivot[k], &ldl->value[q], &other_t[q - begin]);
        for (int64_t p = q + 1; p < end; ++p) {
            // Both lists ascend, and the pattern says that every row is found.
            while (ldl->row[at] < ldl->row[p]) {
                ++at;
            }
            update(&ldl->value[at], &ldl->value[p], &other_t[q - begin]);
        }
    }
}

// Column after column. Blocks are 6 x 6 with rows padded to eight, so that an update is a few
// vector operations; nearly all of the time goes into update_columns.
static void eliminate(block_ldl* ldl, const ldl_matrix* m, ldl_block* other_t) {
    update_fcn* update = ISA_CALL(ldl->ctx, block_ldl_update);
    for (int32_t j = 0; j < ldl->count; ++j) {
        double original[BLOCK_SIZE];
        for (int n = 0; n < BLOCK_SIZE; ++n) {
            // The diagonal of A itself: the pivot block has changed since.
            original[n] = m->diagonal[ldl->order[j]].at[n][n];
        }
        factor_pivot(&ldl->pivot[j], original);
        for (int64_t p = ldl->first[j]; p < ldl->first[j + 1]; ++p) {
            // W is kept, transposed, before it becomes L = W D^-1: updates need both.
            transpose(&ldl->value[p], &other_t[p - ldl->first[j]]);
            for (int r = 0; r < BLOCK_SIZE; ++r) {
                solve_pivot(&ldl->pivot[j], ldl->value[p].at[r]);
            }
        }
        update_columns(ldl, j, other_t, update);
    }
}

// Room for W^T of one column, asked for once.
static int64_t longest_column(const block_ldl* ldl) {
    int64_t most = 0;
    for (int32_t j = 0; j < ldl->count; ++j) {
        int64_t length = ldl->first[j + 1] - ldl->first[j];
        most = length > most ? length : most;
    }
    return most;
}

static treacle_status compute(block_ldl* ldl, const ldl_matrix* m) {
    int64_t fill = ldl->first[ldl->count], longest = longest_column(ldl);
    ldl_block* other_t = NULL;
    TREACLE_TRY(
        alloc_zero(ldl->ctx, (size_t)fill, sizeof(ldl_block), "the factor", (void**)&ldl->value));
    TREACLE_TRY(alloc_array(ldl->ctx, (size_t)longest, sizeof(ldl_block), "a column of the factor",
                            (void**)&other_t));
    load_values(ldl, m);
    eliminate(ldl, m, other_t);
    alloc_free(ldl->ctx, other_t, (size_t)longest * sizeof(ldl_block));
    return TREACLE_OK;
}

// ---- Making and using -----------------------------------------------------------------------

static treacle_status order_and_factor(block_ldl* ldl, const ldl_matrix* m, const adjacency* a) {
    dissection_graph graph = {m->count, m->position, a->first, a->neighbour};
    TREACLE_TRY(dissection_order(ldl->ctx, &graph, ldl->order));
    for (int32_t k = 0; k < ldl->count; ++k) {
        ldl->place[ldl->order[k]] = k;
    }
    // The order from positions, the pattern from the order, numbers at last: memory is asked for
    // once.
    TREACLE_TRY(find_pattern(ldl, a));
    return compute(ldl, m);
}

static treacle_status block_ldl_allocate(block_ldl* ldl) {
    size_t count = (size_t)ldl->count;
    TREACLE_TRY(
        alloc_array(ldl->ctx, count, sizeof(int32_t), "an elimination order", (void**)&ldl->order));
    TREACLE_TRY(
        alloc_array(ldl->ctx, count, sizeof(int32_t), "an elimination order", (void**)&ldl->place));
    TREACLE_TRY(alloc_zero(ldl->ctx, count + 1, sizeof(int64_t), "columns of the factor",
                           (void**)&ldl->first));
    TREACLE_TRY(alloc_array(ldl->ctx, count, sizeof(ldl_block), "pivots", (void**)&ldl->pivot));
    return alloc_array(ldl->ctx, count * BLOCK_SIZE, sizeof(double), "a vector of the factor",
                       (void**)&ldl->work);
}

treacle_status block_ldl_create(treacle_context* ctx, const ldl_matrix* matrix, block_ldl** out) {
    TREACLE_ASSERT(matrix->count > 0 && matrix->entry_count >= 0);
    *out = NULL;
    block_ldl* ldl = NULL;
    adjacency a = {0};
    size_t nodes = (size_t)matrix->count + 1, ends = 2 * (size_t)matrix->entry_count;
    treacle_status status;
    TREACLE_TRY(alloc_zero(ctx, 1, sizeof(*ldl), "a factor", (void**)&ldl));
    ldl->ctx = ctx;
    ldl->count = matrix->count;
    TREACLE_TRY_GOTO(block_ldl_allocate(ldl), finish);
    TREACLE_TRY_GOTO(alloc_zero(ctx, nodes, sizeof(int64_t), "a graph", (void**)&a.first), finish);
    TREACLE_TRY_GOTO(alloc_array(ctx, ends, sizeof(int32_t), "a graph", (void**)&a.neighbour),
                     finish);
    // Needed for order and pattern, and then no more.
    fill_adjacency(matrix, &a);
    status = order_and_factor(ldl, matrix, &a);
finish:
    alloc_free(ctx, a.first, nodes * sizeof(int64_t));
    alloc_free(ctx, a.neighbour, ends * sizeof(int32_t));
    if (status != TREACLE_OK) {
        block_ldl_destroy(ldl);
        return status;
    }
    *out = ldl;
    return TREACLE_OK;
}

void block_ldl_destroy(block_ldl* ldl) {
    if (ldl == NULL) {
        return;
    }
    treacle_context* ctx = ldl->ctx;
    size_t count = (size_t)ldl->count;
    size_t fill = ldl->first == NULL ? 0 : (size_t)ldl->first[count];
    alloc_free(ctx, ldl->value, fill * sizeof(ldl_block));
    alloc_free(ctx, ldl->row, (size_t)ldl->capacity * sizeof(int32_t));
    alloc_free(ctx, ldl->order, count * sizeof(int32_t));
    alloc_free(ctx, ldl->place, count * sizeof(int32_t));
    alloc_free(ctx, ldl->first, (count + 1) * sizeof(int64_t));
    alloc_free(ctx, ldl->pivot, count * sizeof(ldl_block));
    alloc_free(ctx, ldl->work, count * BLOCK_SIZE * sizeof(double));
    alloc_free(ctx, ldl, sizeof(*ldl));
}

// L is unit lower triangular in blocks, so only its blocks below the diagonal are stored.
static void solve_forward(const block_ldl* ldl) {
    for (int32_t j = 0; j < ldl->count; ++j) {
        // v -= L v, column by column; then D^-1; then v -= L^T v, from the last column on.
        const double* v = ldl->work + (int64_t)j * BLOCK_SIZE;
        for (int64_t p = ldl->first[j]; p < ldl->first[j + 1]; ++p) {
            double* to = ldl->work + (int64_t)ldl->row[p] * BLOCK_SIZE;
            for (int r = 0; r < BLOCK_SIZE; ++r) {
                for (int c = 0; c < BLOCK_SIZE; ++c) {
                    to[r] -= ldl->value[p].at[r][c] * v[c];
                }
            }
        }
    }
}

// From the last column to the first, with L transposed.
static void solve_backward(const block_ldl* ldl) {
    for (int32_t j = ldl->count - 1; j >= 0; --j) {
        double* v = ldl->work + (int64_t)j * BLOCK_SIZE;
        for (int64_t p = ldl->first[j]; p < ldl->first[j + 1]; ++p) {
            const double* from = ldl->work + (int64_t)ldl->row[p] * BLOCK_SIZE;
            for (int r = 0; r < BLOCK_SIZE; ++r) {
                for (int c = 0; c < BLOCK_SIZE; ++c) {
                    v[c] -= ldl->value[p].at[r][c] * from[r];
                }
            }
        }
    }
}

void block_ldl_solve(const block_ldl* ldl, double* y) {
    const size_t bytes = BLOCK_SIZE * sizeof(double);
    for (int32_t k = 0; k < ldl->count; ++k) {
        // In the order of elimination, and back.
        memcpy(ldl->work + (int64_t)k * BLOCK_SIZE, y + (int64_t)ldl->order[k] * BLOCK_SIZE, bytes);
    }
    solve_forward(ldl);
    for (int32_t j = 0; j < ldl->count; ++j) {
        solve_pivot(&ldl->pivot[j], ldl->work + (int64_t)j * BLOCK_SIZE);
    }
    solve_backward(ldl);
    for (int32_t k = 0; k < ldl->count; ++k) {
        memcpy(y + (int64_t)ldl->order[k] * BLOCK_SIZE, ldl->work + (int64_t)k * BLOCK_SIZE, bytes);
    }
}

int64_t block_ldl_fill(const block_ldl* ldl) {
    return ldl->first[ldl->count];
}
