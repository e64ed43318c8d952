// Solves M u + D^T W D u = b for the velocity at faces: conjugate gradients with multigrid on the
// factored operator (solve/viscosity_level.h).
#pragma once

#include "solve/drag_term.h"
#include "solve/linop.h"
#include "solve/solve_stats.h"
#include "solve/viscosity_level.h"

typedef struct viscosity_system {
    const grid_domain* domain;
    const tile_map* map;
    viscosity_weights weights;
    int32_t body_count;         // that weights.owner names
    const solve_body* bodies;   // [body_count]
    const solve_policy* policy; // NULL: the default; must outlive the solver
} viscosity_system;

typedef struct viscosity_solver viscosity_solver;

/// The map, mass, owner and bodies are not copied and must outlive the solver. With bodies, faces
/// move as they do (solve/drag_term.h), and vectors have a tail, from the end of the zero tile on:
/// six unknowns a body, and room up to a multiple of eight. Vectors are zero at faces of bodies.
treacle_status viscosity_solver_create(treacle_context* ctx, const viscosity_system* system,
                                       viscosity_solver** out) TREACLE_NODISCARD;
/// Accepts NULL.
void viscosity_solver_destroy(viscosity_solver* solver);

/// The operator with its preconditioner, for tests and for loops of one's own.
linop viscosity_solver_linop(const viscosity_solver* solver);

/// The finest level, for loops of one's own.
const viscosity_level* viscosity_solver_finest(const viscosity_solver* solver);
/// Bodies on the finest and on the coarsest level; NULL without.
const drag_term* viscosity_solver_drag(const viscosity_solver* solver, bool is_coarsest);
/// Switches to the rigid motions of the aggregates of all tiles, for threads and sheets. A solve
/// does so by itself when it is slow.
treacle_status viscosity_solver_add_aggregates(viscosity_solver* solver) TREACLE_NODISCARD;
/// x += the rigid motions of free lumps that the residual r asks for: then it has no momentum.
treacle_status viscosity_solver_move_lumps(viscosity_solver* solver, const double* r, double* x,
                                           bool* has_moved) TREACLE_NODISCARD;
/// What the system is, and how it is solved.
const solve_facts* viscosity_solver_facts(const viscosity_solver* solver);
const solve_regime* viscosity_solver_regime(const viscosity_solver* solver);
/// Its levels are valid, and bodies are on all of them or on none.
bool viscosity_solver_is_valid(const viscosity_solver* solver);
/// Whether stress outweighs mass so far that a velocity it has not yet acted on is a bad first
/// guess.
bool viscosity_solver_is_stiff(const viscosity_solver* solver);
bool viscosity_solver_has_aggregates(const viscosity_solver* solver);

/// rhs -= A u_fixed: takes the velocities of fixed faces, given in `fixed` (zero at unknowns), to
/// the right-hand side.
treacle_status viscosity_add_fixed(const viscosity_solver* solver, const double* fixed,
                                   double* rhs) TREACLE_NODISCARD;

/// Vectors are [tile][axis][512] plus a zero tile of the same size. On return `rhs` holds the
/// residual and u the solution; both are zero where there is no unknown. A solve that did not reach
/// its target is no error: see stats.
treacle_status viscosity_solve(viscosity_solver* solver, double* rhs, double* u,
                               const solve_params* params, solve_stats* stats) TREACLE_NODISCARD;
