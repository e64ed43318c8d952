// Rows of the benches of solvers.
#pragma once

#include "bench.h"
#include "solver_runs.h"

/// A row of a bench.
typedef struct solver_row {
    solver_scene scene;
    double r; // 0: pressure
    bool has_contrast;
    bool is_full; // too slow for a run that is not asked for everything
} solver_row;

/// "viscosity S1 128^3 r=100".
void solver_row_name(const solver_row* row, const char* what, size_t capacity, char* out);
