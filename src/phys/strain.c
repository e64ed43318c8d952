// Elastic strain that turns, decays and yields [G11 sec. 2.3, 2.4].
//
//     d eps/dt = D + (turning) - alpha n max(0, |eps'| - gamma),   n = eps' / |eps'|     [strain.1]
//
//     D = (grad u + grad u^T) / 2,   W = (grad u - grad u^T) / 2,   L = grad u = D + W
//
// eps' is the deviator, |.| the Frobenius norm. Turning is nothing, W eps - eps W (corotational,
// [G11 eq. 2.23]) or L eps + eps L^T (upper-convected). The last with decay of the whole strain and
// gamma = 0 is the Oldroyd-B fluid: its conformation tensor is c = I + 2 eps.
//
// Over a step D and n are held still. Let s = |eps' + dt D'| and f the fraction of the step before
// it reaches gamma. Without turning the rest of the step, a = alpha dt (1 - f) long in units of 1 /
// alpha, is solved exactly:
//
//     eps <- A eps + B dt D                                                              [strain.2]
//     A = e + (1 - e) gamma / s,  B = f e + (1 - f)(1 - e)/a + (1 - e) gamma / s,  e = exp(-a)
//                                                                                        [strain.3]
//
// and A = B = 1 where s <= gamma. With gamma = 0: A = exp(-alpha dt) and B = (1 - A) / (alpha dt),
// so the stress of steady flow is mu_e D / alpha for steps of any length. With alpha infinite: A =
// B = gamma / s, a perfectly plastic body.
//
// Turning: with R the Cayley rotation of W dt/2 strain turns before and after [strain.2]; it is
// orthogonal to rounding, so |eps| is kept. Upper-convected, with F the Cayley map of L dt, or, as
// that has a pole at a stretch of 2, the n-th power of the map of L dt/n, n as large as it must be;
// what is too fast for the step deforms by e^2 at most:
//
//     c <- A F c F^T + (B - A) F F^T + (1 - B) I                                         [strain.4]
//
// a sum of positive definite parts with weights >= 0: c stays positive definite.
//
// A body that is melted in part, by the fraction f, has the modulus (1 - f) mu_e: what is melted
// bears nothing. eps is that of its solid. What freezes is without strain,
//
//     eps <- eps (1 - f_before) / (1 - f)  where f < f_before;  eps = 0 where f = 1      [strain.5]
//
// On a grid the entries of c come from different places and need not belong to one tensor: then c
// is the nearest one,
//
//     c <- V diag(min(max(l, 0), L^2)) V^T,   c = V diag(l) V^T                          [strain.6]
//
// whose stretches are none below zero, which would push the way it goes, and none above L = 10,
// where gel tears: waves along a stretch l run (l)^(1/2) times as fast, and without an end of it no
// step would be short enough.
//
// Properties that tests check: start-up, relaxation and oscillation of shear against their
// formulas; the norm in a rotation; c positive definite; steady stress for any alpha dt.
#include "phys/strain.h"

#include <math.h>

#include "defs/def_features.h"
#include "math/elementary.h"
#include "math/mat3.h"

static double trace_of(const double eps[STRAIN_PARTS]) {
    return eps[0] + eps[1] + eps[2];
}

double strain_norm(const double eps[STRAIN_PARTS]) {
    double third = trace_of(eps) / 3.0, sum = 0.0;
    for (int a = 0; a < AXES; ++a) {
        double normal = eps[a] - third, shear = eps[AXES + a];
        sum += normal * normal + 2.0 * shear * shear;
    }
    return sqrt(sum);
}

// (1 - exp(-a)) / a; decayed is exp(-a).
static double mean_decay(double a, double decayed) {
    if (a < 1e-5) {
        return 1.0 - 0.5 * a;
    }
    return isinf(a) ? 0.0 : (1.0 - decayed) / a;
}

strain_step strain_begin(const strain_law* law, double dt) {
    TREACLE_ASSERT(dt > 0.0 && isfinite(dt));
    TREACLE_ASSERT(law->modulus >= 0.0 && law->decay >= 0.0 && law->yield >= 0.0);
    return (strain_step){law, dt, law->decay > 0.0 ? elementary_exp(-law->decay * dt) : 1.0};
}

strain_factors strain_yield(const strain_step* step, const double eps[STRAIN_PARTS],
                            const double stretch[STRAIN_PARTS]) {
    TREACLE_ASSERT(step->dt > 0.0);
    TREACLE_ASSERT(step->decayed >= 0.0 && step->decayed <= 1.0);
    const strain_law* law = step->law;
    double dt = step->dt;
    if (!(law->decay > 0.0) || isinf(law->yield)) {
        return (strain_factors){1.0, 1.0};
    }
    if (law->yield <= 0.0) {
        return (strain_factors){step->decayed, mean_decay(law->decay * dt, step->decayed)};
    }
    double next[STRAIN_PARTS];
    for (int i = 0; i < STRAIN_PARTS; ++i) {
        next[i] = eps[i] + dt * stretch[i];
    }
    double before = strain_norm(eps), after = strain_norm(next);
    if (after <= law->yield) {
        return (strain_factors){1.0, 1.0};
    }
    double free = before < law->yield ? (law->yield - before) / (after - before) : 0.0;
    double a = law->decay * dt * (1.0 - free);
    double decayed = free > 0.0 ? elementary_exp(-a) : step->decayed;
    double held = (1.0 - decayed) * law->yield / after;
    return (strain_factors){
        .keep = decayed + held,
        .gain = free * decayed + (1.0 - free) * mean_decay(a, decayed) + held,
    };
}

static mat3 matrix_of(const double eps[STRAIN_PARTS]) {
    return (mat3){{{eps[0], eps[5], eps[4]}, {eps[5], eps[1], eps[3]}, {eps[4], eps[3], eps[2]}}};
}

static void take_matrix(const mat3* m, double eps[STRAIN_PARTS]) {
    for (int a = 0; a < AXES; ++a) {
        int b = (a + 1) % AXES, c = (a + 2) % AXES;
        eps[a] = m->at[a][a];
        eps[AXES + a] = 0.5 * (m->at[b][c] + m->at[c][b]);
    }
}

// eps <- F eps F^T
static void convect(const mat3* f, double eps[STRAIN_PARTS]) {
    mat3 inner = matrix_of(eps), turned = mat3_transpose(f);
    inner = mat3_multiply(&inner, &turned);
    inner = mat3_multiply(f, &inner);
    take_matrix(&inner, eps);
}

// (I - g/2)^-1 (I + g/2): like exp(g) to third order, for g well below 2.
static mat3 cayley(const mat3* g) {
    mat3 low = mat3_identity(), high = mat3_identity(), out = mat3_identity();
    for (int i = 0; i < AXES * AXES; ++i) {
        low.at[i / AXES][i % AXES] -= 0.5 * g->at[i / AXES][i % AXES];
        high.at[i / AXES][i % AXES] += 0.5 * g->at[i / AXES][i % AXES];
    }
    return mat3_invert(&low, &low) ? mat3_multiply(&low, &high) : out;
}

// Beyond this, as beside a wall that is nearer than the grid can tell, motion is too fast for the
// step, and deforms no more than this.
static const double deformation_max = 2.0;

// F of [strain.4], about exp(g).
static mat3 deformation_of(const mat3* g) {
    double size = 0.0;
    int halvings = 0;
    for (int a = 0; a < AXES; ++a) {
        size = fmax(size, fabs(g->at[a][0]) + fabs(g->at[a][1]) + fabs(g->at[a][2]));
    }
    double scale = size > deformation_max ? deformation_max / size : 1.0;
    for (double rest = scale * size; rest > 0.5; rest *= 0.5) {
        scale *= 0.5;
        halvings += 1;
    }
    mat3 part = *g;
    for (int i = 0; i < AXES * AXES && scale < 1.0; ++i) {
        part.at[i / AXES][i % AXES] *= scale;
    }
    mat3 out = cayley(&part);
    for (; halvings > 0; --halvings) {
        out = mat3_multiply(&out, &out);
    }
    return out;
}

// dt (W + D)
static mat3 gradient_of(const strain_motion* motion, double dt) {
    mat3 out = {{{0}}};
    for (int a = 0; a < AXES; ++a) {
        int b = (a + 1) % AXES, c = (a + 2) % AXES;
        double shear = motion->stretch[AXES + a];
        out.at[a][a] = dt * motion->stretch[a];
        out.at[b][c] = dt * (shear - motion->spin[a]);
        out.at[c][b] = dt * (shear + motion->spin[a]);
    }
    return out;
}

static void advance_convected(strain_factors k, double dt, const strain_motion* motion,
                              double eps[STRAIN_PARTS]) {
    mat3 l = gradient_of(motion, dt);
    mat3 f = deformation_of(&l);
    double unit[STRAIN_PARTS] = {1.0, 1.0, 1.0};
    convect(&f, unit);
    convect(&f, eps);
    for (int i = 0; i < STRAIN_PARTS; ++i) {
        double stretched = 0.5 * (unit[i] - (i < AXES ? 1.0 : 0.0));
        eps[i] = k.keep * eps[i] + k.gain * stretched; // [strain.4] of c = I + 2 eps
    }
}

void strain_advance(const strain_step* step, const strain_motion* motion,
                    double eps[STRAIN_PARTS]) {
    TREACLE_ASSERT(step->law != NULL);
    strain_factors k = strain_yield(step, eps, motion->stretch);
    if (step->law->rate == TREACLE_STRAIN_CONVECTED) {
        advance_convected(k, step->dt, motion, eps);
        return;
    }
    strain_lanes lanes = {.keep = f64x8_set(k.keep), .gain = f64x8_set(k.gain)};
    for (int i = 0; i < STRAIN_PARTS; ++i) {
        lanes.eps[i] = f64x8_set(eps[i]);
        lanes.stretch[i] = f64x8_set(motion->stretch[i]);
    }
    for (int a = 0; a < AXES && step->law->rate != TREACLE_STRAIN_FIXED; ++a) {
        lanes.spin[a] = f64x8_set(motion->spin[a]);
    }
    strain_turn_sse2(&lanes, step->dt, step->law->decays_whole);
    for (int i = 0; i < STRAIN_PARTS; ++i) {
        eps[i] = lanes.eps[i][0];
    }
}

static const double longest_square = STRAIN_LONGEST * STRAIN_LONGEST;

// One rotation of Jacobi's: a <- J^T a J with a[i][j] = 0, v <- v J.
static void turn_away(mat3* a, mat3* v, int i, int j) {
    if (a->at[i][j] == 0.0) {
        return;
    }
    double theta = 0.5 * (a->at[j][j] - a->at[i][i]) / a->at[i][j];
    double t = (theta < 0.0 ? -1.0 : 1.0) / (fabs(theta) + sqrt(theta * theta + 1.0));
    double c = 1.0 / sqrt(t * t + 1.0), s = t * c;
    mat3 turn = mat3_identity();
    turn.at[i][i] = turn.at[j][j] = c;
    turn.at[i][j] = s;
    turn.at[j][i] = -s;
    mat3 back = mat3_transpose(&turn);
    *a = mat3_multiply(a, &turn);
    *a = mat3_multiply(&back, a);
    *v = mat3_multiply(v, &turn);
}

// c with the squares of its stretches between 0 and those of what tears.
static bool is_whole(const mat3* c) {
    const double(*a)[3] = c->at;
    double two = a[0][0] * a[1][1] - a[0][1] * a[0][1];
    double three = a[0][0] * (a[1][1] * a[2][2] - a[1][2] * a[1][2]) -
                   a[0][1] * (a[0][1] * a[2][2] - a[1][2] * a[0][2]) +
                   a[0][2] * (a[0][1] * a[1][2] - a[1][1] * a[0][2]);
    bool is_short = a[0][0] + a[1][1] + a[2][2] < longest_square; // above each stretch
    return a[0][0] > 0.0 && two > 0.0 && three > 0.0 && is_short;
}

// To the diagonal, by rotations that v collects.
static void turn_to_axes(mat3* a, mat3* v) {
    enum { SWEEPS = 6 };
    for (int i = 0; i < SWEEPS; ++i) {
        turn_away(a, v, 0, 1);
        turn_away(a, v, 0, 2);
        turn_away(a, v, 1, 2);
    }
}

void strain_principal(const double eps[STRAIN_PARTS], double out[AXES]) {
    mat3 a = matrix_of(eps), v = mat3_identity();
    turn_to_axes(&a, &v);
    for (int i = 0; i < AXES; ++i) {
        out[i] = a.at[i][i];
    }
}

void strain_forget_pressed(double kept, float eps[STRAIN_PARTS]) {
    TREACLE_ASSERT(kept >= 0.0 && kept <= 1.0);
    double whole[STRAIN_PARTS];
    for (int i = 0; i < STRAIN_PARTS; ++i) {
        whole[i] = (double)eps[i];
    }
    mat3 a = matrix_of(whole), v = mat3_identity();
    turn_to_axes(&a, &v);
    if (!(fmax(fmax(a.at[0][0], a.at[1][1]), a.at[2][2]) > 0.0)) {
        return;
    }
    mat3 scaled = v, back = mat3_transpose(&v);
    for (int i = 0; i < AXES * AXES; ++i) {
        double e = a.at[i % AXES][i % AXES];
        scaled.at[i / AXES][i % AXES] *= e < 0.0 ? kept * e : e;
    }
    a = mat3_multiply(&scaled, &back);
    take_matrix(&a, whole);
    for (int i = 0; i < STRAIN_PARTS; ++i) {
        eps[i] = (float)whole[i];
    }
}

void strain_keep_whole(double eps[STRAIN_PARTS]) {
    mat3 c = matrix_of(eps), v = mat3_identity();
    for (int i = 0; i < AXES * AXES; ++i) {
        int row = i / AXES, column = i % AXES;
        c.at[row][column] = 2.0 * c.at[row][column] + (row == column ? 1.0 : 0.0);
    }
    if (is_whole(&c)) {
        return;
    }
    turn_to_axes(&c, &v);
    mat3 scaled = v, back = mat3_transpose(&v);
    for (int i = 0; i < AXES * AXES; ++i) {
        scaled.at[i / AXES][i % AXES] *= fmin(fmax(c.at[i % AXES][i % AXES], 0.0), longest_square);
    }
    c = mat3_multiply(&scaled, &back);
    take_matrix(&c, eps);
    for (int i = 0; i < STRAIN_PARTS; ++i) {
        eps[i] = 0.5 * (eps[i] - (i < AXES ? 1.0 : 0.0));
    }
}

void strain_melt(double before, double after, float eps[STRAIN_PARTS]) {
    TREACLE_ASSERT(before >= 0.0 && before <= 1.0 && after >= 0.0 && after <= 1.0);
    double kept = after >= 1.0 ? 0.0 : after < before ? (1.0 - before) / (1.0 - after) : 1.0;
    for (int i = 0; i < STRAIN_PARTS && kept != 1.0; ++i) {
        eps[i] = (float)(kept * (double)eps[i]); // [strain.5]
    }
}

strain_law strain_law_of(const treacle_elastic_def* def) {
    TREACLE_ASSERT(def != NULL);
    treacle_elastic_def words = *def;
    def_elastic_to_words(&words);
    double modulus = 2.0 * words.shear_modulus;
    return (strain_law){
        .modulus = modulus,
        .decay = 1.0 / words.relaxation_time,
        .yield = modulus > 0.0 ? sqrt(2.0) * words.yield_stress / modulus : 0.0,
        .rate = def->rate,
        .decays_whole = def->decay == TREACLE_DECAY_WHOLE || def->rate == TREACLE_STRAIN_CONVECTED,
    };
}
