// Solves sum over faces w_f (x_i - x_j) + extra_i x_i = b_i on tiles: conjugate gradients with
// multigrid by aggregation.
//
// The links w_f belong to faces, 0 where there is none; a cell is an unknown if its diagonal, the
// extra and the links of its six faces, is positive. Regions that no extra holds are closed: there
// the right-hand side loses its mean and the solution has none.
#pragma once

#include "grid/tile_map.h"
#include "solve/linop.h"
#include "solve/pressure_level.h"
#include "solve/solve_body.h"
#include "solve/solve_stats.h"

typedef struct pressure_system {
    const grid_domain* domain;
    const tile_map* map;
    const float* link[AXES];  // [tile][512] at low faces, >= 0: between a cell and the one below it
    const float* extra;       // [tile][512] at cells, >= 0
    int32_t body_count;       // terms of rank six on top (solve/body_term.h); not needed afterwards
    const solve_body* bodies; // [body_count]
    const solve_policy* policy; // NULL: the default; must outlive the solver
} pressure_system;

typedef struct pressure_solver pressure_solver;

/// The system's fields and map are not copied and must outlive the solver.
treacle_status pressure_solver_create(treacle_context* ctx, const pressure_system* system,
                                      pressure_solver** out) TREACLE_NODISCARD;
/// Accepts NULL.
void pressure_solver_destroy(pressure_solver* solver);

/// Follows a change of the system's extras, links as they were: cells were tied to a fixed value or
/// let go. Cheaper than a new solver; ERR_MEMORY leaves it unusable.
treacle_status pressure_solver_refresh(pressure_solver* solver) TREACLE_NODISCARD;

/// The operator with its preconditioner, for tests and for loops of one's own.
linop pressure_solver_linop(const pressure_solver* solver);
/// The finest level, for loops of one's own.
const pressure_level* pressure_solver_finest(const pressure_solver* solver);
/// Takes the mean over each closed region out of v.
treacle_status pressure_solver_project(const pressure_solver* solver, double* v) TREACLE_NODISCARD;
/// The closed region of a cell, given by its index in a field; REGION_NONE (-1) in open ones.
int pressure_solver_region_of(const pressure_solver* solver, int64_t cell);
/// How the system is solved.
const solve_regime* pressure_solver_regime(const pressure_solver* solver);
/// Its levels are valid, and each has no more unknowns than the one above it.
bool pressure_solver_is_valid(const pressure_solver* solver);
/// Regions without a free surface.
int pressure_solver_closed_count(const pressure_solver* solver);

/// Vectors are [tile][512] plus one zero tile (solve/vec_space.h). On return `rhs` holds the
/// residual and x the solution; both are zero where there is no unknown. A solve that did not reach
/// its target is no error: see stats.
treacle_status pressure_solve(pressure_solver* solver, double* rhs, double* x,
                              const solve_params* params, solve_stats* stats) TREACLE_NODISCARD;
