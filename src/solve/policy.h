// Every threshold of the solvers, and the regime that they put a system into.
//
// A threshold says when another way of solving the same system begins to pay: no number here
// changes what is solved, only what it costs. They are in one place so that one can see which
// decisions there are, and change one without reading ten files.
//
// What a system is (solve_facts) is asked once, when its solver is made; regime_of holds it against
// the policy, and from then on the solvers read the regime. What only the course of a solve can say
// (it is slow, it stagnates, a direction brought nothing) is decided in the loops by the numbers of
// krylov_policy and slow_policy.
#pragma once

#include <stdbool.h>
#include <stdint.h>

// Figures at members: what half and twice of it do to iterations (and to counted work, items of all
// loops) of solves of velocity and pressure of a ball, a coil and a block of 64^3 cells at weights
// r = mu dt / (rho h^2) of 0.1, 1, 100, 1e4 and 1e6 with a contrast ("c"), to an energy of 5e-4 and
// a net flow of 2e-6. "Nothing" is: the same iterations everywhere. Work changes by more than one
// percent only where that is said.

/// How deep the multigrids go, and how much they sweep.
typedef struct cycle_policy {
    // Up to this fraction of links in every diagonal one sweep and its reverse stand for the cycle:
    // a sweep then leaves half of the error or less. Heat and thin liquid in small steps.
    double single_links;
    // The same of viscosity: up to this largest weight of stress against mass. Half, twice: nothing
    // in these shapes. At 2: r = 1 takes 23 to 24 iterations for 7 to 11, work +57 to +128 %.
    double single_weight;
    // The same on small_tiles or less, where coarser levels are loops over a tile or two.
    double single_weight_small;
    int small_tiles;
    // K-cycles on the levels 1 .. this one. 1: the block at r = 1 takes 11 for 7, work +28 %, the
    // others -11 to -2 %; 0: pressure 16 to 19 for 10 to 11; 4: nothing, there are no more levels.
    int last_k_level;
    // More bodies than this and their systems are the cost of a sweep at the bottom of pressure.
    int crowd;
    // Sweeps at the bottom, forward and as many back. Half, twice: nothing, but for one iteration
    // less of a block at 1e4 with half of viscosity's.
    int pressure_bottom;
    int pressure_bottom_crowd;
    int viscosity_bottom;
    // Sweeps in a tile at a wall or at the surface, for one elsewhere. 1: work +8 to +39 %, a coil
    // at r = 100 takes 24 for 17; 4: 13 for 17 there, 10 for 7 (block, 1), and no less time.
    int surface_sweeps;
} cycle_policy;

/// The second coarse space: rigid motions of lumps of liquid, and of aggregates of tiles.
typedef struct lump_policy {
    // From this weight of stress against mass on rigid motions are much softer than all others, and
    // a velocity that has not felt the stress is no first guess. Half, twice: nothing. Never:
    // viscosity alone of a ball at 1e4 takes 19 for 14.
    double thick_weight;
    // From this weight on few tiles have the aggregates from the first iteration on: drops and
    // strands lean on one another, and when a loop finds itself slow those soft motions have grown.
    // Half: a coil at 1e4 takes 13 for 22, work -32 %, a block 12 for 14, work +20 %; twice:
    // nothing; never: coil c 36 for 22.
    double stacked_weight;
    // Up to so many tiles the memory and the factor of small aggregates are no matter. Half: coils
    // take 31 for 22 (1e4) and 36 for 22 (c); twice: the ball c takes 19 for 24.
    int few_tiles;
    // A term is strong from this fraction of the largest weight around on: where it counts whether
    // liquid hangs together at all. Half: work of a ball -8 to -10 %, the slivers of its surface
    // are no lumps; twice: nothing.
    float strong;
    // The same where small aggregates shall end at necks. Half: nothing; twice, no term is strong:
    // a coil at 1e4 takes 125 for 22.
    float strong_of_aggregate;
    // Fewer faces are no lump. Half, twice: nothing.
    int smallest;
    // The same with specks. 1: 21 for 22 and 25 for 24, and nine times the time; twice: nothing.
    int smallest_speck;
    // From this contrast of stress against mass on specks of stiff liquid may swim in thin liquid.
    // Half, twice: nothing. Never: a block c has 53 % more work; always: coils at 1e4 take 31 for
    // 22. The candle of docs/math/solver.md takes 109 for 26 without.
    double speck_contrast;
    // And from this ratio of stress from a cell to the next on: where viscosity varies as far but
    // smoothly, as it does with heat, nothing swims. A block c takes 14 for 18 by it; the candle
    // has jumps of 1e5.
    double speck_jump;
    // Jumps count at faces with more than this of a full face's mass: with less the ratio is one of
    // how full the two cells are.
    float jump_mass;
    // Then a term is strong that has this fraction of the heaviest at each of its faces. Half:
    // nothing; twice: 14 for 22 (coil c), 27 for 24 (ball c), block c +27 % work.
    float speck_strong;
    // A face with less than this fraction of a full one's mass does not count in the contrast.
    // Half, twice: nothing.
    double speck_mass;
    // Aggregates that are eliminated in one go. Half, twice: nothing.
    int dissection_part;
} lump_policy;

/// The Schur complement of velocity and pressure.
typedef struct schur_policy {
    // A cell with less liquid has no pressure [stokes.3]; it is part of what is solved.
    float smallest_volume;
    // Faces with less mass count as if they had this in B M^-1 B^T. Half, twice: nothing.
    float smallest_mass;
    // W is at least this over diag(B D^-1 B^T), for a cell whose one open face is held by its
    // divergence alone. Half, as without: at 1 a coil takes 11 for 8, a block 11 for 7; twice: 10
    // each there, and a ball at 100 21 for 24.
    double held;
    // Fraction of W that goes where all cells are at the surface. Half, as without: a block at 1
    // takes 11 for 7; twice: 10 there, elsewhere within one iteration.
    double surface;
    // Fraction of W that weighs a divergence in the products of images. Every correction mends the
    // divergence that the one before has left, and what holds the loop up where viscosity rules is
    // pressure, which forces alone show. 1: a block of 128^3 at 1e4 takes 18 for 14.
    float weight_of_image;
    // Pressure has a cycle of its own where the least weight of a cell is below side^2 / this:
    // waves cross the domain before viscosity has them. Half: cycles for r = 100 and c, work +19 to
    // +28 %, but a ball at 100 takes 15 for 24; twice: nothing; never: no convergence at 0.1.
    double waves;
} schur_policy;

/// When a loop is slow: then aggregates of tiles are added to its cycle.
typedef struct slow_policy {
    // Conjugate gradients give up when so many more iterations seem necessary.
    double patience;
    // They judge it by the pace of so many.
    int pace_iterations;
    // GCR is slow where the estimate falls to no less than this an iteration. Twice, never slow:
    // balls take 16 for 24, 15 for 18 and 23 for 24, a coil at 1e4 119 for 22; half, slow sooner:
    // coil and blocks +33 to +57 % work.
    double factor;
    // It judges it by so many iterations. Half: 17 for 22 (coil, 1e4), 22 for 24 (ball, 100), but a
    // coil at 100 and blocks +29 to +49 % work; twice: 27 for 22 (coil, 1e4), balls as if never
    // slow.
    int iterations;
    // And by the last few of them: it may be getting faster. 1: a ball at 100 takes 16 for 24;
    // twice: nothing.
    int recent;
} slow_policy;

/// The loops.
typedef struct krylov_policy {
    // Conjugate gradients give up when so many iterations have not brought the residual below this
    // fraction of its best. No solve of these shapes or of the scenes comes near.
    double stagnation_ratio;
    int stagnation_iterations;
    // Directions that GCR keeps. Half: one iteration more; twice: nothing.
    int restart;
    // The same where a first try has not converged. Half: nothing.
    int restart_long;
    // How much worse a predicted energy may prove than the residual says. Half: one iteration less,
    // for an error that may be larger; twice: nothing.
    double caution;
    // Smaller regions count as if they had so many cells in the net flow [stokes.4]. Half: 9 for 8
    // (coil, 1); twice: nothing.
    double small_region;
    // What is left of the square of an image: below this it is made orthogonal twice. Half, twice:
    // nothing; never: coils take 128 for 22.
    double twice_below;
    // A step that leaves this fraction of the residual brought nothing; the next direction comes
    // from its image. Only flows that are asked for without any force need it (test_stokes_solver).
    double stalled;
    // After so many in a row a cycle ends.
    int stalls;
    // The square of the residual is carried on from step to step until it has fallen so far, and
    // then measured anew. Half, twice: nothing.
    double weighed_reach;
    // Rounded images bring a residual no farther than this. Half, twice: nothing.
    double cycle_reach;
    // The residual may prove so many times larger than its target, or than the recurrence said,
    // before another cycle is due.
    double drift_of_target;
    double drift_of_said;
    // A rigid motion is taken back where it makes so many times the divergence, or the square of
    // forces, that was there: then something holds it.
    double push_divergence;
    double push_force;
} krylov_policy;

/// Below these fractions a number is rounding: they lie between what rounding leaves, 1e-16 times
/// the length of a sum, and the smallest that means something.
typedef struct rounding_policy {
    double pivot;       // of the diagonal before elimination: the matrix does not hold a direction
    double body_mass;   // of a body's largest inverse mass, added where it has no inverse
    double body_row;    // of a body's largest row: a summed one that is less is a sum of nothing
    double region_held; // of the sum of a body's rows over all cells
    double region_new;  // of a row of constants that is hardly more than those before it
    double residual;    // of the right-hand side, when a recurrence is held against b - A x
    double velocity;    // of the largest velocity, as a divergence
} rounding_policy;

typedef struct solve_policy {
    cycle_policy cycle;
    lump_policy lump;
    schur_policy schur;
    slow_policy slow;
    krylov_policy krylov;
    rounding_policy rounding;
} solve_policy;

/// What all systems are solved by that do not bring a policy of their own.
const solve_policy* solve_policy_default(void);
/// `own`, or the default where it is NULL.
const solve_policy* solve_policy_or_default(const solve_policy* own);
