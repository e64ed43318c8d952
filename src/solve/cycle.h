// The multigrid cycle, once for all hierarchies: it knows levels by what can be done on them.
//
//     level l:  x = S b             sweeps, from zero
//               b' = R (b - A x)    descend
//               x' ~ A'^-1 b'       this again, one level down; or a K-cycle
//               x += P x'           ascend
//               x = S^T ...         the same sweeps in reverse order
//
// Forward and reverse sweeps are transposes of one another and R = P^T, so without K-cycles the
// whole is symmetric, as conjugate gradients ask for. A K-cycle [NV08] makes two steps of conjugate
// gradients on a level, each preconditioned by a cycle: they find the length of a correction that
// constant interpolation leaves too short. Its result depends on its argument a little, so the loop
// around it must be a flexible one.
#pragma once

#include "solve/vec_space.h"

/// A level's right-hand side and solution, and those of the bodies on it where there are some.
typedef struct cycle_vectors {
    const float* b;
    float* x;
    const float* b_tail; // [bodies][6]
    float* x_tail;
} cycle_vectors;

/// What a hierarchy can do. `data` is handed to all; levels count from 0, the finest.
typedef struct level_ops {
    const void* data;
    int level_count;
    int bottom_sweeps; // on the coarsest level, forward and as many back; one elsewhere
    /// One sweep over A x = b. is_first: x counts as zero, whatever it holds.
    void (*sweep)(const void* data, int l, const cycle_vectors* v, bool is_reverse, bool is_first);
    /// The right-hand side of level l + 1 from the residual of level l.
    void (*descend)(const void* data, int l, const cycle_vectors* v);
    /// x of level l += the interpolation of the coarse one.
    void (*ascend)(const void* data, int l, const cycle_vectors* coarse, const cycle_vectors* v);
    /// The vectors that level l >= 1 keeps for itself.
    cycle_vectors (*vectors)(const void* data, int l);
    /// Two more vectors of level l if it has a K-cycle; false if not. NULL: no level has.
    bool (*directions)(const void* data, int l, float* out[2]);
    /// For levels with a K-cycle: y = A x unless y is NULL; returns x . A x.
    double (*apply)(const void* data, int l, const float* x, float* y);
    const vec_space* (*space)(const void* data, int l);
} level_ops;

/// v->x = one cycle for v->b on level l.
void cycle_run(const level_ops* ops, int l, const cycle_vectors* v);
