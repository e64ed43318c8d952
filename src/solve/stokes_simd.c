#include <stdint.h>

#include "solve/stokes_kernels.h"

enum { ROW = TILE_SIZE, LAYER = TILE_SIZE * TILE_SIZE, AXIS_COUNT = 3 };

typedef int64_t i64x8 __attribute__((vector_size(64)));

static const int high_neighbour[AXIS_COUNT] = {TILE_NEIGHBOUR(1, 0, 0), TILE_NEIGHBOUR(0, 1, 0),
                                               TILE_NEIGHBOUR(0, 0, 1)};
static const int low_neighbour[AXIS_COUNT] = {TILE_NEIGHBOUR(-1, 0, 0), TILE_NEIGHBOUR(0, -1, 0),
                                              TILE_NEIGHBOUR(0, 0, -1)};

static f64x8 keep_where(f64x8 v, const float* mask) {
    i64x8 is_kept = f64x8_from_f32x8(f32x8_load(mask)) > f64x8_set(0.0);
    return (f64x8)((i64x8)v & is_kept);
}

// The flow opening * u through the low faces along axis a of the row at q of tile t.
static f64x8 flow(const stokes_job* job, int64_t t, int a, int q) {
    int64_t at = t * AXIS_COUNT * TILE_CELLS + a * TILE_CELLS + q;
    f64x8 u =
        job->u != NULL ? f64x8_load(job->u + at) : f64x8_from_f32x8(f32x8_load(job->u_float + at));
    return f64x8_from_f32x8(f32x8_load(job->opening[a] + t * TILE_CELLS + q)) * u;
}

static double flow_first(const stokes_job* job, int64_t t, int a, int q) {
    int64_t at = t * AXIS_COUNT * TILE_CELLS + a * TILE_CELLS + q;
    double u = job->u != NULL ? job->u[at] : (double)job->u_float[at];
    return (double)job->opening[a][t * TILE_CELLS + q] * u;
}

// The flow through the high faces: that through the low faces of the next cells.
static f64x8 flow_high(const stokes_job* job, int64_t t, int a, int q, f64x8 low) {
    int stride = a == 1 ? ROW : LAYER, at = q >> 3 * a & 7;
    tile_ix next = job->map->neighbour[t][high_neighbour[a]];
    bool is_inside = next < job->map->count;
    if (a == 0) {
        double last = is_inside ? flow_first(job, next, a, q) : 0.0;
        return __builtin_shufflevector(low, f64x8_set(last), 1, 2, 3, 4, 5, 6, 7, 8);
    }
    if (at < TILE_SIZE - 1) {
        return flow(job, t, a, q + stride);
    }
    return is_inside ? flow(job, next, a, q - (TILE_SIZE - 1) * stride) : f64x8_set(0.0);
}

void ISA(stokes_loop_divergence)(const stokes_job* job, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
        int64_t t = job->tiles[i];
        for (int q = 0; q < TILE_CELLS; q += ROW) {
            f64x8 sum = f64x8_set(0.0);
            for (int a = 0; a < AXIS_COUNT; ++a) {
                f64x8 low = flow(job, t, a, q);
                sum += flow_high(job, t, a, q, low) - low;
            }
            f64x8_store(job->to + t * TILE_CELLS + q,
                        keep_where(sum, job->is_cell + t * TILE_CELLS + q));
        }
    }
}

static f64x8 pressure_row(const stokes_job* job, int64_t at) {
    return job->p != NULL ? f64x8_load(job->p + at)
                          : f64x8_from_f32x8(f32x8_load(job->p_float + at));
}

static double pressure_one(const stokes_job* job, int64_t at) {
    return job->p != NULL ? job->p[at] : (double)job->p_float[at];
}

// The pressures of the cells below the row at q of tile t, whose own are `here`.
static f64x8 pressure_below(const stokes_job* job, int64_t t, int a, int q, f64x8 here) {
    int stride = a == 1 ? ROW : LAYER, at = q >> 3 * a & 7;
    tile_ix next = job->map->neighbour[t][low_neighbour[a]];
    bool is_inside = next < job->map->count;
    int64_t other = (int64_t)next * TILE_CELLS + q;
    if (a == 0) {
        double first = is_inside ? pressure_one(job, other + ROW - 1) : 0.0;
        return __builtin_shufflevector(here, f64x8_set(first), 8, 0, 1, 2, 3, 4, 5, 6);
    }
    if (at > 0) {
        return pressure_row(job, t * TILE_CELLS + q - stride);
    }
    return is_inside ? pressure_row(job, other + (TILE_SIZE - 1) * stride) : f64x8_set(0.0);
}

void ISA(stokes_loop_gradient)(const stokes_job* job, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
        int64_t t = job->tiles[i];
        for (int a = 0; a < AXIS_COUNT; ++a) {
            for (int q = 0; q < TILE_CELLS; q += ROW) {
                int64_t at = t * AXIS_COUNT * TILE_CELLS + a * TILE_CELLS + q;
                f64x8 opening = f64x8_from_f32x8(f32x8_load(job->opening[a] + t * TILE_CELLS + q));
                f64x8 here = pressure_row(job, t * TILE_CELLS + q);
                f64x8 push = opening * (pressure_below(job, t, a, q, here) - here);
                f64x8 sum = f64x8_load(job->to + at) + keep_where(push, job->is_face + at);
                f64x8_store(job->to + at, sum);
            }
        }
    }
}
