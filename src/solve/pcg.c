// Conjugate gradients with double vectors, a float preconditioner and float directions.
//
//     alpha = r.z / p.Ap,  x += alpha p,  r -= alpha A p
//     z = B r,             p = z + beta p
//     beta = r'.z' / r.z                          B symmetric [HS52]
//     beta = (r' - r).z' / r.z                    B only nearly so [N00], Polak-Ribiere
//
// with r' - r = -alpha A p, so that the flexible form costs one more dot product and no vector.
// A direction may be rounded: x and r move along what p then is, and A p is computed in double.
// The loop gets no faster by a restart, and the residual is the recurrence's own: with double
// vectors it agrees with b - A x far below any tolerance in use (tests/conform).
#include "solve/pcg.h"

#include <math.h>

#include "base/profile.h"
#include "math/elementary.h"

treacle_status pcg_vectors_create(const vec_space* space, pcg_vectors* out) {
    *out = (pcg_vectors){0};
    treacle_status status;
    TREACLE_TRY_GOTO(vec_create_float(space, "search directions", &out->p), fail);
    TREACLE_TRY_GOTO(vec_create(space, "images of directions", &out->q), fail);
    TREACLE_TRY_GOTO(vec_create_float(space, "rounded residuals", &out->r), fail);
    TREACLE_TRY_GOTO(vec_create_float(space, "corrections", &out->z), fail);
    return TREACLE_OK;
fail:
    pcg_vectors_destroy(space, out);
    return status;
}

void pcg_vectors_destroy(const vec_space* space, pcg_vectors* vectors) {
    vec_destroy_float(space, vectors->p);
    vec_destroy(space, vectors->q);
    vec_destroy_float(space, vectors->r);
    vec_destroy_float(space, vectors->z);
    *vectors = (pcg_vectors){0};
}

static double norm_of(const solve_params* params, vec_sizes sizes) {
    return params->norm == SOLVE_NORM_2 ? sqrt(sizes.square) : sizes.max;
}

static void record(solve_stats* stats, double residual) {
    int at = stats->iterations < SOLVE_HISTORY ? stats->iterations : SOLVE_HISTORY - 1;
    stats->history[at] = residual;
    stats->history_count = at + 1;
    stats->residual = residual;
}

static double best_of(const solve_stats* stats, int begin, int end) {
    double best = INFINITY;
    for (int n = begin; n < end; ++n) {
        best = fmin(best, stats->history[n]);
    }
    return best;
}

// The 2-norm may rise for a while at high contrast; what falls steadily is the energy of the error.
static bool has_stagnated(const krylov_policy* policy, const solve_stats* stats) {
    int n = stats->iterations, before = n - policy->stagnation_iterations;
    // The history is full: then nobody knows what the best was, and the loop goes on.
    return before > 0 && n < SOLVE_HISTORY &&
           best_of(stats, before, n + 1) > policy->stagnation_ratio * best_of(stats, 0, before);
}

// Iterations that the rest would take at the pace of the last few.
static double iterations_left(int pace_iterations, const solve_stats* stats) {
    int n = stats->iterations, before = n - pace_iterations;
    if (before < 0 || n >= SOLVE_HISTORY) {
        return 0.0;
    }
    // The pace is a mean over some iterations, since the residual does not fall evenly. It may even
    // rise at first: then the rest is without end.
    double pace = elementary_log(stats->history[before] / stats->residual) / pace_iterations;
    double rest = elementary_log(stats->residual / stats->target);
    return pace > 0.0 ? rest / pace : INFINITY;
}

// True when there is nothing more to do; the reason is in stats.
static bool is_over(const solve_params* params, solve_stats* stats) {
    const solve_policy* policy = solve_policy_or_default(params->policy);
    stats->is_broken = !isfinite(stats->residual);
    stats->is_converged = stats->residual <= stats->target;
    stats->is_stagnated = !stats->is_converged && has_stagnated(&policy->krylov, stats);
    stats->is_slow = params->patience > 0.0 && !stats->is_converged &&
                     iterations_left(policy->slow.pace_iterations, stats) > params->patience;
    return stats->is_broken || stats->is_converged || stats->is_stagnated || stats->is_slow ||
           stats->iterations >= params->max_iterations;
}

// A power of two that brings the residual to a mean square near one.
static double rounding_scale(double square, double unknowns) {
    double mean = sqrt(square / (unknowns > 1.0 ? unknowns : 1.0));
    // A power of two, so that scaling rounds nothing and the bits do not depend on it.
    int exponent = 0;
    frexp(mean, &exponent);
    return mean > 0.0 ? ldexp(1.0, -exponent) : 1.0;
}

// r = b - A x for the first x; returns its sizes. A guess is worse than none if it has more of the
// energy x . A x / 2 - b . x that the loop brings down, which for zero is zero: a velocity that
// thick liquid stops at once has, by its stiffness.
static vec_sizes start(const linop* op, const pcg_vectors* vectors, const solve_params* params,
                       double* r, double* x) {
    bool is_guessed = params->is_warm;
    if (is_guessed) {
        double square = op->apply(op->data, x, vectors->q); // x . A x
        vec_add_scaled(op->space, -1.0, vectors->q, r);
        is_guessed = square + 2.0 * vec_dot(op->space, x, r) >= 0.0;
        if (!is_guessed) {
            vec_add_scaled(op->space, 1.0, vectors->q, r);
        }
    }
    if (!is_guessed) {
        vec_set_zero(op->space, x);
    }
    return vec_measure(op->space, r);
}

static void iterate(const linop* op, const pcg_vectors* vectors, const solve_params* params,
                    const vec_descent* first, solve_stats* stats) {
    vec_descent step = *first;
    op->precondition(op->data, vectors->r, vectors->z);
    double rz = vec_dot_two(op->space, vectors->z, step.r, step.r).first;
    vec_set_zero_float(op->space, vectors->p);
    vec_conjugate(op->space, vectors->z, 0.0, vectors->p);
    while (!is_over(params, stats)) {
        double pq = op->apply_rounded(op->data, vectors->p, vectors->q);
        // Of a positive operator and preconditioner both are positive until rounding is all that is
        // left, or until a number is no number.
        if (!(pq > 0.0) || !(rz > 0.0)) {
            stats->is_broken = true;
            return;
        }
        step.a = rz / pq;
        vec_sizes sizes = vec_descend(op->space, &step);
        stats->iterations += 1;
        record(stats, norm_of(params, sizes));
        if (is_over(params, stats)) {
            return;
        }
        op->precondition(op->data, vectors->r, vectors->z);
        vec_pair dots = vec_dot_two(op->space, vectors->z, step.r, vectors->q);
        // Polak and Ribiere: r_new - r_old is -a q, so its product with z costs a dot product
        // alone.
        double beta = op->is_flexible ? -step.a * dots.second / rz : dots.first / rz;
        rz = dots.first;
        vec_conjugate(op->space, vectors->z, beta, vectors->p);
    }
}

solve_stats pcg_solve(const linop* op, const pcg_vectors* vectors, const solve_params* params,
                      double* r, double* x) {
    TREACLE_ASSERT(r != x && vectors->p != NULL);
    TREACLE_ASSERT(params->relative >= 0.0 && params->absolute >= 0.0);
    double begin = profile_now();
    solve_stats stats = {.unknowns = op->unknowns};
    stats.rhs_norm = norm_of(params, vec_measure(op->space, r));
    // `absolute` is of one unknown: in the 2-norm of n equal ones it counts sqrt(n) times.
    double spread = params->norm == SOLVE_NORM_2 ? sqrt(op->unknowns) : 1.0;
    stats.target = fmax(params->relative * stats.rhs_norm, params->absolute * spread);
    vec_sizes sizes = start(op, vectors, params, r, x);
    record(&stats, norm_of(params, sizes));
    if (!is_over(params, &stats)) {
        double scale = rounding_scale(sizes.square, op->unknowns);
        vec_descent step = {.scale = scale,
                            .p = vectors->p,
                            .q = vectors->q,
                            .x = x,
                            .r = r,
                            .rounded = vectors->r};
        vec_round(op->space, scale, r, vectors->r);
        iterate(op, vectors, params, &step, &stats);
    }
    if (stats.iterations > 0 && stats.history[0] > 0.0) {
        stats.factor = elementary_pow(stats.residual / stats.history[0], 1.0 / stats.iterations);
    }
    stats.seconds = profile_now() - begin;
    return stats;
}
