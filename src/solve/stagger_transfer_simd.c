// Tile kernels of the staggered transfers: one pass an axis, rows of eight.
#include "solve/stagger_transfer.h"

enum {
    ROW = TILE_SIZE,
    LAYER = TILE_SIZE * TILE_SIZE,
    FINE = 2 * TILE_SIZE + 2, // fine rows that a coarse tile's restriction reads: -1 .. 16
    HALF = TILE_SIZE / 2 + 2, // coarse rows that a fine tile's prolongation reads: -1 .. 4
};

// A staggered field is nodal along some axes, where its values lie on the planes between cells, and
// centred along the others. Going to a level of half the resolution, linear interpolation is then
// (1/2, 1, 1/2) along nodal axes, since every second plane is a coarse one, and (1/4, 3/4, 3/4,
// 1/4) along centred ones, since coarse centres lie between two fine ones. Restriction is its
// transpose, and both are products over axes: x within vectors, y within a layer, z between layers.

// The rows of tile t that are asked for, and the layers they are in.
static uint64_t rows_asked(const stagger_job* job, int64_t t) {
    return job->rows != NULL ? job->rows[t * AXES] : UINT64_MAX;
}

static int first_layer(uint64_t rows) {
    return __builtin_ctzll(rows) / ROW;
}

static int last_layer(uint64_t rows) {
    return (63 - __builtin_clzll(rows)) / ROW;
}

// ---- Restriction ----------------------------------------------------------------------------

// The coarse value from the fine ones at 2I-1, 2I, 2I+1, 2I+2.
static f32x8 gather_four(stagger_rule rule, f32x8 before, f32x8 even, f32x8 odd, f32x8 after) {
    if (rule == STAGGER_NODAL) {
        return f32x8_set(0.5f) * (before + odd) + even;
    }
    return f32x8_set(0.25f) * (before + after) + f32x8_set(0.75f) * (even + odd);
}

// The values of fine tile t.
static const float* fine_tile(const stagger_job* job, tile_ix t) {
    return job->from + (size_t)t * (size_t)job->fine.block + job->fine.offset;
}

// Restricts the row at q of the four tiles along x.
// Sixteen fine values and one more on each side become eight coarse ones: even and odd lanes are
// parted, and each is moved by one to have the neighbour on the other side.
static f32x8 restrict_row(const stagger_job* job, const tile_ix* tiles, int q) {
    f32x8 low = f32x8_load(fine_tile(job, tiles[1]) + q);
    if (job->rule[0] == STAGGER_SAME) {
        return low;
    }
    f32x8 high = f32x8_load(fine_tile(job, tiles[2]) + q);
    float first = fine_tile(job, tiles[0])[q + ROW - 1], last = fine_tile(job, tiles[3])[q];
    f32x8 even = __builtin_shufflevector(low, high, 0, 2, 4, 6, 8, 10, 12, 14);
    f32x8 odd = __builtin_shufflevector(low, high, 1, 3, 5, 7, 9, 11, 13, 15);
    f32x8 before = __builtin_shufflevector(odd, f32x8_set(first), 8, 0, 1, 2, 3, 4, 5, 6);
    f32x8 after = __builtin_shufflevector(even, f32x8_set(last), 1, 2, 3, 4, 5, 6, 7, 8);
    return gather_four(job->rule[0], before, even, odd, after);
}

// Where fine row n of a pass lies: place among four tiles, and row in the tile.
static int tile_place(stagger_rule rule, int n) {
    return rule == STAGGER_SAME ? 1 : (n + ROW - 1) / ROW;
}

// Row 0 of the list is the last row of the tile below: hence the shift by one row.
static int tile_row(stagger_rule rule, int n) {
    return rule == STAGGER_SAME ? n : (n + ROW - 1) % ROW;
}

static int row_count(stagger_rule rule) {
    return rule == STAGGER_SAME ? ROW : FINE;
}

// Fine rows (or layers) to coarse row n: rows 2n .. 2n + 3 of the list, `stride` apart.
static f32x8 restrict_list(stagger_rule rule, const f32x8* list, int n, int stride) {
    if (rule == STAGGER_SAME) {
        return list[n * stride];
    }
    const f32x8* at = list + 2 * n * stride;
    return gather_four(rule, at[0], at[stride], at[2 * stride], at[3 * stride]);
}

// Restricts the fine layer n into eight coarse rows.
// y is done as soon as x is: eight rows go on instead of eighteen.
static void restrict_layer(const stagger_job* job, const tile_ix* wide, int n, f32x8 out[ROW]) {
    f32x8 rows[FINE];
    int k = tile_row(job->rule[2], n), z = tile_place(job->rule[2], n);
    for (int m = 0; m < row_count(job->rule[1]); ++m) {
        int j = tile_row(job->rule[1], m), y = tile_place(job->rule[1], m);
        rows[m] = restrict_row(job, wide + 16 * z + 4 * y, k * LAYER + j * ROW);
    }
    for (int J = 0; J < ROW; ++J) {
        out[J] = restrict_list(job->rule[1], rows, J, 1);
    }
}

// A coarse tile gathers from the 4 x 4 x 4 fine ones around it: it alone writes its values, so that
// nothing races and the order of sums is one alone. Layers that no asked row reads are left out.
void ISA(stagger_loop_restrict)(void* data, int64_t begin, int64_t end) {
    const stagger_job* job = data;
    for (int64_t i = begin; i < end; ++i) {
        int64_t T = job->tiles == NULL ? i : job->tiles[i];
        uint64_t rows = rows_asked(job, T);
        if (rows == 0) {
            continue;
        }
        f32x8 layers[FINE][ROW];
        bool is_same = job->rule[2] == STAGGER_SAME;
        int first = first_layer(rows), last = last_layer(rows);
        for (int n = is_same ? first : 2 * first; n <= (is_same ? last : 2 * last + 3); ++n) {
            restrict_layer(job, job->step->wide[T], n, layers[n]);
        }
        float* to = job->to + (size_t)T * (size_t)job->coarse.block + job->coarse.offset;
        for (; rows != 0; rows &= rows - 1) {
            int row = __builtin_ctzll(rows);
            f32x8 sum = restrict_list(job->rule[2], &layers[0][row % ROW], row / ROW, ROW);
            f32x8_store(to + row * ROW, f32x8_set(job->scale) * sum);
        }
    }
}

// ---- Prolongation ---------------------------------------------------------------------------

// A coarse tile's values with one layer of its neighbours' around.
typedef struct halo {
    float at[ROW + 2][ROW + 2][ROW + 2];
} halo;

// Interpolation reads one coarse value beyond the tile on each side, also across its edges and
// corners.
static void load_halo(const stagger_job* job, int64_t T, halo* out) {
    const tile_ix* neighbour = job->step->map.neighbour[T];
    for (int k = 0; k < ROW + 2; ++k) {
        for (int j = 0; j < ROW + 2; ++j) {
            int y = (j + ROW - 1) / ROW, z = (k + ROW - 1) / ROW;
            int q = (k + ROW - 1) % ROW * LAYER + (j + ROW - 1) % ROW * ROW;
            const tile_ix* tiles = neighbour + 9 * z + 3 * y;
            size_t block = (size_t)job->coarse.block;
            const float* from = job->from + job->coarse.offset + q;
            f32x8_store(&out->at[k][j][1], f32x8_load(from + (size_t)tiles[1] * block));
            out->at[k][j][0] = from[(size_t)tiles[0] * block + ROW - 1];
            out->at[k][j][ROW + 1] = from[(size_t)tiles[2] * block];
        }
    }
}

static f32x4 load_four(const float* from) {
    f32x4 v;
    memcpy(&v, from, sizeof(v));
    return v;
}

// Eight fine values from coarse ones; `at` points to the coarse cell below the first.
static f32x8 prolong_row(stagger_rule rule, const float* at) {
    if (rule == STAGGER_SAME) {
        return f32x8_load(at + 1);
    }
    // Fine cells 2I and 2I + 1. Nodal: the even plane is the coarse one, the odd one its mean with
    // the next. Centred: 3/4 of the coarse cell that it lies in, 1/4 of the one that it leans to.
    f32x4 below = load_four(at), here = load_four(at + 1), above = load_four(at + 2);
    f32x4 even = here, odd = 0.5f * (here + above);
    if (rule == STAGGER_CENTRED) {
        even = 0.75f * here + 0.25f * below;
        odd = 0.75f * here + 0.25f * above;
    }
    return __builtin_shufflevector(even, odd, 0, 4, 1, 5, 2, 6, 3, 7);
}

// Fine row n from the list of coarse rows, which starts one below the tile.
static f32x8 prolong_list(stagger_rule rule, const f32x8* list, int n, int stride) {
    int at = rule == STAGGER_SAME ? n + 1 : n / 2 + 1;
    f32x8 here = list[at * stride];
    if (rule == STAGGER_SAME) {
        return here;
    }
    if (rule == STAGGER_NODAL) {
        return n % 2 == 0 ? here : f32x8_set(0.5f) * (here + list[(at + 1) * stride]);
    }
    f32x8 other = list[(n % 2 == 0 ? at - 1 : at + 1) * stride];
    return f32x8_set(0.75f) * here + f32x8_set(0.25f) * other;
}

static int coarse_count(stagger_rule rule) {
    return rule == STAGGER_SAME ? ROW + 2 : HALF;
}

// First coarse cell of child o in its tile.
static int child_start(int o, int axis) {
    return (o >> axis & 1) * (ROW / 2);
}

// Half a coarse tile and a margin become a layer of a fine one: x first, then y; z is left to the
// caller.
static void prolong_layer(const stagger_job* job, const halo* from, int o, int n, f32x8 out[ROW]) {
    f32x8 rows[ROW + 2];
    int K = child_start(o, 2) + n;
    for (int m = 0; m < coarse_count(job->rule[1]); ++m) {
        int J = child_start(o, 1) + m;
        rows[m] = prolong_row(job->rule[0], &from->at[K][J][child_start(o, 0)]);
    }
    for (int j = 0; j < ROW; ++j) {
        out[j] = prolong_list(job->rule[1], rows, j, 1);
    }
}

// to += P from where the mask is positive: at unknowns. A fixed face keeps its value, whatever lies
// around.
static void prolong_child(const stagger_job* job, const halo* from, int o, int64_t t) {
    uint64_t rows = rows_asked(job, t);
    if (rows == 0) {
        return;
    }
    f32x8 layers[ROW + 2][ROW];
    bool is_same = job->rule[2] == STAGGER_SAME;
    int first = first_layer(rows), last = last_layer(rows);
    for (int n = is_same ? first + 1 : first / 2; n <= (is_same ? last + 1 : last / 2 + 2); ++n) {
        prolong_layer(job, from, o, n, layers[n]);
    }
    size_t start = (size_t)t * (size_t)job->fine.block + (size_t)job->fine.offset;
    float* to = job->to + start;
    const float* mask = job->mask + start;
    for (; rows != 0; rows &= rows - 1) {
        int row = __builtin_ctzll(rows), q = row * ROW;
        f32x8 v = prolong_list(job->rule[2], &layers[0][row % ROW], row / ROW, ROW);
        i32x8 is_let = f32x8_load(mask + q) > f32x8_set(0.0f);
        f32x8_store(to + q, f32x8_load(to + q) + (f32x8)((i32x8)v & is_let));
    }
}

// By coarse tiles, for the halo is loaded once for eight children.
void ISA(stagger_loop_prolong)(void* data, int64_t begin, int64_t end) {
    const stagger_job* job = data;
    for (int64_t i = begin; i < end; ++i) {
        int64_t T = job->tiles == NULL ? i : job->tiles[i];
        halo from;
        load_halo(job, T, &from);
        for (int o = 0; o < PYRAMID_CHILDREN; ++o) {
            tile_ix t = job->step->child[T][o];
            if (t != PYRAMID_NONE) {
                prolong_child(job, &from, o, t);
            }
        }
    }
}
