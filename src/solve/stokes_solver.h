// Solves velocity and pressure together:
//
//     A u + B^T p = f        A: solve/viscosity_level.h
//     B u         = h        (B u)_c = sum over axes of (opening u) at the high face - low face
//
// where a face may be open by another fraction to the cell below it than to the one above,
//
// by GCR, preconditioned from the left below: one multigrid cycle for A, then one for the Schur
// complement, approximated after Cahouet and Chabard [CC88] by
//
//     S^-1 ~ W + (B M^-1 B^T)^-1,  W = (1 - o/2) max(2/3 sqrt(2 w_c * 3/2 / s), 0.3 / s),
//     s = diag(B D^-1 B^T),  D = diag(A) - M,  o the fraction of cells at the surface.
//
// Bodies move faces (solve/drag_term.h) and displace liquid: B u has row_c . y at the cells around
// them, too, and their rows of the first line the transpose of that. B M^-1 B^T has them as a
// pressure solve does (solve/body_term.h), and so has W, by the matrix of rank six
//
//     (W^-1 + J K^-1 J^T)^-1,   J the rows, K masses and stresses of bodies          [stokes.5]
//
// The pressure is that of a cell times its fraction of liquid, so that rows stay of order one.
#pragma once

#include "solve/solve_stats.h"
#include "solve/viscosity_solver.h"

typedef struct stokes_system {
    const grid_domain* domain;
    const tile_map* map;
    viscosity_weights weights; // as for a viscosity solve
    const float*
        opening[AXES]; // [tile][512] at faces: fraction that no solid covers, >= 0.1 at unknowns
    const float* opening_below[AXES]; // as the cell below a face sees it; NULL: as that above
    const float* volume;              // [tile][512] at cells: fraction of liquid
    int32_t body_count;               // that weights.owner names
    const solve_body* bodies;         // [body_count]; rows: what they displace, in all six motions
    const solve_policy* policy;       // NULL: the default; must outlive the solver
} stokes_system;

/// More than the weights say of A, for a law that is linearised: A u + E (u - about). The cycle
/// does not know of it.
typedef struct stokes_extra {
    /// y += E u at unknown faces, of the map's own tiles at least; what it adds elsewhere is not
    /// looked at. u is that of own tiles and their neighbours.
    void (*add)(void* data, const float* u, double* y);
    void* data;
    const double* about; // [tile][axis][512]
} stokes_extra;

/// Stops when all hold: energy norm of the error, estimated, over that of the solution; largest
/// |h - B u|; largest |sum of h - B u| of a connected region over its volume in cells; 2-norm of
/// the whole residual over that of f and h. Infinity switches a test off.
typedef struct stokes_params {
    double energy;
    double
        least;   // below 1: the first guess's energy counts where it is less, down to this fraction
    double drop; // the energy also does at this fraction of what the first guess has left; 0: no
    double divergence;
    double net;
    double relative;
    int max_iterations;
    int restart;               // directions kept: 8 floats a cell and direction
    bool is_warm;              // u and p hold a first guess
    const stokes_extra* extra; // NULL: none
    bool keeps_momentum; // gives free lumps exactly the momentum of f at the end: only where no
                         // wall stops their rigid motion by its divergence alone
} stokes_params;

typedef struct stokes_stats {
    bool is_converged, is_broken;
    bool is_rough; // converged by the drop of its energy alone
    int iterations;
    double energy, divergence, relative; // at the end
    double net;                          // infinite where one of these was not met
    double seconds;
    double unknowns;
    int history_count;
    double history[SOLVE_HISTORY]; // energy estimates before iteration 1, 2, ...
    double history_relative[SOLVE_HISTORY];
    char regime[SOLVE_REGIME_NAME]; // how it was solved (solve/regime.h)
} stokes_stats;

struct region_set; // solve/regions.h
typedef struct stokes_solver stokes_solver;

stokes_params stokes_params_default(void);

/// The map, mass, owner, opening, volume and bodies are not copied and must outlive the solver.
treacle_status stokes_solver_create(treacle_context* ctx, const stokes_system* system,
                                    stokes_solver** out) TREACLE_NODISCARD;
/// From now on solves with other weights of stress and mass, but goes on with the cycle of those it
/// was made with. The same faces must be unknowns. The weights are not copied and must outlive the
/// solver, or the next call. Not with bodies.
treacle_status stokes_solver_reweigh(stokes_solver* solver,
                                     const viscosity_weights* weights) TREACLE_NODISCARD;
/// Accepts NULL.
void stokes_solver_destroy(stokes_solver* solver);

/// Both of its cycles are valid.
bool stokes_solver_is_valid(const stokes_solver* solver);
/// How the system is solved.
const solve_regime* stokes_solver_regime(const stokes_solver* solver);

/// f and u are [tile][axis][512], h and p [tile][512], each with a zero tile at the end, f and u
/// with a tail for bodies (solve/viscosity_solver.h). On return f and h hold the residuals. Not
/// reaching the target is no error: see stats.
typedef struct stokes_vectors {
    double *f, *h, *u, *p;
} stokes_vectors;
treacle_status stokes_solve(stokes_solver* solver, const stokes_vectors* vectors,
                            const stokes_params* params, stokes_stats* stats) TREACLE_NODISCARD;

/// The connected regions of cells with a pressure; the solver's.
treacle_status stokes_regions(stokes_solver* solver,
                              const struct region_set** out) TREACLE_NODISCARD;

/// y_u = A u + B^T p, y_p = B u, for tests.
void stokes_apply(const stokes_solver* solver, const double* u, const double* p, double* y_u,
                  double* y_p);
