// Rows of the viscosity operator in double, for the _simd.c files that loop over its tiles.
//
// A tile's three components are gathered with one layer around them, so that every neighbour of a
// row is a load at a fixed distance, and the stencil is written once for an axis triple (a, b, c).
#pragma once

#include <stdint.h>

#include "solve/viscosity_level.h"

enum {
    ROW = TILE_SIZE,
    LAYER = TILE_SIZE * TILE_SIZE,
    SIDE = TILE_SIZE + 2,
    PITCH = 16, // of a row in a block: 64 bytes in float, so that no load of a row splits a line
    LEAD = 1,   // of the first cell in its row
    BLOCK = SIDE * SIDE * PITCH,
};

typedef int64_t i64x8 __attribute__((vector_size(64)));

// Distance between neighbours along an axis in a gathered block.
#define BLOCK_STRIDE(a) ((a) == 0 ? 1 : (a) == 1 ? PITCH : PITCH * SIDE)

static inline int block_row(int j, int k) {
    return ((k + 1) * SIDE + j + 1) * PITCH + LEAD;
}

// Rows outside along both y and z are read only at (+y, -z) and (-y, +z).
static inline bool is_row_needed(int j, int k) {
    bool is_beside = j < 0 || j >= ROW, is_beyond = k < 0 || k >= ROW;
    return !(is_beside && is_beyond && (j < 0) == (k < 0));
}

// The rows around a tile, each -1 .. 8, that the stencils of its unknowns read: bit j + 1 of entry
// k + 1. The others of a gathered block stay undefined.
typedef struct rows_read {
    uint32_t at[SIDE];
} rows_read;

static inline rows_read find_rows_read(const uint64_t rows[AXES]) {
    uint64_t any = rows[0] | rows[1] | rows[2];
    rows_read out = {{0}};
    for (int k = 0; k < ROW; ++k) {
        uint32_t layer = (uint32_t)(any >> k * ROW & 0xff);
        uint32_t wide = layer | layer << 1 | layer << 2;
        out.at[k] |= wide;
        out.at[k + 1] |= wide;
        out.at[k + 2] |= wide;
    }
    return out;
}

// Offset of the row (j, k), each -1 .. 8, in its tile; the tile is at place 9 z + 3 y + 1 +
// (-1..1).
typedef struct row_place {
    int tile, offset;
} row_place;

static inline row_place place_row(int j, int k) {
    int y = (j + ROW) / ROW, z = (k + ROW) / ROW;
    return (row_place){9 * z + 3 * y + 1, (k + ROW) % ROW * LAYER + (j + ROW) % ROW * ROW};
}

TREACLE_ALWAYS_INLINE f64x8 widen(const float* from) {
    return f64x8_from_f32x8(f32x8_load(from));
}

// Tile t and its layer around, from `f` or, where that is NULL, from `d`.
TREACLE_ALWAYS_INLINE void gather_wide(const float* f, const double* d,
                                       const viscosity_level* level, tile_ix t, double* to) {
    const tile_ix* near = level->map->neighbour[t];
    rows_read read = find_rows_read(level->rows[t]);
    for (int k = -1; k <= ROW; ++k) {
        for (uint32_t bits = read.at[k + 1]; bits != 0; bits &= bits - 1) {
            int j = __builtin_ctz(bits) - 1;
            if (!is_row_needed(j, k)) {
                continue;
            }
            row_place at = place_row(j, k);
            size_t self = (size_t)near[at.tile] * VISCOSITY_BLOCK + (size_t)at.offset;
            size_t low = (size_t)near[at.tile - 1] * VISCOSITY_BLOCK + (size_t)at.offset + ROW - 1;
            size_t high = (size_t)near[at.tile + 1] * VISCOSITY_BLOCK + (size_t)at.offset;
            for (int a = 0; a < AXES; ++a) {
                double* row = to + a * BLOCK + block_row(j, k);
                size_t n = (size_t)(a * TILE_CELLS);
                f64x8_store(row, f != NULL ? widen(f + self + n) : f64x8_load(d + self + n));
                row[-1] = f != NULL ? (double)f[low + n] : d[low + n];
                row[ROW] = f != NULL ? (double)f[high + n] : d[high + n];
            }
        }
    }
}

TREACLE_ALWAYS_INLINE f64x8 row_stress_double(int a, const float* stress, const double* block,
                                              int j, int k) {
    const int sa = BLOCK_STRIDE(a), wa = VISCOSITY_STRIDE(a);
    const double* u = block + a * BLOCK + block_row(j, k);
    const float* cell = stress + viscosity_cell_at(0, j, k);
    f64x8 here = f64x8_load(u);
    f64x8 sum =
        widen(cell) * (here - f64x8_load(u + sa)) + widen(cell - wa) * (here - f64x8_load(u - sa));
    for (int n = 1; n < AXES; ++n) {
        const int b = (a + n) % AXES, c = 3 - a - b, sb = BLOCK_STRIDE(b), wb = VISCOSITY_STRIDE(b);
        const double* v = block + b * BLOCK + block_row(j, k);
        const float* edge = stress + viscosity_edge_at(c, 0, j, k);
        f64x8 low = (here - f64x8_load(u - sb)) + (f64x8_load(v) - f64x8_load(v - sa));
        f64x8 high = (f64x8_load(u + sb) - here) + (f64x8_load(v + sb) - f64x8_load(v + sb - sa));
        sum += widen(edge) * low - widen(edge + wb) * high;
    }
    return sum;
}

// The plain differences of the rows of component a.
TREACLE_ALWAYS_INLINE f64x8 row_sheet_double(int a, const float* sheet, const double* block, int j,
                                             int k) {
    const double* u = block + a * BLOCK + block_row(j, k);
    f64x8 here = f64x8_load(u), sum = f64x8_set(0.0);
    for (int n = 1; n < AXES; ++n) {
        const int b = (a + n) % AXES, c = 3 - a - b, sb = BLOCK_STRIDE(b);
        const float* weight = sheet + viscosity_sheet_at(c, n - 1, 0, j, k);
        sum += widen(weight) * (here - f64x8_load(u - sb)) +
               widen(weight + VISCOSITY_STRIDE(b)) * (here - f64x8_load(u + sb));
    }
    return sum;
}

// What one tile's loops read.
typedef struct tile_view {
    const float *stress, *sheet, *mass[AXES], *inverse; // sheet: NULL where there is none
    const uint64_t* rows;
} tile_view;

static inline tile_view view_tile(const viscosity_level* level, tile_ix t) {
    tile_view v = {.stress = level->stress + (size_t)t * VISCOSITY_STRESS_BLOCK,
                   .sheet = viscosity_level_sheet(level, t),
                   .inverse = level->inverse + (size_t)t * VISCOSITY_BLOCK,
                   .rows = level->rows[t]};
    for (int a = 0; a < AXES; ++a) {
        v.mass[a] = level->weights.mass[a] + (size_t)t * TILE_CELLS;
    }
    return v;
}

// (A u) in a row of component a, whether unknown or not.
TREACLE_ALWAYS_INLINE f64x8 row_apply_wide(int a, const tile_view* v, const double* block,
                                           int row) {
    int j = row & 7, k = row >> 3;
    f64x8 here = f64x8_load(block + a * BLOCK + block_row(j, k));
    f64x8 sum = widen(v->mass[a] + row * ROW) * here + row_stress_double(a, v->stress, block, j, k);
    return v->sheet == NULL ? sum : sum + row_sheet_double(a, v->sheet, block, j, k);
}

// The values of a row that are unknowns, 0 elsewhere; `at` is its place in the tile.
TREACLE_ALWAYS_INLINE f64x8 keep_unknowns(const tile_view* v, int at, f64x8 values) {
    i64x8 is_unknown = widen(v->inverse + at) > f64x8_set(0.0);
    return (f64x8)((i64x8)values & is_unknown);
}
