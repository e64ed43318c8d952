// The loops behind vec_space.c, once for each instruction set.
#pragma once

#include "base/simd.h"
#include "solve/vec_space.h"

/// Operands of any of the loops; each says which it takes.
typedef struct vec_job {
    const vec_space* space;
    double a, scale;
    const double *x, *y;
    double *u, *v;
    const float *f, *g;
    float *h, *rounded;
    int count;
    const float* const* list;
    const double* coefficient;
    double* many;
} vec_job;

/// One run of values: an active tile, or the tail.
typedef struct vec_run {
    size_t offset;
    int count;
    tile_ix slot; // in partial
} vec_run;

/// Item i of a loop over the active tiles and, last, the tail.
static inline vec_run vec_run_at(const vec_space* space, int64_t i) {
    size_t block = (size_t)space->block;
    if (i < space->active_count) {
        tile_ix t = space->active[i];
        return (vec_run){(size_t)t * block, space->block, t};
    }
    return (vec_run){((size_t)space->tile_count + 1) * block, space->tail, space->tile_count};
}

/// The stretches of a run that count, one after the other.
typedef struct vec_spans {
    size_t offset; // of this stretch
    int count;
    const uint64_t* rows; // of the components to come; NULL: the run is one stretch
    uint64_t left;        // rows of this component
    size_t base;          // where the next component begins
    int to_come;          // components
} vec_spans;

static inline vec_spans vec_spans_of(const vec_space* space, vec_run run) {
    vec_spans out = {.base = run.offset, .count = run.count, .to_come = 1};
    if (space->rows != NULL && run.slot < space->tile_count) {
        out.to_come = space->block / TILE_CELLS;
        out.rows = space->rows + (size_t)run.slot * (size_t)out.to_come;
    }
    return out;
}

/// Goes to the next stretch; false after the last.
static inline bool vec_spans_next(vec_spans* s) {
    while (s->left == 0) {
        if (s->to_come == 0) {
            return false;
        }
        s->to_come -= 1;
        if (s->rows == NULL) {
            s->offset = s->base;
            return true;
        }
        s->left = *s->rows++;
        s->base += TILE_CELLS;
    }
    int first = __builtin_ctzll(s->left);
    uint64_t rest = ~(s->left >> first);
    int length = rest == 0 ? TILE_CELLS / TILE_SIZE : __builtin_ctzll(rest);
    s->offset = s->base - TILE_CELLS + (size_t)(first * TILE_SIZE);
    s->count = length * TILE_SIZE;
    s->left = first + length < 64 ? s->left & (UINT64_MAX << (first + length)) : 0;
    return true;
}

#define FOR_SPANS(s, space, run) for (vec_spans s = vec_spans_of(space, run); vec_spans_next(&(s));)

// u += a x
ISA_DECLARE(void, vec_loop_add_scaled, (void* data, int64_t begin, int64_t end));
// partial 0 = x . y
ISA_DECLARE(void, vec_loop_dot, (void* data, int64_t begin, int64_t end));
// u += sum of coefficient[i] list[i]
ISA_DECLARE(void, vec_loop_add_many_float, (void* data, int64_t begin, int64_t end));
// partial 0 = f . g
ISA_DECLARE(void, vec_loop_dot_float, (void* data, int64_t begin, int64_t end));
// partial 0 = x . x, partial 1 = max |x|
ISA_DECLARE(void, vec_loop_measure, (void* data, int64_t begin, int64_t end));
// h = scale x
// h = f g
ISA_DECLARE(void, vec_loop_weigh, (void* data, int64_t begin, int64_t end));
ISA_DECLARE(void, vec_loop_round, (void* data, int64_t begin, int64_t end));
// u += a f, v -= a y, h = scale v; partial 0 = v . v, partial 1 = max |v|
ISA_DECLARE(void, vec_loop_descend, (void* data, int64_t begin, int64_t end));
// partial 0 = f . x, partial 1 = f . y
ISA_DECLARE(void, vec_loop_dot_two, (void* data, int64_t begin, int64_t end));
// many[i] = list[i] . f for i < count
ISA_DECLARE(void, vec_loop_dot_many, (void* data, int64_t begin, int64_t end));
// h -= sum of coefficient[i] list[i]
ISA_DECLARE(void, vec_loop_subtract_many, (void* data, int64_t begin, int64_t end));
// h -= sum of coefficient[i] list[i], v -= a h, rounded = scale v; partial 0 = v . v, partial 1 =
// max |v|
ISA_DECLARE(void, vec_loop_retreat, (void* data, int64_t begin, int64_t end));
// h = a f + scale h, in float
ISA_DECLARE(void, vec_loop_combine_float, (void* data, int64_t begin, int64_t end));
// h = f + a h, in double, rounded
ISA_DECLARE(void, vec_loop_conjugate, (void* data, int64_t begin, int64_t end));
