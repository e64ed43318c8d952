// Preconditioned conjugate gradients.
#pragma once

#include "solve/linop.h"
#include "solve/solve_stats.h"

/// The loop's own vectors; made once for a space and used by any number of solves on it.
typedef struct pcg_vectors {
    double* q;
    float *p, *r, *z;
} pcg_vectors;

treacle_status pcg_vectors_create(const vec_space* space, pcg_vectors* out) TREACLE_NODISCARD;
void pcg_vectors_destroy(const vec_space* space, pcg_vectors* vectors);

/// Solves A x = b. On entry r holds b, which must be zero at inactive unknowns and orthogonal to
/// the null space of A; on return it holds the residual b - A x.
solve_stats pcg_solve(const linop* op, const pcg_vectors* vectors, const solve_params* params,
                      double* r, double* x);
