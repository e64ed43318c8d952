// Rows of the coupled operator.
#include "solve/stokes_kernels.h"
#include "solve/viscosity_rows.h"

// B u is the flow out of a cell, B^T p the push of the pressure at a face; both read the openings
// of faces, as seen from the cell above (opening) and from the one below (below). Seen from both
// they agree but where liquid has let go of a solid. Rows are eight cells or faces along x; images
// are summed in double and rounded when they are stored, as GCR compares images whose leading
// digits cancel.
static const int high_neighbour[AXES] = {TILE_NEIGHBOUR(1, 0, 0), TILE_NEIGHBOUR(0, 1, 0),
                                         TILE_NEIGHBOUR(0, 0, 1)};
static const int low_neighbour[AXES] = {TILE_NEIGHBOUR(-1, 0, 0), TILE_NEIGHBOUR(0, -1, 0),
                                        TILE_NEIGHBOUR(0, 0, -1)};

// A vector in float or, where that is NULL, in double; the loops say which as a constant.
typedef struct either {
    const float* f;
    const double* d;
} either;

TREACLE_ALWAYS_INLINE f64x8 load_row(either v, int64_t at) {
    // Sums are in double for either: rounding comes at the end, once.
    return v.f != NULL ? widen(v.f + at) : f64x8_load(v.d + at);
}

TREACLE_ALWAYS_INLINE double load_one(either v, int64_t at) {
    return v.f != NULL ? (double)v.f[at] : v.d[at];
}

// ---- Divergence -----------------------------------------------------------------------------

// The flow opening * u through the low faces along axis a of the row at q of tile t, as the cells
// above them see it, or those below.
TREACLE_ALWAYS_INLINE f64x8 flow(const float* const opening[AXES], either u, int64_t t, int a,
                                 int q) {
    f64x8 speed = load_row(u, t * VISCOSITY_BLOCK + a * TILE_CELLS + q);
    return widen(opening[a] + t * TILE_CELLS + q) * speed;
}

// The flow out of the row along axis a: through the low faces of the next cells less its own.
TREACLE_ALWAYS_INLINE f64x8 outflow(const stokes_job* job, either u, int64_t t, int a, int q) {
    const tile_map* map = job->cells->map;
    int stride = a == 1 ? ROW : LAYER, at = q >> 3 * a & 7;
    tile_ix next = map->neighbour[t][high_neighbour[a]];
    bool is_inside = next < map->count;
    // A cell sees its low faces from above and its high ones, the next cells' low faces, from
    // below.
    f64x8 low = flow(job->opening, u, t, a, q);
    if (a == 0) {
        // Along x the next faces are the row shifted by one, and the last of them another tile's.
        double last = is_inside ? (double)job->below[0][(int64_t)next * TILE_CELLS + q] *
                                      load_one(u, (int64_t)next * VISCOSITY_BLOCK + q)
                                : 0.0;
        return SIMD_SLIDE(flow(job->below, u, t, a, q), f64x8_set(last), 1) - low;
    }
    if (at < TILE_SIZE - 1) {
        return flow(job->below, u, t, a, q + stride) - low;
    }
    // Beyond the map nothing flows.
    return is_inside ? flow(job->below, u, next, a, q - (TILE_SIZE - 1) * stride) - low : -low;
}

TREACLE_ALWAYS_INLINE f64x8 row_divergence(const stokes_job* job, either u, int64_t t, int q) {
    f64x8 sum = f64x8_set(0.0);
    for (int a = 0; a < AXES; ++a) {
        sum += outflow(job, u, t, a, q);
    }
    // Cells without a pressure have no row: a mask of bits keeps even a NaN out of it.
    i64x8 is_cell = widen(job->cells->inverse + t * TILE_CELLS + q) > f64x8_set(0.0);
    return (f64x8)((i64x8)sum & is_cell);
}

// In double, for right-hand sides and for the residual that a cycle of GCR ends with.
void ISA(stokes_loop_divergence)(void* data, int64_t begin, int64_t end) {
    const stokes_job* job = data;
    for (int64_t i = begin; i < end; ++i) {
        int64_t t = job->tiles[i];
        for (int q = 0; q < TILE_CELLS; q += ROW) {
            int64_t at = t * TILE_CELLS + q;
            f64x8 sum = row_divergence(job, (either){.d = job->u}, t, q);
            // B u, or the residual h - B u.
            f64x8_store(job->to + at, job->b != NULL ? f64x8_load(job->b + at) - sum : sum);
        }
    }
}

void ISA(stokes_loop_defect)(void* data, int64_t begin, int64_t end) {
    const stokes_job* job = data;
    for (int64_t i = begin; i < end; ++i) {
        int64_t t = job->tiles[i];
        uint64_t rows = job->cell_rows != NULL ? job->cell_rows[t] : UINT64_MAX;
        // The lowest bit is the next row that has a cell with a pressure.
        for (; rows != 0; rows &= rows - 1) {
            int q = __builtin_ctzll(rows) * ROW;
            int64_t at = t * TILE_CELLS + q;
            f64x8 sum = row_divergence(job, (either){.f = job->u_float}, t, q);
            // B z_u is part of the image, and less r_p it is what the Schur part has to mend.
            f32x8_store(job->out + at, f32x8_from_f64x8(sum));
            f32x8_store(job->defect + at, f32x8_from_f64x8(sum - widen(job->r + at)));
        }
    }
}

// ---- Forces ---------------------------------------------------------------------------------

// The pressure in the cells below a row.
TREACLE_ALWAYS_INLINE f64x8 pressure_below(const tile_map* map, either p, int64_t t, int a, int q) {
    int stride = a == 1 ? ROW : LAYER, at = q >> 3 * a & 7;
    tile_ix next = map->neighbour[t][low_neighbour[a]];
    bool is_inside = next < map->count;
    int64_t other = (int64_t)next * TILE_CELLS + q;
    if (a == 0) {
        // Along x the cells below are the row shifted the other way.
        double first = is_inside ? load_one(p, other + ROW - 1) : 0.0;
        return SIMD_SLIDE(f64x8_set(first), load_row(p, t * TILE_CELLS + q), 7);
    }
    if (at > 0) {
        return load_row(p, t * TILE_CELLS + q - stride);
    }
    return is_inside ? load_row(p, other + (TILE_SIZE - 1) * stride) : f64x8_set(0.0);
}

// B^T p in a row of component a. Where both cells see the same opening it is that times the drop.
TREACLE_ALWAYS_INLINE f64x8 row_push(const stokes_job* job, either p, int64_t t, int a, int q) {
    int64_t at = t * TILE_CELLS + q;
    f64x8 above = widen(job->opening[a] + at), below = widen(job->below[a] + at);
    f64x8 here = load_row(p, at), there = pressure_below(job->faces->map, p, t, a, q);
    // A difference first: a constant pressure pushes exactly nobody, whatever it is.
    return above * (there - here) + (below - above) * there;
}

// One component of A u + B^T p in a tile.
TREACLE_ALWAYS_INLINE void force_rows(const stokes_job* job, int a, int64_t t, const tile_view* v,
                                      const double* block) {
    for (uint64_t rows = v->rows[a]; rows != 0; rows &= rows - 1) {
        int row = __builtin_ctzll(rows), at = a * TILE_CELLS + row * ROW;
        int64_t n = t * VISCOSITY_BLOCK + at;
        f64x8 push = row_push(job, (either){.d = job->p}, t, a, row * ROW);
        // A u + B^T p, or the residual of it.
        f64x8 sum = keep_unknowns(v, at, row_apply_wide(a, v, block, row) + push);
        f64x8_store(job->to + n, job->b != NULL ? f64x8_load(job->b + n) - sum : sum);
    }
}

void ISA(stokes_loop_forces)(void* data, int64_t begin, int64_t end) {
    const stokes_job* job = data;
    TREACLE_ALIGNED(64) double block[AXES * BLOCK];
    for (int64_t i = begin; i < end; ++i) {
        tile_ix t = job->tiles[i];
        tile_view v = view_tile(job->faces, t);
        // A tile and a layer of its neighbours in one block: rows then read without asking where
        // they are.
        gather_wide(NULL, job->u, job->faces, t, block);
        force_rows(job, 0, t, &v, block);
        force_rows(job, 1, t, &v, block);
        force_rows(job, 2, t, &v, block);
    }
}

TREACLE_ALWAYS_INLINE void image_rows(const stokes_job* job, int a, int64_t t, const tile_view* v,
                                      const double* block) {
    // Where sums pass over all rows those without unknowns must hold zeros.
    uint64_t other = job->faces->space.rows == NULL ? ~v->rows[a] : 0; // zero for good
    for (uint64_t rest = other; rest != 0; rest &= rest - 1) {
        int at = a * TILE_CELLS + __builtin_ctzll(rest) * ROW;
        f32x8_store(job->out + t * VISCOSITY_BLOCK + at, f32x8_set(0.0f));
    }
    for (uint64_t rows = v->rows[a]; rows != 0; rows &= rows - 1) {
        int row = __builtin_ctzll(rows), at = a * TILE_CELLS + row * ROW;
        f64x8 push = row_push(job, (either){.f = job->p_float}, t, a, row * ROW);
        f64x8 sum = keep_unknowns(v, at, row_apply_wide(a, v, block, row) + push);
        f32x8_store(job->out + t * VISCOSITY_BLOCK + at, f32x8_from_f64x8(sum));
    }
}

void ISA(stokes_loop_image)(void* data, int64_t begin, int64_t end) {
    const stokes_job* job = data;
    TREACLE_ALIGNED(64) double block[AXES * BLOCK];
    for (int64_t i = begin; i < end; ++i) {
        tile_ix t = job->tiles[i];
        tile_view v = view_tile(job->faces, t);
        gather_wide(job->u_float, NULL, job->faces, t, block);
        image_rows(job, 0, t, &v, block);
        image_rows(job, 1, t, &v, block);
        image_rows(job, 2, t, &v, block);
    }
}

TREACLE_ALWAYS_INLINE void wide_rows(const stokes_job* job, int a, int64_t t, const tile_view* v,
                                     const double* block) {
    for (uint64_t rows = v->rows[a]; rows != 0; rows &= rows - 1) {
        int row = __builtin_ctzll(rows), at = a * TILE_CELLS + row * ROW;
        f64x8 push = row_push(job, (either){.f = job->p_float}, t, a, row * ROW);
        f64x8 sum = keep_unknowns(v, at, row_apply_wide(a, v, block, row) + push);
        f64x8_store(job->to + t * VISCOSITY_BLOCK + at, sum);
    }
}

void ISA(stokes_loop_image_wide)(void* data, int64_t begin, int64_t end) {
    const stokes_job* job = data;
    TREACLE_ALIGNED(64) double block[AXES * BLOCK];
    for (int64_t i = begin; i < end; ++i) {
        tile_ix t = job->tiles[i];
        tile_view v = view_tile(job->faces, t);
        gather_wide(job->u_float, NULL, job->faces, t, block);
        wide_rows(job, 0, t, &v, block);
        wide_rows(job, 1, t, &v, block);
        wide_rows(job, 2, t, &v, block);
    }
}
