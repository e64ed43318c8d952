// Solves one implicit step of diffusion of a scalar at cells,
//
//     mass_i x_i + sum over faces k_f (x_i - x_j) + exchange_i (x_i - outside_i) = b_i,
//
// by the multigrid of solve/pressure_solver.h. For heat mass is the heat capacity of a cell over
// the time step and k_f the conductance of a face, conductivity times area over distance.
//
// Two kinds of boundary. Exchange takes a cell to a value outside: a film coefficient times area
// (Robin), or conductivity times area over the distance to a wall of given value (Dirichlet at the
// wall). A fixed cell has its value given (Dirichlet at the cell) and is no unknown. Faces without
// conductance let nothing through.
#pragma once

#include "grid/tile_map.h"
#include "solve/linop.h"
#include "solve/solve_stats.h"

typedef struct diffusion_system {
    const grid_domain* domain;
    const tile_map* map;
    const float* conductance[AXES]; // [tile][512] at low faces, >= 0
    const float* mass;              // [tile][512] at cells, >= 0
    const float* exchange;          // [tile][512] at cells, >= 0; NULL: none
    const uint8_t* fixed;           // [tile][512], not 0: the cell's value is given; NULL: none
} diffusion_system;

typedef struct diffusion_solver diffusion_solver;

/// The map, mass, exchange and conductances are not copied and must outlive the solver.
treacle_status diffusion_solver_create(treacle_context* ctx, const diffusion_system* system,
                                       diffusion_solver** out) TREACLE_NODISCARD;
/// Accepts NULL.
void diffusion_solver_destroy(diffusion_solver* solver);

/// The operator on the unknowns with its preconditioner, for tests and for loops of one's own.
linop diffusion_solver_linop(const diffusion_solver* solver);

/// All are [tile][512] with a zero tile at the end (solve/vec_space.h).
typedef struct diffusion_vectors {
    double* b;            // on return the residual
    const float* outside; // the value that exchange leads to; NULL: 0
    double* x;            // a first guess, and the values of fixed cells; on return the solution
} diffusion_vectors;

/// Solves for the change from the guess, so that what is conserved is so to the rounding of the
/// change. The guess is always used: the value before the step is a good one. The relative target
/// counts from its residual, whatever params say of warm starts. Cells that are neither unknown nor
/// fixed keep x.
///
/// With b = mass * old value and the same x, a constant stays exactly constant.
treacle_status diffusion_solve(diffusion_solver* solver, const diffusion_vectors* vectors,
                               const solve_params* params, solve_stats* stats) TREACLE_NODISCARD;
