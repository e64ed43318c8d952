// A rope of viscosity nu leaves a nozzle of radius a0 at speed U0, falls by H and lies down in a
// circle, once round in 2 pi/Omega. In the frame that turns with it, it stands still [Ribe04].
//
// Along its length s it has a place x, an orientation (d1, d2, d3 = tangent) as a quaternion q, a
// rate of curvature and twist w = U kappa, a speed U along the tangent, and carries a force N and a
// moment M. Lengths in H, speeds in U0, moments in 3 eta I0 U0/H^2 and forces in
// 3 eta I0 U0/H^3, where A and I of the section fall as 1/U and 1/U^2:
//
//     [coil.1]  x' = d3,   q' = 1/2 q kappa,   kappa = w/U
//     [coil.2]  w1' = M1 U^2,   w2' = M2 U^2,   w3' = 3/2 M3 U^2      bending and twisting
//     [coil.3]  U' = delta N3 U,   delta = a0^2/(4 H^2)                stretching
//     [coil.4]  N' + kappa x N = (Re a - G g)/U,   M' + kappa x M + d3 x N = 0
//
// with the acceleration a in the turning frame, Re = 4 U0 H^3/(3 nu a0^2) and
// G = 4 g H^4/(3 nu U0 a0^2). The rope leaves the nozzle straight down without spinning, and lies
// down where it no longer moves or spins: 19 conditions for 17 unknown functions, Omega and the
// rope's length. Surface tension, the inertia of turning sections and shear across the rope are
// left out.
//
// Several Omega are possible at one height where the tail sways like a pendulum. So the height is a
// third unknown, and the curve of Omega over H is followed by its own length, round its folds.
#include "measure/rope.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/check.h"
#include "measure/collocation.h"

enum { X = 0, Q = 3, W = 7, U = 10, N = 11, M = 14, FUNCTIONS = 17 };
enum { OMEGA = FUNCTIONS, LENGTH, LOG_H, UNKNOWNS }; // constant along the rope
enum { NODES = 121 };

// One curve of states, and the step on it that is being made.
typedef struct rope {
    const treacle_nozzle* nozzle;
    double fraction; // 0..1 of inertia, weight and stretching, on the way to the first state
    double near[2];  // log Omega and log H, from which the step is measured
    double along[2]; // its direction
    double forward;  // its length
} rope;

static void frame_of(const double q[4], double d[3][3]) {
    double a = q[0], b = q[1], c = q[2], e = q[3];
    d[0][0] = a * a + b * b - c * c - e * e;
    d[0][1] = 2.0 * (b * c + a * e);
    d[0][2] = 2.0 * (b * e - a * c);
    d[1][0] = 2.0 * (b * c - a * e);
    d[1][1] = a * a - b * b + c * c - e * e;
    d[1][2] = 2.0 * (c * e + a * b);
    d[2][0] = 2.0 * (b * e + a * c);
    d[2][1] = 2.0 * (c * e - a * b);
    d[2][2] = a * a - b * b - c * c + e * e;
}

static void cross(const double a[3], const double b[3], double out[3]) {
    for (int i = 0; i < 3; ++i) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        out[i] = a[j] * b[k] - a[k] * b[j];
    }
}

static double dot(const double a[3], const double b[3]) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

// Re, G and delta at a height.
typedef struct rope_numbers {
    double inertia, weight, stretch;
} rope_numbers;

static rope_numbers numbers_of(const rope* r, double height) {
    const treacle_nozzle* n = r->nozzle;
    double a2 = n->radius * n->radius;
    return (rope_numbers){
        .inertia = r->fraction * 4.0 * n->speed * pow(height, 3.0) / (3.0 * n->viscosity * a2),
        .weight = r->fraction * 4.0 * n->gravity * pow(height, 4.0) /
                  (3.0 * n->viscosity * n->speed * a2),
        .stretch = fmax(r->fraction, 1e-6) * 0.25 * a2 / (height * height),
    };
}

// Per unit of length, what acts on the rope beside its own tension, along d1, d2, d3 [coil.4]. The
// vertical points up, and y[X + 2] is the height above the floor.
static void rope_load(const rope_numbers* p, const double* y, const double d[3][3],
                      const double kappa[3], double slope, double out[3]) {
    double u = y[U], omega = y[OMEGA];
    // 2 Omega e3 x u d3 + Omega^2 e3 x (e3 x x), in the turning frame's axes
    const double turning[3] = {-2.0 * omega * u * d[2][1] - omega * omega * y[X],
                               2.0 * omega * u * d[2][0] - omega * omega * y[X + 1], 0.0};
    const double own[3] = {u * u * kappa[1], -u * u * kappa[0], u * slope}; // along d1, d2, d3
    for (int i = 0; i < 3; ++i) {
        out[i] = (p->inertia * (own[i] + dot(turning, d[i])) + p->weight * d[i][2]) / u;
    }
}

// dy/dt with s = l t, t from 0 to 1.
static void rope_slopes(const void* data, const double* y, double* out) {
    rope_numbers p = numbers_of(data, exp(y[LOG_H]));
    double d[3][3], kappa[3], push[3], turn_n[3], turn_m[3];
    const double *q = y + Q, *n = y + N, *m = y + M, u = y[U];
    frame_of(q, d);
    for (int i = 0; i < 3; ++i) {
        kappa[i] = y[W + i] / u;
        out[X + i] = d[2][i];
        out[W + i] = (i == 2 ? 1.5 : 1.0) * m[i] * u * u;
    }
    out[Q] = 0.5 * (-q[1] * kappa[0] - q[2] * kappa[1] - q[3] * kappa[2]);
    out[Q + 1] = 0.5 * (q[0] * kappa[0] + q[2] * kappa[2] - q[3] * kappa[1]);
    out[Q + 2] = 0.5 * (q[0] * kappa[1] + q[3] * kappa[0] - q[1] * kappa[2]);
    out[Q + 3] = 0.5 * (q[0] * kappa[2] + q[1] * kappa[1] - q[2] * kappa[0]);
    out[U] = p.stretch * n[2] * u;
    rope_load(&p, y, (const double(*)[3])d, kappa, out[U], push);
    cross(kappa, n, turn_n);
    cross(kappa, m, turn_m);
    for (int i = 0; i < 3; ++i) {
        out[N + i] = push[i] - turn_n[i];
        out[M + i] = -turn_m[i];
    }
    out[M] += n[1];
    out[M + 1] -= n[0];
    for (int i = 0; i < FUNCTIONS; ++i) {
        out[i] *= y[LENGTH];
    }
    out[OMEGA] = out[LENGTH] = out[LOG_H] = 0.0;
}

// At the nozzle: there, straight down, turning back as fast as the frame turns; and how far this
// state is along the curve from the last one.
static void rope_begin(const void* data, const double* y, double* out) {
    const rope* r = data;
    const double wanted[] = {0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, y[OMEGA], 1.0};
    for (int i = 0; i <= U; ++i) {
        out[i] = y[i] - wanted[i];
    }
    out[U + 1] = r->along[0] * (log(fabs(y[OMEGA])) - r->near[0]) +
                 r->along[1] * (y[LOG_H] - r->near[1]) - r->forward;
}

// On the floor: along the circle, at rest and without spin as seen by who stands.
static void rope_end(const void* data, const double* y, double* out) {
    double d[3][3];
    (void)data;
    frame_of(y + Q, d);
    out[0] = y[X + 1];
    out[1] = y[X + 2];
    out[2] = d[2][0];
    out[3] = d[2][2];
    out[4] = y[U] * d[2][1] + y[OMEGA] * y[X];
    for (int i = 0; i < 3; ++i) {
        out[5 + i] = y[W] * d[0][i] + y[W + 1] * d[1][i] + y[W + 2] * d[2][i];
    }
    out[7] += y[OMEGA];
}

// ---- the first guess ----------------------------------------------------------------------------

static const double first_radius = 0.25; // of the coil, over the height: a rope without weight

// A curve of degree 5 from the nozzle to the floor, straight at the one and round at the other, of
// which `l` is about the length; its k-th derivative by the fraction of the way.
static void guess_curve(double t, double l, int derivative, double out[3]) {
    // Six polynomials have one value, slope or bend of 1 at one end; here are those that count.
    static const double powers[6][6] = {
        // t^0 .. t^5
        {1, 0, 0, -10, 15, -6},  {0, 1, 0, -6, 8, -3}, {0, 0, 0.5, -1.5, 1.5, -0.5},
        {0, 0, 0, 0.5, -1, 0.5}, {0, 0, 0, -4, 7, -3}, {0, 0, 0, 10, -15, 6},
    };
    const double r = first_radius;
    const double values[6][3] = {{0, 0, 1},          {0, 0, -l}, {0, 0, 0},
                                 {-l * l / r, 0, 0}, {0, -l, 0}, {r, 0, 0}};
    out[0] = out[1] = out[2] = 0.0;
    for (int i = 0; i < 6; ++i) {
        double sum = 0.0;
        for (int n = 5; n >= derivative; --n) {
            double factor = derivative == 0 ? 1.0 : derivative == 1 ? n : n * (n - 1);
            sum = sum * t + factor * powers[i][n];
        }
        for (int a = 0; a < 3; ++a) {
            out[a] += sum * values[i][a];
        }
    }
}

// Curvature and twist along the curve at t, in space; the twist falls from Omega to 0.
static void guess_turning(double t, double l, double tangent[3], double out[3]) {
    double bend[3], along;
    guess_curve(t, l, 1, tangent);
    guess_curve(t, l, 2, bend);
    double speed2 = dot(tangent, tangent);
    cross(tangent, bend, out);
    along = (1.0 - t) / first_radius;
    for (int a = 0; a < 3; ++a) {
        out[a] = out[a] / pow(speed2, 1.5) + along * tangent[a] / sqrt(speed2);
    }
}

// q turned by the vector v, an angle times an axis, in space.
static void turn_quaternion(const double v[3], double q[4]) {
    double angle = sqrt(dot(v, v)), s = angle > 0.0 ? sin(0.5 * angle) / angle : 0.5;
    const double a[4] = {cos(0.5 * angle), s * v[0], s * v[1], s * v[2]};
    const double b[4] = {q[0], q[1], q[2], q[3]};
    q[0] = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3];
    q[1] = a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2];
    q[2] = a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1];
    q[3] = a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0];
}

// Places, orientations and curvatures at the nodes; returns the length.
static double guess_shape(double* t, double* y) {
    enum { FINE = 40 };
    double q[4] = {0.0, 1.0, 0.0, 0.0}, tangent[3], turning[3];
    double step = 1.0 / ((NODES - 1) * FINE), sum = 0.0;
    const double l = 1.4;
    for (int i = 0; i < NODES; ++i) {
        double d[3][3], *at = y + i * UNKNOWNS;
        frame_of(q, d);
        t[i] = sum; // so far its length
        guess_curve((double)i / (NODES - 1), l, 0, at + X);
        guess_turning((double)i / (NODES - 1), l, tangent, turning);
        memcpy(at + Q, q, sizeof(q));
        for (int a = 0; a < 3; ++a) {
            at[W + a] = dot(turning, d[a]);
        }
        at[U] = 1.0;
        for (int k = 0; k < FINE && i + 1 < NODES; ++k) {
            guess_turning((double)i / (NODES - 1) + (k + 0.5) * step, l, tangent, turning);
            double way = step * sqrt(dot(tangent, tangent));
            const double v[3] = {way * turning[0], way * turning[1], way * turning[2]};
            turn_quaternion(v, q);
            sum += way;
        }
    }
    for (int i = 0; i < NODES; ++i) {
        t[i] /= sum;
    }
    return sum;
}

// The derivative of number k at node i, by the rope's length.
static double guess_slope(const double* t, const double* y, double length, int i, int k) {
    int low = i == 0 ? 0 : i - 1, high = i == NODES - 1 ? i : i + 1;
    return (y[high * UNKNOWNS + k] - y[low * UNKNOWNS + k]) / ((t[high] - t[low]) * length);
}

// Moments that bend it so, and forces that hold them [coil.2, coil.4].
static void guess_loads(const double* t, double* y, double length) {
    for (int i = 0; i < NODES; ++i) {
        double* at = y + i * UNKNOWNS;
        for (int a = 0; a < 3; ++a) {
            at[M + a] = guess_slope(t, y, length, i, W + a) / (a == 2 ? 1.5 : 1.0);
        }
    }
    for (int i = 0; i < NODES; ++i) {
        double *at = y + i * UNKNOWNS, turned[3];
        cross(at + W, at + M, turned);
        at[N + 1] = guess_slope(t, y, length, i, M) + turned[0];
        at[N] = -guess_slope(t, y, length, i, M + 1) - turned[1];
        at[N + 2] = 0.0;
    }
}

static void guess(double height, double* t, double* y) {
    double length = guess_shape(t, y);
    guess_loads(t, y, length);
    for (int i = 0; i < NODES; ++i) {
        y[i * UNKNOWNS + OMEGA] = 1.0 / first_radius;
        y[i * UNKNOWNS + LENGTH] = length;
        y[i * UNKNOWNS + LOG_H] = log(height);
    }
}

// ---- along the curve of states ------------------------------------------------------------------

typedef struct walk {
    treacle_context* ctx;
    rope r;
    collocation c;
    double* kept;  // y, while another state is sought
    double target; // log of the height that is asked for
    int count;
    rope_state* found; // [ROPE_BRANCHES]
} walk;

static void rope_place_of(const walk* w, double out[2]) {
    out[0] = log(fabs(w->c.y[OMEGA]));
    out[1] = w->c.y[LOG_H];
}

// With H held: nothing else moves along the curve.
static void hold_height(walk* w) {
    rope_place_of(w, w->r.near);
    w->r.along[0] = 0.0;
    w->r.along[1] = 1.0;
    w->r.forward = 0.0;
}

// From a rope without weight, inertia and stretching to that of the nozzle, at the same height.
static treacle_status reach_first(walk* w, double height, bool* is_there) {
    double fraction = 0.0, step = 0.1;
    guess(height, w->c.t, w->c.y);
    hold_height(w);
    w->r.fraction = 0.0;
    TREACLE_TRY(collocation_solve(w->ctx, &w->c, is_there));
    while (*is_there && fraction < 1.0 && step > 1e-4) {
        bool is_solved = false;
        double next = fmin(fraction + step, 1.0);
        TREACLE_TRY(collocation_spread(w->ctx, &w->c));
        w->r.fraction = next;
        TREACLE_TRY(collocation_solve(w->ctx, &w->c, &is_solved));
        fraction = is_solved ? next : fraction;
        step *= is_solved ? 1.5 : 0.25;
    }
    *is_there = *is_there && fraction >= 1.0;
    return TREACLE_OK;
}

static rope_state state_of(const walk* w) {
    const double *y = w->c.y, *end = y + (w->c.nodes - 1) * UNKNOWNS;
    double height = exp(y[LOG_H]);
    return (rope_state){.height = height,
                        .frequency = fabs(y[OMEGA]) * w->r.nozzle->speed / height,
                        .radius = fabs(end[X]) * height,
                        .thread = w->r.nozzle->radius / sqrt(end[U])};
}

// The state at the height that is asked for, from this one nearby; then the walk goes on from here.
static treacle_status note_state(walk* w) {
    size_t count = NODES * UNKNOWNS;
    bool is_solved = false;
    memcpy(w->kept, w->c.y, count * sizeof(double));
    for (int i = 0; i < NODES; ++i) {
        w->c.y[i * UNKNOWNS + LOG_H] = w->target;
    }
    hold_height(w);
    TREACLE_TRY(collocation_solve(w->ctx, &w->c, &is_solved));
    if (is_solved && w->count < ROPE_BRANCHES) {
        w->found[w->count++] = state_of(w);
    }
    memcpy(w->c.y, w->kept, count * sizeof(double));
    return TREACLE_OK;
}

// One step of the given length from the last state through this one; the straight line through both
// is the first guess. *is_made says whether it was solved: if not, this state stays.
static treacle_status step_on(walk* w, double length, bool* is_made) {
    double last[2] = {log(fabs(w->c.last[OMEGA])), w->c.last[LOG_H]}, way[2];
    rope_place_of(w, w->r.near);
    for (int i = 0; i < 2; ++i) {
        way[i] = w->r.near[i] - last[i];
    }
    double norm = hypot(way[0], way[1]);
    w->r.forward = length;
    w->r.along[0] = norm > 0.0 ? way[0] / norm : 0.0;
    w->r.along[1] = norm > 0.0 ? way[1] / norm : 1.0;
    memcpy(w->kept, w->c.y, NODES * UNKNOWNS * sizeof(double));
    for (int i = 0; i < NODES * UNKNOWNS && norm > 0.0; ++i) {
        w->c.y[i] += length / norm * (w->c.y[i] - w->c.last[i]);
    }
    TREACLE_TRY(collocation_solve(w->ctx, &w->c, is_made));
    memcpy(*is_made ? w->c.last : w->c.y, w->kept, NODES * UNKNOWNS * sizeof(double));
    return TREACLE_OK;
}

// Follows the curve up, round its folds, until it is well past the height or goes no farther.
static treacle_status walk_on(walk* w, double length) {
    const double longest = 0.15, shortest = 1e-4, beyond = 0.3;
    enum { STEPS = 250 };
    double first = w->c.y[LOG_H];
    memcpy(w->c.last, w->c.y, NODES * UNKNOWNS * sizeof(double));
    for (int i = 0; i < STEPS && length > shortest; ++i) {
        bool is_made = false;
        TREACLE_TRY(step_on(w, length, &is_made));
        if (!is_made) {
            length *= 0.5;
            continue;
        }
        double before = w->c.last[LOG_H], now = w->c.y[LOG_H];
        if ((before - w->target) * (now - w->target) <= 0.0 && before != w->target) {
            TREACLE_TRY(note_state(w));
        }
        if (now > w->target + beyond || now < first - 0.05) {
            break;
        }
        TREACLE_TRY(collocation_spread(w->ctx, &w->c));
        length = fmin(1.25 * length, longest);
    }
    return TREACLE_OK;
}

// A rope that is too short to be slender coils all the same: where the walk begins, in radii of the
// nozzle.
static const double first_height = 7.0;

static treacle_status find_states(walk* w, double height) {
    bool is_there = false;
    double begin = fmin(0.9 * height, first_height * w->r.nozzle->radius);
    TREACLE_TRY(reach_first(w, begin, &is_there));
    w->target = log(height);
    return is_there ? walk_on(w, 0.02) : TREACLE_OK;
}

treacle_status rope_solve(treacle_context* ctx, const treacle_nozzle* nozzle, double height,
                          rope_state out[ROPE_BRANCHES], int* count) {
    TREACLE_ASSERT(height > 0.0 && isfinite(height));
    TREACLE_ASSERT(count != NULL);
    size_t values = NODES * (3 * UNKNOWNS + 1);
    walk w = {.ctx = ctx, .r = {.nozzle = nozzle}, .found = out};
    double* memory = NULL;
    TREACLE_TRY(alloc_zero(ctx, values, sizeof(double), "a rope", (void**)&memory));
    w.kept = memory + NODES * (2 * UNKNOWNS + 1);
    w.c = (collocation){.size = UNKNOWNS,
                        .begin_count = U + 2,
                        .end_count = UNKNOWNS - U - 2,
                        .slopes = rope_slopes,
                        .begin = rope_begin,
                        .end = rope_end,
                        .data = &w.r,
                        .nodes = NODES,
                        .t = memory,
                        .y = memory + NODES,
                        .last = memory + NODES * (UNKNOWNS + 1)};
    treacle_status status = find_states(&w, height);
    *count = w.count;
    alloc_free(ctx, memory, values * sizeof(double));
    return status;
}
