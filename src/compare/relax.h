// Pressure by relaxation: a comparator for the solve.
#pragma once

#include "phys/projection.h"

/// Over-relaxation; between 1 and 2 [S19 eq. 24].
#define RELAX_BETA 1.7

/// Sweeps over the system of the projection until the residual is below the target of its params,
/// or max_iterations are done.
void relax_pressure(const projection* p, double* rhs, double* cell_impulse, solve_stats* stats);
