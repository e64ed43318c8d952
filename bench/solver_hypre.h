// A yardstick: conjugate gradients with the algebraic multigrid of hypre, BoomerAMG, where that is
// installed.
#pragma once

#include "solver_csr.h"

/// Whether the benches were built with hypre.
bool hypre_is_there(void);

/// b is a tile vector of `components` fields a tile, which hypre treats as so many functions. Times
/// include its set-up; the matrix is handed over beforehand. False if it is not there or fails.
bool hypre_solve(const csr_matrix* m, const double* b, int components, csr_result* out);
