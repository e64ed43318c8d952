// Stencil loops of the viscosity operator: a row of eight faces at a time.
//
// A tile's three components are gathered with one layer around them, so that every neighbour of a
// row is a load at a fixed distance, and the stencil is written once for an axis triple (a, b, c).
#include <stdint.h>

#include "solve/viscosity_kernels.h"
#include "solve/viscosity_rows.h"

static void viscosity_gather(const float* x, const viscosity_level* level, tile_ix t, float* to) {
    const tile_ix* near = level->map->neighbour[t];
    // Only rows that a row with unknowns reads: at the surface a tile is mostly air.
    rows_read read = find_rows_read(level->rows[t]);
    for (int k = -1; k <= ROW; ++k) {
        for (uint32_t bits = read.at[k + 1]; bits != 0; bits &= bits - 1) {
            int j = __builtin_ctz(bits) - 1;
            if (!is_row_needed(j, k)) {
                continue;
            }
            // Rows beside the tile lie in its neighbours, and each row's two ends in the next tiles
            // along x.
            row_place at = place_row(j, k);
            const float* self = x + (size_t)near[at.tile] * VISCOSITY_BLOCK + at.offset;
            const float* low = x + (size_t)near[at.tile - 1] * VISCOSITY_BLOCK + at.offset;
            const float* high = x + (size_t)near[at.tile + 1] * VISCOSITY_BLOCK + at.offset;
            for (int a = 0; a < AXES; ++a) {
                float* row = to + a * BLOCK + block_row(j, k);
                f32x8_store(row, f32x8_load(self + a * TILE_CELLS));
                row[-1] = low[a * TILE_CELLS + ROW - 1];
                row[ROW] = high[a * TILE_CELLS];
            }
        }
    }
}

// The stress part of the rows of component a: the transpose of the strains that it enters.
TREACLE_ALWAYS_INLINE f32x8 row_stress(int a, const float* stress, const float* block, int j,
                                       int k) {
    const int sa = BLOCK_STRIDE(a), wa = VISCOSITY_STRIDE(a);
    const float* u = block + a * BLOCK + block_row(j, k);
    const float* cell = stress + viscosity_cell_at(0, j, k);
    f32x8 here = f32x8_load(u);
    // Stretches of the cells above and below the face, 2 w_c (D u)^2 / 2 each: packed weights have
    // the 2.
    f32x8 sum = f32x8_load(cell) * (here - f32x8_load(u + sa)) +
                f32x8_load(cell - wa) * (here - f32x8_load(u - sa));
    for (int n = 1; n < AXES; ++n) {
        const int b = (a + n) % AXES, c = 3 - a - b, sb = BLOCK_STRIDE(b), wb = VISCOSITY_STRIDE(b);
        const float* v = block + b * BLOCK + block_row(j, k);
        const float* edge = stress + viscosity_edge_at(c, 0, j, k);
        // The strain at the edge on the low side along b, D_b u_a + D_a u_b, and the one at the
        // high side. All are differences: a rigid motion leaves exactly nothing of any of them but
        // rounding.
        f32x8 low = (here - f32x8_load(u - sb)) + (f32x8_load(v) - f32x8_load(v - sa));
        f32x8 high = (f32x8_load(u + sb) - here) + (f32x8_load(v + sb) - f32x8_load(v + sb - sa));
        sum += f32x8_load(edge) * low - f32x8_load(edge + wb) * high;
    }
    return sum;
}

// The plain differences of the rows of component a.
TREACLE_ALWAYS_INLINE f32x8 row_sheet(int a, const float* sheet, const float* block, int j, int k) {
    const float* u = block + a * BLOCK + block_row(j, k);
    f32x8 here = f32x8_load(u), sum = f32x8_set(0.0f);
    for (int n = 1; n < AXES; ++n) {
        const int b = (a + n) % AXES, c = 3 - a - b, sb = BLOCK_STRIDE(b);
        const float* weight = sheet + viscosity_sheet_at(c, n - 1, 0, j, k);
        sum += f32x8_load(weight) * (here - f32x8_load(u - sb)) +
               f32x8_load(weight + VISCOSITY_STRIDE(b)) * (here - f32x8_load(u + sb));
    }
    return sum;
}

// (A u) in a row of component a.
TREACLE_ALWAYS_INLINE f32x8 row_apply(int a, const tile_view* v, const float* block, int row) {
    int j = row & 7, k = row >> 3;
    f32x8 here = f32x8_load(block + a * BLOCK + block_row(j, k));
    f32x8 sum = f32x8_load(v->mass[a] + row * ROW) * here + row_stress(a, v->stress, block, j, k);
    return v->sheet == NULL ? sum : sum + row_sheet(a, v->sheet, block, j, k);
}

// The update is that of Gauss and Seidel, u += (b - A u) / diagonal: at faces that are no unknowns
// the inverse diagonal is zero, and they stay as they are.
// Half a sweep of component a: its red faces (i + j + k even) or its black ones.
TREACLE_ALWAYS_INLINE void relax(int a, const tile_view* v, const float* b, float* block,
                                 int colour) {
    const i32x8 even = {-1, 0, -1, 0, -1, 0, -1, 0};
    // Faces of a component couple to neighbours of the other colour, and to the other components,
    // which stand still meanwhile: so all of one colour may be done at once.
    for (uint64_t rows = v->rows[a]; rows != 0; rows &= rows - 1) {
        int row = __builtin_ctzll(rows), j = row & 7, k = row >> 3, q = row * ROW;
        float* u = block + a * BLOCK + block_row(j, k);
        f32x8 here = f32x8_load(u);
        f32x8 au = row_apply(a, v, block, row);
        f32x8 change =
            (f32x8_load(b + a * TILE_CELLS + q) - au) * f32x8_load(v->inverse + a * TILE_CELLS + q);
        // The whole row is worked out and half of it kept: cheaper than to gather every second
        // face.
        i32x8 is_due = ((colour + j + k) & 1) == 0 ? even : ~even;
        f32x8_store(u, here + (f32x8)((i32x8)change & is_due));
    }
}

// Component after component, red and black: the reverse is the same list from its end.
static void sweep_tile(const tile_view* v, const float* b, float* block, bool is_reverse) {
    if (is_reverse) {
        relax(2, v, b, block, 1);
        relax(2, v, b, block, 0);
        relax(1, v, b, block, 1);
        relax(1, v, b, block, 0);
        relax(0, v, b, block, 1);
        relax(0, v, b, block, 0);
    } else {
        relax(0, v, b, block, 0);
        relax(0, v, b, block, 1);
        relax(1, v, b, block, 0);
        relax(1, v, b, block, 1);
        relax(2, v, b, block, 0);
        relax(2, v, b, block, 1);
    }
}

// From the padded block back to the tile: rows with unknowns alone, as the others have not changed.
static void viscosity_scatter(const float* block, const tile_view* v, float* to) {
    for (int a = 0; a < AXES; ++a) {
        for (uint64_t rows = v->rows[a]; rows != 0; rows &= rows - 1) {
            int row = __builtin_ctzll(rows);
            f32x8 u = f32x8_load(block + a * BLOCK + block_row(row & 7, row >> 3));
            f32x8_store(to + a * TILE_CELLS + row * ROW, u);
        }
    }
}

// A face of one tile is coupled to faces of all 26 neighbours by shears. They are gathered once
// into a block with a margin; tiles of one colour touch nowhere, so nobody changes the margin
// meanwhile.
void ISA(viscosity_loop_smooth)(void* data, int64_t begin, int64_t end) {
    const viscosity_job* job = data;
    const viscosity_level* level = job->level;
    TREACLE_ALIGNED(64) float block[AXES * BLOCK];
    for (int64_t i = begin; i < end; ++i) {
        tile_ix t = job->tiles[i];
        tile_view v = view_tile(level, t);
        const float* b = job->b + (size_t)t * VISCOSITY_BLOCK;
        // Repeats work on the gathered block: neighbours stand still, and memory is read once.
        viscosity_gather(job->x, level, t, block);
        for (int n = 0; n < level->repeats[t]; ++n) {
            sweep_tile(&v, b, block, job->is_reverse);
        }
        viscosity_scatter(block, &v, job->x + (size_t)t * VISCOSITY_BLOCK);
    }
}

// y = b - A x of one component, at unknowns.
TREACLE_ALWAYS_INLINE void residual_rows(int a, const tile_view* v, const float* b,
                                         const float* block, float* y) {
    for (uint64_t rows = v->rows[a]; rows != 0; rows &= rows - 1) {
        int row = __builtin_ctzll(rows), at = a * TILE_CELLS + row * ROW;
        f32x8 au = row_apply(a, v, block, row);
        // Faces in the row that are no unknowns have no residual, whatever b holds there.
        i32x8 is_unknown = f32x8_load(v->inverse + at) > f32x8_set(0.0f);
        f32x8_store(y + at, (f32x8)((i32x8)(f32x8_load(b + at) - au) & is_unknown));
    }
}

void ISA(viscosity_loop_residual)(void* data, int64_t begin, int64_t end) {
    const viscosity_job* job = data;
    const viscosity_level* level = job->level;
    TREACLE_ALIGNED(64) float block[AXES * BLOCK];
    for (int64_t i = begin; i < end; ++i) {
        tile_ix t = job->tiles[i];
        tile_view v = view_tile(level, t);
        const float* b = job->b + (size_t)t * VISCOSITY_BLOCK;
        float* y = job->y + (size_t)t * VISCOSITY_BLOCK;
        viscosity_gather(job->x, level, t, block);
        residual_rows(0, &v, b, block, y);
        residual_rows(1, &v, b, block, y);
        residual_rows(2, &v, b, block, y);
    }
}

// y = A x of one component in double; returns its part of x . y by lanes.
TREACLE_ALWAYS_INLINE f64x8 apply_rows(int a, const tile_view* v, const double* block, double* y) {
    f64x8 sum = f64x8_set(0.0);
    for (uint64_t rows = v->rows[a]; rows != 0; rows &= rows - 1) {
        int row = __builtin_ctzll(rows), at = a * TILE_CELLS + row * ROW;
        f64x8 au = keep_unknowns(v, at, row_apply_wide(a, v, block, row));
        f64x8_store(y + at, au);
        sum += f64x8_load(block + a * BLOCK + block_row(row & 7, row >> 3)) * au;
    }
    return sum;
}

TREACLE_ALWAYS_INLINE void apply_tile(const viscosity_level* level, tile_ix t, const double* block,
                                      double* to) {
    tile_view v = view_tile(level, t);
    double* y = to + (size_t)t * VISCOSITY_BLOCK;
    f64x8 sum = apply_rows(0, &v, block, y);
    sum += apply_rows(1, &v, block, y);
    sum += apply_rows(2, &v, block, y);
    // x . A x of the tile, for nothing but a product a row.
    level->space.partial[0][t] = f64x8_sum(sum);
}

void ISA(viscosity_loop_apply)(void* data, int64_t begin, int64_t end) {
    const viscosity_job* job = data;
    TREACLE_ALIGNED(64) double block[AXES * BLOCK];
    for (int64_t i = begin; i < end; ++i) {
        tile_ix t = job->tiles[i];
        gather_wide(NULL, job->from, job->level, t, block);
        apply_tile(job->level, t, block, job->to);
    }
}

// As the one above, from floats that are widened when they are gathered.
void ISA(viscosity_loop_apply_rounded)(void* data, int64_t begin, int64_t end) {
    const viscosity_job* job = data;
    TREACLE_ALIGNED(64) double block[AXES * BLOCK];
    for (int64_t i = begin; i < end; ++i) {
        tile_ix t = job->tiles[i];
        gather_wide(job->x, NULL, job->level, t, block);
        apply_tile(job->level, t, block, job->to);
    }
}

void ISA(viscosity_defect)(const viscosity_level* level, tile_ix t, const float* r, const float* z,
                           double* defect) {
    TREACLE_ALIGNED(64) double wide[AXES * BLOCK];
    tile_view v = view_tile(level, t);
    // In double, from float vectors: a rigid motion has stresses that cancel to all digits of a
    // float.
    gather_wide(z, NULL, level, t, wide);
    memset(defect, 0, VISCOSITY_BLOCK * sizeof(double));
    apply_rows(0, &v, wide, defect);
    apply_rows(1, &v, wide, defect);
    apply_rows(2, &v, wide, defect);
    const float* rhs = r + (size_t)t * VISCOSITY_BLOCK;
    for (int a = 0; a < AXES; ++a) {
        for (uint64_t rows = v.rows[a]; rows != 0; rows &= rows - 1) {
            int n = a * TILE_CELLS + __builtin_ctzll(rows) * ROW;
            f64x8_store(defect + n, widen(rhs + n) - f64x8_load(defect + n));
        }
    }
}
