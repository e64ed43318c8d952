// Stencil loops of the pressure operator: a row of eight cells at a time.
//
// A row's six neighbours are its own lanes moved by one along x, with the end lane from the next
// tile, and whole rows of the same or the next tile along y and z. Nothing is copied: a tile and
// what it touches stay in the first-level cache while it is worked on.
#include <stdint.h>

#include "solve/pressure_kernels.h"

enum { ROW = TILE_SIZE, LAYER = TILE_SIZE * TILE_SIZE };

static const float zero_tile[TILE_CELLS];
static const double zero_tile_double[TILE_CELLS];

// Lanes moved by one towards higher x; lane 0 is the last value of the row in the tile below.
TREACLE_ALWAYS_INLINE f32x8 shift_up(f32x8 v, float first) {
    return __builtin_shufflevector(v, f32x8_set(first), 8, 0, 1, 2, 3, 4, 5, 6);
}

// Towards lower x; lane 7 is the first value of the row in the tile above.
TREACLE_ALWAYS_INLINE f32x8 shift_down(f32x8 v, float last) {
    return __builtin_shufflevector(v, f32x8_set(last), 1, 2, 3, 4, 5, 6, 7, 8);
}

TREACLE_ALWAYS_INLINE f64x8 shift_up_double(f64x8 v, double first) {
    return __builtin_shufflevector(v, f64x8_set(first), 8, 0, 1, 2, 3, 4, 5, 6);
}

TREACLE_ALWAYS_INLINE f64x8 shift_down_double(f64x8 v, double last) {
    return __builtin_shufflevector(v, f64x8_set(last), 1, 2, 3, 4, 5, 6, 7, 8);
}

// A tile's values and those of the six tiles that share a face with it.
typedef struct near_float {
    const float *self, *low[AXES], *high[AXES];
} near_float;

typedef struct near_double {
    const double *self, *low[AXES], *high[AXES];
} near_double;

static const int low_neighbour[AXES] = {TILE_NEIGHBOUR(-1, 0, 0), TILE_NEIGHBOUR(0, -1, 0),
                                        TILE_NEIGHBOUR(0, 0, -1)};
static const int high_neighbour[AXES] = {TILE_NEIGHBOUR(1, 0, 0), TILE_NEIGHBOUR(0, 1, 0),
                                         TILE_NEIGHBOUR(0, 0, 1)};

// Where there is no tile x is zero: no link leads there, so any finite number would do.
static const float* tile_of(const float* v, const tile_map* map, tile_ix t) {
    return t < map->count ? v + (size_t)t * TILE_CELLS : zero_tile;
}

static near_float find_near(const float* v, const tile_map* map, tile_ix t) {
    near_float at = {.self = v + (size_t)t * TILE_CELLS};
    for (int a = 0; a < AXES; ++a) {
        at.low[a] = tile_of(v, map, map->neighbour[t][low_neighbour[a]]);
        at.high[a] = tile_of(v, map, map->neighbour[t][high_neighbour[a]]);
    }
    return at;
}

// In the first half of a sweep from zero nobody has written the neighbours yet.
static near_float find_near_zero(const float* v, tile_ix t) {
    near_float at = {.self = v + (size_t)t * TILE_CELLS};
    for (int a = 0; a < AXES; ++a) {
        at.low[a] = at.high[a] = zero_tile;
    }
    return at;
}

// As find_near, for vectors of the outer loop.
static near_double find_near_double(const double* v, const tile_map* map, tile_ix t) {
    near_double at = {.self = v + (size_t)t * TILE_CELLS};
    for (int a = 0; a < AXES; ++a) {
        tile_ix low = map->neighbour[t][low_neighbour[a]];
        tile_ix high = map->neighbour[t][high_neighbour[a]];
        at.low[a] = low < map->count ? v + (size_t)low * TILE_CELLS : zero_tile_double;
        at.high[a] = high < map->count ? v + (size_t)high * TILE_CELLS : zero_tile_double;
    }
    return at;
}

// The links of a tile; those of high faces along y and z start in the next tile.
typedef struct near_links {
    const float *x, *y, *y_high, *z, *z_high, *extra;
} near_links;

// Found once a tile: rows then only add offsets.
// Links of missing tiles are those of the zero tile: nothing crosses.
static near_links find_links(const pressure_level* level, tile_ix t) {
    const tile_map* map = level->map;
    return (near_links){
        .x = level->link_x + (size_t)t * PRESSURE_PADDED_TILE,
        .y = level->link[1] + (size_t)t * TILE_CELLS,
        .y_high = tile_of(level->link[1], map, map->neighbour[t][high_neighbour[1]]),
        .z = level->link[2] + (size_t)t * TILE_CELLS,
        .z_high = tile_of(level->link[2], map, map->neighbour[t][high_neighbour[2]]),
        .extra = level->extra + (size_t)t * TILE_CELLS,
    };
}

typedef struct row_links {
    f32x8 low[AXES], high[AXES];
} row_links;

TREACLE_ALWAYS_INLINE row_links load_links(const near_links* w, int j, int k) {
    int q = k * LAYER + j * ROW;
    const float* x = w->x + (k * TILE_SIZE + j) * PRESSURE_PADDED;
    // High faces are the next cells' low ones; along x the ninth link of the row has the last.
    const float* y_high = j < TILE_SIZE - 1 ? w->y + q + ROW : w->y_high + k * LAYER;
    const float* z_high = k < TILE_SIZE - 1 ? w->z + q + LAYER : w->z_high + j * ROW;
    return (row_links){
        .low = {f32x8_load(x), f32x8_load(w->y + q), f32x8_load(w->z + q)},
        .high = {f32x8_load(x + 1), f32x8_load(y_high), f32x8_load(z_high)},
    };
}

typedef struct row_float {
    f32x8 self, low[AXES], high[AXES];
} row_float;

TREACLE_ALWAYS_INLINE row_float load_row(const near_float* v, int j, int k) {
    int q = k * LAYER + j * ROW;
    const int last = TILE_SIZE - 1;
    const float* y_low = j > 0 ? v->self + q - ROW : v->low[1] + k * LAYER + last * ROW;
    const float* y_high = j < last ? v->self + q + ROW : v->high[1] + k * LAYER;
    const float* z_low = k > 0 ? v->self + q - LAYER : v->low[2] + last * LAYER + j * ROW;
    const float* z_high = k < last ? v->self + q + LAYER : v->high[2] + j * ROW;
    // Along x neighbours are the row itself, shifted by a lane, with one value of the next tile.
    f32x8 self = f32x8_load(v->self + q);
    return (row_float){
        .self = self,
        .low = {shift_up(self, v->low[0][q + last]), f32x8_load(y_low), f32x8_load(z_low)},
        .high = {shift_down(self, v->high[0][q]), f32x8_load(y_high), f32x8_load(z_high)},
    };
}

typedef struct row_double {
    f64x8 self, low[AXES], high[AXES];
} row_double;

// As load_row. Two vectors of four doubles each where the set has no wider ones: the compiler
// splits them.
TREACLE_ALWAYS_INLINE row_double load_row_double(const near_double* v, int j, int k) {
    int q = k * LAYER + j * ROW;
    const int last = TILE_SIZE - 1;
    const double* y_low = j > 0 ? v->self + q - ROW : v->low[1] + k * LAYER + last * ROW;
    const double* y_high = j < last ? v->self + q + ROW : v->high[1] + k * LAYER;
    const double* z_low = k > 0 ? v->self + q - LAYER : v->low[2] + last * LAYER + j * ROW;
    const double* z_high = k < last ? v->self + q + LAYER : v->high[2] + j * ROW;
    f64x8 self = f64x8_load(v->self + q);
    return (row_double){
        .self = self,
        .low = {shift_up_double(self, v->low[0][q + last]), f64x8_load(y_low), f64x8_load(z_low)},
        .high = {shift_down_double(self, v->high[0][q]), f64x8_load(y_high), f64x8_load(z_high)},
    };
}

// (A x) of a row in difference form: exact for a constant x.
TREACLE_ALWAYS_INLINE f32x8 row_apply(const near_links* w, const near_float* v, int j, int k) {
    row_links link = load_links(w, j, k);
    row_float x = load_row(v, j, k);
    f32x8 sum = f32x8_load(w->extra + k * LAYER + j * ROW) * x.self;
    for (int a = 0; a < AXES; ++a) {
        sum += link.low[a] * (x.self - x.low[a]) + link.high[a] * (x.self - x.high[a]);
    }
    return sum;
}

// Links are floats on all levels; their products with doubles are rounded once.
TREACLE_ALWAYS_INLINE f64x8 row_apply_double(const near_links* w, const row_double* x, int j,
                                             int k) {
    row_links link = load_links(w, j, k);
    f64x8 sum = f64x8_from_f32x8(f32x8_load(w->extra + k * LAYER + j * ROW)) * x->self;
    for (int a = 0; a < AXES; ++a) {
        sum += f64x8_from_f32x8(link.low[a]) * (x->self - x->low[a]) +
               f64x8_from_f32x8(link.high[a]) * (x->self - x->high[a]);
    }
    return sum;
}

// What the equations of a row give for their own unknowns.
TREACLE_ALWAYS_INLINE f32x8 row_solve(const near_links* w, const row_float* x, f32x8 b, int j,
                                      int k) {
    row_links link = load_links(w, j, k);
    // Not in differences: b + sum of w x_j, over the diagonal, is the new value itself.
    f32x8 sum = b;
    for (int a = 0; a < AXES; ++a) {
        sum += link.low[a] * x->low[a] + link.high[a] * x->high[a];
    }
    return sum;
}

// Half a sweep: the red cells of a tile (i + j + k even) or the black ones.
static void relax_colour(const pressure_job* job, tile_ix t, const near_float* v, int colour) {
    const pressure_level* level = job->level;
    near_links w = find_links(level, t);
    const float* b = job->b + (size_t)t * TILE_CELLS;
    const float* inverse =
        // Cells with rows of bodies have a zero here: they are not due.
        (level->relax != NULL ? level->relax : level->inverse) + (size_t)t * TILE_CELLS;
    float* x = job->x + (size_t)t * TILE_CELLS;
    const i32x8 even = {-1, 0, -1, 0, -1, 0, -1, 0};
    for (uint64_t rows = level->rows[t]; rows != 0; rows &= rows - 1) {
        int row = __builtin_ctzll(rows), j = row & 7, k = row >> 3, q = row * ROW;
        row_float near = load_row(v, j, k);
        f32x8 over = f32x8_load(inverse + q);
        f32x8 now = row_solve(&w, &near, f32x8_load(b + q), j, k) * over;
        // The row is worked out as a whole and half of it is taken.
        i32x8 is_due = (((colour + j + k) & 1) == 0 ? even : ~even) & (over > f32x8_set(0.0f));
        f32x8_store(x + q, f32x8_select(is_due, now, near.self));
    }
}

// Tiles of one colour have no face in common, so each may be relaxed as if it were alone: its
// neighbours stand still meanwhile. Within a tile red cells see black ones only, and so on: eight
// lanes at a time without one reading what another writes.
void ISA(pressure_loop_smooth)(void* data, int64_t begin, int64_t end) {
    const pressure_job* job = data;
    const pressure_level* level = job->level;
    for (int64_t i = begin; i < end; ++i) {
        tile_ix t = job->tiles[i];
        if (job->is_own_zero) {
            // The other half of the tile's own cells is read before it is written.
            memset(job->x + (size_t)t * TILE_CELLS, 0, TILE_CELLS * sizeof(float));
        }
        near_float v =
            job->is_others_zero ? find_near_zero(job->x, t) : find_near(job->x, level->map, t);
        for (int n = 0; n < level->repeats[t]; ++n) {
            // Red and black, or black and red: transposes of one another. Repeats see neighbours as
            // they were.
            relax_colour(job, t, &v, job->is_reverse ? 1 : 0);
            relax_colour(job, t, &v, job->is_reverse ? 0 : 1);
        }
    }
}

// (v0 + v1, v2 + v3, ...): two fine cells along x in one coarse one.
TREACLE_ALWAYS_INLINE f32x4 add_pairs(f32x8 v) {
    return __builtin_shufflevector(v, v, 0, 2, 4, 6) + __builtin_shufflevector(v, v, 1, 3, 5, 7);
}

// Where a fine row lands in the coarse tile, and where its first cell does.
static int coarse_row(const pyramid_step* step, int o, int j, int k) {
    int J = step->shift[1] != 0 ? (o >> 1 & 1) * 4 + (j >> 1) : j;
    int K = step->shift[2] != 0 ? (o >> 2 & 1) * 4 + (k >> 1) : k;
    // Along an axis that does not coarsen a child is its parent, place by place.
    return K * LAYER + J * ROW + (o & 1) * 4;
}

// b' = P^T (b - A x): the residual is worked out row by row, summed over blocks of 2 x 2 x 2 and
// never stored. With constant interpolation P^T is that sum.
static void restrict_child(const pressure_job* job, tile_ix t, int o, float* sums) {
    const pressure_level* level = job->level;
    const pyramid_step* step = &job->coarse->step;
    near_links w = find_links(level, t);
    near_float v = find_near(job->x, level->map, t);
    const float* b = job->b + (size_t)t * TILE_CELLS;
    for (uint64_t rows = level->rows[t]; rows != 0; rows &= rows - 1) {
        int row = __builtin_ctzll(rows), j = row & 7, k = row >> 3;
        // Cells without an unknown have zeros in b and x, and no links: they add nothing.
        f32x8 r = f32x8_load(b + row * ROW) - row_apply(&w, &v, j, k);
        float* to = sums + coarse_row(step, o, j, k);
        if (step->shift[0] != 0) {
            f32x4 sum;
            // Half a vector, which need not be aligned to its size.
            memcpy(&sum, to, sizeof(sum));
            sum += add_pairs(r);
            memcpy(to, &sum, sizeof(sum));
        } else {
            f32x8_store(to, f32x8_load(to) + r);
        }
    }
}

// By coarse tiles: each is written by one thread.
void ISA(pressure_loop_restrict)(void* data, int64_t begin, int64_t end) {
    const pressure_job* job = data;
    for (int64_t i = begin; i < end; ++i) {
        tile_ix T = job->tiles[i];
        float* sums = job->y + (size_t)T * TILE_CELLS;
        // Children in their order: a coarse sum has one order of its terms.
        memset(sums, 0, TILE_CELLS * sizeof(float));
        for (int o = 0; o < PYRAMID_CHILDREN; ++o) {
            tile_ix t = job->coarse->step.child[T][o];
            if (t != PYRAMID_NONE) {
                restrict_child(job, t, o, sums);
            }
        }
    }
}

// A row of the fine level from half a row of the coarse one.
TREACLE_ALWAYS_INLINE f32x8 spread(const float* from, int shift) {
    if (shift == 0) {
        return f32x8_load(from);
    }
    f32x4 v;
    memcpy(&v, from, sizeof(v));
    // Each coarse value twice: constant interpolation.
    return __builtin_shufflevector(v, v, 0, 0, 1, 1, 2, 2, 3, 3);
}

// Which of the eight children of its parent a tile is: the lowest bits of its place along halved
// axes.
static int child_number(const pyramid_step* step, tile_coord at) {
    return (at.at[0] & step->shift[0]) | (at.at[1] & step->shift[1]) << 1 |
           (at.at[2] & step->shift[2]) << 2;
}

void ISA(pressure_loop_prolong)(void* data, int64_t begin, int64_t end) {
    const pressure_job* job = data;
    const pressure_level* level = job->level;
    const pyramid_step* step = &job->coarse->step;
    for (int64_t i = begin; i < end; ++i) {
        tile_ix t = job->tiles[i];
        const float* from = job->x + (size_t)step->parent[t] * TILE_CELLS;
        const float* inverse = level->inverse + (size_t)t * TILE_CELLS;
        float* to = job->y + (size_t)t * TILE_CELLS;
        int o = child_number(step, level->map->coord[t]);
        for (uint64_t rows = level->rows[t]; rows != 0; rows &= rows - 1) {
            int row = __builtin_ctzll(rows), q = row * ROW;
            f32x8 v = spread(from + coarse_row(step, o, row & 7, row >> 3), step->shift[0]);
            // A block may have cells that are no unknowns.
            i32x8 is_unknown = f32x8_load(inverse + q) > f32x8_set(0.0f);
            f32x8_store(to + q, f32x8_load(to + q) + f32x8_select(is_unknown, v, f32x8_set(0.0f)));
        }
    }
}

void ISA(pressure_loop_apply_float)(void* data, int64_t begin, int64_t end) {
    const pressure_job* job = data;
    const pressure_level* level = job->level;
    for (int64_t i = begin; i < end; ++i) {
        tile_ix t = job->tiles[i];
        near_links w = find_links(level, t);
        near_float v = find_near(job->x, level->map, t);
        f64x8 sum = f64x8_set(0.0);
        for (uint64_t rows = level->rows[t]; rows != 0; rows &= rows - 1) {
            int row = __builtin_ctzll(rows);
            f32x8 y = row_apply(&w, &v, row & 7, row >> 3);
            // Energies of K-cycles in double: they are differences of near numbers later.
            sum += f64x8_from_f32x8(y) * f64x8_from_f32x8(f32x8_load(v.self + row * ROW));
            if (job->y != NULL) {
                f32x8_store(job->y + (size_t)t * TILE_CELLS + row * ROW, y);
            }
        }
        level->space.partial[0][t] = f64x8_sum(sum);
    }
}

// One row of y = A x; returns its part of x . y.
TREACLE_ALWAYS_INLINE f64x8 apply_row(const near_links* w, const row_double* x, int row,
                                      double* y) {
    f64x8 ax = row_apply_double(w, x, row & 7, row >> 3);
    f64x8_store(y + row * ROW, ax);
    return x->self * ax;
}

// y = A x in double, with x . y by tile: the operator as the outer loop sees it.
void ISA(pressure_loop_apply)(void* data, int64_t begin, int64_t end) {
    const pressure_job* job = data;
    const pressure_level* level = job->level;
    for (int64_t i = begin; i < end; ++i) {
        tile_ix t = job->tiles[i];
        near_links w = find_links(level, t);
        near_double v = find_near_double(job->from, level->map, t);
        f64x8 sum = f64x8_set(0.0);
        for (uint64_t rows = level->rows[t]; rows != 0; rows &= rows - 1) {
            int row = __builtin_ctzll(rows);
            row_double x = load_row_double(&v, row & 7, row >> 3);
            sum += apply_row(&w, &x, row, job->to + (size_t)t * TILE_CELLS);
        }
        level->space.partial[0][t] = f64x8_sum(sum);
    }
}

// The same of a float x, for directions of conjugate gradients, which are kept in float.
void ISA(pressure_loop_apply_rounded)(void* data, int64_t begin, int64_t end) {
    const pressure_job* job = data;
    const pressure_level* level = job->level;
    for (int64_t i = begin; i < end; ++i) {
        tile_ix t = job->tiles[i];
        near_links w = find_links(level, t);
        near_float v = find_near(job->x, level->map, t);
        f64x8 sum = f64x8_set(0.0);
        for (uint64_t rows = level->rows[t]; rows != 0; rows &= rows - 1) {
            int row = __builtin_ctzll(rows);
            row_float narrow = load_row(&v, row & 7, row >> 3);
            // Widened before anything is subtracted: as exact as if x had been double.
            row_double x = {.self = f64x8_from_f32x8(narrow.self)};
            for (int a = 0; a < AXES; ++a) {
                x.low[a] = f64x8_from_f32x8(narrow.low[a]);
                x.high[a] = f64x8_from_f32x8(narrow.high[a]);
            }
            sum += apply_row(&w, &x, row, job->to + (size_t)t * TILE_CELLS);
        }
        level->space.partial[0][t] = f64x8_sum(sum);
    }
}
