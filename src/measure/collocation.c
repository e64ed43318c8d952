#include "measure/collocation.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/check.h"

enum { SIZE_MAX_Y = 24, NEWTON_STEPS = 25, HALVINGS = 8 };
static const double newton_end = 1e-7; // of a step, over the size of y

// The matrix of a Newton step, by rows: the entry of column c of row r is at c - r + below.
typedef struct band {
    int rows, below, above; // above includes what pivots bring
    double* at;
} band;

static double* entry(const band* b, int row, int column) {
    return &b->at[(size_t)row * (size_t)(b->below + b->above + 1) +
                  (size_t)(column - row + b->below)];
}

typedef struct newton {
    collocation* c;
    band matrix;
    double *right, *trial; // [rows]
} newton;

// ---- equations ----------------------------------------------------------------------------------

// The middle of an interval, and its slopes.
static void middle_of(const collocation* c, const double* y0, const double* y1, const double* f0,
                      const double* f1, double h, double* out) {
    for (int k = 0; k < c->size; ++k) {
        out[k] = 0.5 * (y0[k] + y1[k]) + 0.125 * h * (f0[k] - f1[k]);
    }
}

static void interval_rest(const collocation* c, const double* y0, const double* y1, double h,
                          double* out) {
    double f0[SIZE_MAX_Y], f1[SIZE_MAX_Y], fm[SIZE_MAX_Y], ym[SIZE_MAX_Y];
    c->slopes(c->data, y0, f0);
    c->slopes(c->data, y1, f1);
    middle_of(c, y0, y1, f0, f1, h, ym);
    c->slopes(c->data, ym, fm);
    for (int k = 0; k < c->size; ++k) {
        out[k] = y1[k] - y0[k] - h / 6.0 * (f0[k] + 4.0 * fm[k] + f1[k]);
    }
}

static void all_rests(const collocation* c, const double* y, double* out) {
    int size = c->size, last = c->nodes - 1;
    c->begin(c->data, y, out);
    for (int i = 0; i < last; ++i) {
        interval_rest(c, y + i * size, y + (i + 1) * size, c->t[i + 1] - c->t[i],
                      out + c->begin_count + i * size);
    }
    c->end(c->data, y + last * size, out + c->begin_count + last * size);
}

static double nudge_of(double value) {
    return 1e-7 * fmax(fabs(value), 1e-3);
}

// Columns of the derivative of conditions at one node.
static void differentiate_ends(newton* n) {
    collocation* c = n->c;
    double low[SIZE_MAX_Y], high[SIZE_MAX_Y];
    for (int side = 0; side < 2; ++side) {
        int node = side == 0 ? 0 : c->nodes - 1;
        int row = side == 0 ? 0 : c->begin_count + node * c->size;
        int count = side == 0 ? c->begin_count : c->end_count;
        double* y = c->y + node * c->size;
        (side == 0 ? c->begin : c->end)(c->data, y, low);
        for (int k = 0; k < c->size; ++k) {
            double kept = y[k], nudge = nudge_of(kept);
            y[k] = kept + nudge;
            (side == 0 ? c->begin : c->end)(c->data, y, high);
            y[k] = kept;
            for (int i = 0; i < count; ++i) {
                *entry(&n->matrix, row + i, node * c->size + k) = (high[i] - low[i]) / nudge;
            }
        }
    }
}

static void differentiate_interval(newton* n, int at) {
    collocation* c = n->c;
    double low[SIZE_MAX_Y], high[SIZE_MAX_Y], h = c->t[at + 1] - c->t[at];
    double *y0 = c->y + at * c->size, *y1 = y0 + c->size;
    int row = c->begin_count + at * c->size;
    interval_rest(c, y0, y1, h, low);
    for (int k = 0; k < 2 * c->size; ++k) { // y1 follows y0
        double kept = y0[k], nudge = nudge_of(kept);
        y0[k] = kept + nudge;
        interval_rest(c, y0, y1, h, high);
        y0[k] = kept;
        for (int i = 0; i < c->size; ++i) {
            *entry(&n->matrix, row + i, at * c->size + k) = (high[i] - low[i]) / nudge;
        }
    }
}

// ---- elimination --------------------------------------------------------------------------------

static void swap_rows(newton* n, int a, int b, int first, int last) {
    for (int k = first; k <= last; ++k) {
        double kept = *entry(&n->matrix, a, k);
        *entry(&n->matrix, a, k) = *entry(&n->matrix, b, k);
        *entry(&n->matrix, b, k) = kept;
    }
    double kept = n->right[a];
    n->right[a] = n->right[b];
    n->right[b] = kept;
}

// Solves for `right`, in place. False if the matrix is singular.
static bool eliminate(newton* n) {
    band* m = &n->matrix;
    for (int k = 0; k < m->rows; ++k) {
        int last_row = k + m->below < m->rows ? k + m->below : m->rows - 1, best = k;
        int last = k + m->above < m->rows ? k + m->above : m->rows - 1;
        for (int r = k + 1; r <= last_row; ++r) {
            best = fabs(*entry(m, r, k)) > fabs(*entry(m, best, k)) ? r : best;
        }
        if (!(fabs(*entry(m, best, k)) > 0.0)) {
            return false;
        }
        swap_rows(n, k, best, k, last);
        for (int r = k + 1; r <= last_row; ++r) {
            double factor = *entry(m, r, k) / *entry(m, k, k);
            for (int i = k; i <= last && factor != 0.0; ++i) {
                *entry(m, r, i) -= factor * *entry(m, k, i);
            }
            n->right[r] -= factor * n->right[k];
        }
    }
    for (int k = m->rows - 1; k >= 0; --k) {
        int last = k + m->above < m->rows ? k + m->above : m->rows - 1;
        for (int i = k + 1; i <= last; ++i) {
            n->right[k] -= *entry(m, k, i) * n->right[i];
        }
        n->right[k] /= *entry(m, k, k);
    }
    return true;
}

// ---- Newton's method ----------------------------------------------------------------------------

static double norm_of(int count, const double* v) {
    double sum = 0.0;
    for (int i = 0; i < count; ++i) {
        sum += v[i] * v[i];
    }
    return sqrt(sum / count);
}

// Moves y by the step in `right`, or by as much of it as makes the rests smaller. False if no part
// of it does.
static bool move(newton* n, double before) {
    collocation* c = n->c;
    int rows = n->matrix.rows;
    double part = 1.0, *step = n->right, *rest = n->trial + rows;
    for (int tries = 0; tries < HALVINGS; ++tries, part *= 0.5) {
        for (int i = 0; i < rows; ++i) {
            n->trial[i] = c->y[i] - part * step[i];
        }
        all_rests(c, n->trial, rest);
        double after = norm_of(rows, rest);
        if (after < before || (after <= 1e-9 && part == 1.0)) { // the latter is rounding
            memcpy(c->y, n->trial, (size_t)rows * sizeof(double));
            return true;
        }
    }
    return false;
}

static bool iterate(newton* n) {
    collocation* c = n->c;
    band* m = &n->matrix;
    for (int i = 0; i < NEWTON_STEPS; ++i) {
        all_rests(c, c->y, n->right);
        double before = norm_of(m->rows, n->right);
        memset(m->at, 0, (size_t)m->rows * (size_t)(m->below + m->above + 1) * sizeof(double));
        differentiate_ends(n);
        for (int k = 0; k + 1 < c->nodes; ++k) {
            differentiate_interval(n, k);
        }
        if (!isfinite(before) || !eliminate(n) || !move(n, before)) {
            return false;
        }
        if (norm_of(m->rows, n->right) <= newton_end * norm_of(m->rows, c->y)) {
            return true;
        }
    }
    return false;
}

treacle_status collocation_solve(treacle_context* ctx, collocation* c, bool* is_solved) {
    TREACLE_ASSERT(c->nodes >= 2 && c->t[0] == 0.0 && c->t[c->nodes - 1] == 1.0);
    TREACLE_ASSERT(c->slopes != NULL && c->begin != NULL && c->end != NULL);
    TREACLE_ASSERT(c->size <= SIZE_MAX_Y && c->begin_count + c->end_count == c->size);
    int rows = c->nodes * c->size, below = c->begin_count + c->size - 1;
    newton n = {.c = c, .matrix = {rows, below, below + 2 * c->size - 1 - c->begin_count, NULL}};
    size_t count = (size_t)rows, width = (size_t)(n.matrix.below + n.matrix.above + 1);
    size_t values = count * (width + 4);
    double* memory = NULL;
    TREACLE_TRY(
        alloc_array(ctx, values, sizeof(double), "a boundary value problem", (void**)&memory));
    n.matrix.at = memory;
    n.right = memory + count * width;
    n.trial = n.right + count; // and the rests behind it
    double* kept = n.trial + 2 * count;
    memcpy(kept, c->y, count * sizeof(double));
    *is_solved = iterate(&n);
    if (!*is_solved) {
        memcpy(c->y, kept, count * sizeof(double));
    }
    alloc_free(ctx, memory, values * sizeof(double));
    return TREACLE_OK;
}

// ---- nodes --------------------------------------------------------------------------------------

// How much happens between node i and the next: the way that y goes, each number over its range,
// and as much again for the interval's own part.
static double weight_of(const collocation* c, const double* range, int i) {
    double sum = 0.0, h = c->t[i + 1] - c->t[i];
    for (int k = 0; k < c->size; ++k) {
        double way = (c->y[(i + 1) * c->size + k] - c->y[i * c->size + k]) / range[k];
        sum += way * way;
    }
    return sqrt(sum) + h;
}

// The cubic of a solution between node i and the next, at a fraction of the interval.
static void between(const collocation* c, const double* y, int i, double fraction, double* out) {
    const double *y0 = y + i * c->size, *y1 = y0 + c->size;
    double f0[SIZE_MAX_Y], f1[SIZE_MAX_Y], h = c->t[i + 1] - c->t[i], s = fraction;
    c->slopes(c->data, y0, f0);
    c->slopes(c->data, y1, f1);
    for (int k = 0; k < c->size; ++k) {
        double way = y1[k] - y0[k];
        out[k] = y0[k] + s * h * f0[k] + s * s * (3.0 * way - h * (2.0 * f0[k] + f1[k])) +
                 s * s * s * (h * (f0[k] + f1[k]) - 2.0 * way);
    }
}

static void ranges_of(const collocation* c, double* range) {
    for (int k = 0; k < c->size; ++k) {
        double low = c->y[k], high = low;
        for (int i = 1; i < c->nodes; ++i) {
            low = fmin(low, c->y[i * c->size + k]);
            high = fmax(high, c->y[i * c->size + k]);
        }
        range[k] = high - low > 1e-9 * (fabs(low) + fabs(high)) ? high - low : INFINITY;
    }
}

treacle_status collocation_spread(treacle_context* ctx, collocation* c) {
    TREACLE_ASSERT(c->nodes >= 2 && c->size <= SIZE_MAX_Y);
    TREACLE_ASSERT(c->y != NULL && c->last != NULL && c->y != c->last);
    double range[SIZE_MAX_Y], total = 0.0, done = 0.0;
    size_t values = (size_t)c->nodes * (2 * (size_t)c->size + 1);
    double* t = NULL;
    TREACLE_TRY(alloc_array(ctx, values, sizeof(double), "nodes of a problem", (void**)&t));
    double *y = t + c->nodes, *last = y + c->nodes * c->size;
    ranges_of(c, range);
    for (int i = 0; i + 1 < c->nodes; ++i) {
        total += weight_of(c, range, i);
    }
    int from = 0;
    for (int i = 0; i < c->nodes; ++i) {
        double wanted = total * i / (c->nodes - 1);
        while (from + 2 < c->nodes && done + weight_of(c, range, from) < wanted) {
            done += weight_of(c, range, from);
            from += 1;
        }
        double fraction = fmin(fmax((wanted - done) / weight_of(c, range, from), 0.0), 1.0);
        t[i] = c->t[from] + fraction * (c->t[from + 1] - c->t[from]);
        between(c, c->y, from, fraction, y + i * c->size);
        between(c, c->last, from, fraction, last + i * c->size);
    }
    t[0] = 0.0;
    t[c->nodes - 1] = 1.0;
    memcpy(c->t, t, (size_t)c->nodes * sizeof(double));
    memcpy(c->y, y, (size_t)c->nodes * (size_t)c->size * sizeof(double));
    memcpy(c->last, last, (size_t)c->nodes * (size_t)c->size * sizeof(double));
    alloc_free(ctx, t, values * sizeof(double));
    return TREACLE_OK;
}
