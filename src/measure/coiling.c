// A thread that coils, in numbers.
//
// Measuring. The frame is cut into horizontal slabs, one cell high; volume and centre of the
// particles in a slab are the area A that the thread takes of it and a point of its axis. An axis
// that leans by an angle b from the vertical has A cos b = pi a^2. The pile goes from where it is
// widest, since a thread that lies on a belt touches it along a line only, up to the first slab
// whose A is at most twice that of the thread at its thinnest, where it leans by 60 degrees. That
// one is the foot: there the thread turns into the pile. It goes round the nozzle's axis with the
// angular velocity of the coil.
//
// Theory. Steady states of a slender rope, src/measure/rope.c, and the regime that they belong to;
// with H from foot to nozzle, a and U = Q/(pi a^2) at the foot, and nu:
//
//     viscous         Omega = 4 U/H
//     gravitational   Omega = 0.52 (g Q^3/(nu a^8))^(1/4)
//     inertial        Omega = 0.1756 (Q^4/(nu a^10))^(1/3)
//     between them    where Omega is near 1.2 sqrt(g/H), the pendulum of the tail, which then sways
//                     along: several states are possible
//
// Symbols: docs/math/coiling.md.
#include "treacle/coiling.h"

#include <math.h>

#include "base/alloc.h"
#include "base/check.h"
#include "measure/rope.h"

static const double pi = 3.14159265358979323846;

enum { TILE = 8 };

// A slab of the frame; its centre is that of its particles.
typedef struct slab {
    double volume;    // m^3
    double centre[2]; // m, x and z
} slab;

typedef struct slabs {
    int count; // from the domain's floor up
    slab* at;
} slabs;

static const treacle_array* array_of(const treacle_frame* frame, const char* name,
                                     treacle_type type, int components) {
    const treacle_array* found = treacle_frame_find(frame, name);
    bool is_right = found != NULL && found->type == type && found->components == components;
    return is_right ? found : NULL;
}

static treacle_status cut(treacle_context* ctx, const treacle_frame* frame, const slabs* out) {
    const treacle_array* coord = array_of(frame, "tile_coord", TREACLE_TYPE_I32, 3);
    const treacle_array* first = array_of(frame, "tile_first", TREACLE_TYPE_I64, 1);
    const treacle_array* position = array_of(frame, "position", TREACLE_TYPE_F32, 3);
    const treacle_array* volume = array_of(frame, "volume", TREACLE_TYPE_F32, 1);
    if (coord == NULL || first == NULL || position == NULL || volume == NULL ||
        volume->count != position->count || first->count != coord->count + 1) {
        return check_fail(ctx, TREACLE_ERR_FORMAT,
                          "frame %lld has no positions and volumes of particles",
                          (long long)frame->number);
    }
    const int64_t* begin = first->data;
    for (int64_t t = 0; t < coord->count; ++t) {
        const int32_t* tile = (const int32_t*)coord->data + 3 * t;
        for (int64_t i = begin[t]; i < begin[t + 1] && i < position->count; ++i) {
            const float* x = (const float*)position->data + 3 * i;
            double y = TILE * tile[1] + (double)x[1], v = (double)((const float*)volume->data)[i];
            if (y < 0.0 || y >= out->count) {
                continue;
            }
            slab* s = &out->at[(int)y];
            s->volume += v;
            s->centre[0] += v * (frame->origin[0] + frame->cell * (TILE * tile[0] + (double)x[0]));
            s->centre[1] += v * (frame->origin[2] + frame->cell * (TILE * tile[2] + (double)x[2]));
        }
    }
    for (int i = 0; i < out->count; ++i) {
        for (int k = 0; k < 2 && out->at[i].volume > 0.0; ++k) {
            out->at[i].centre[k] /= out->at[i].volume;
        }
    }
    return TREACLE_OK;
}

// The middle one of three slabs' volumes: a slab of few particles is no neck of the thread.
static double volume_about(const slabs* s, int i) {
    double a = s->at[i > 0 ? i - 1 : i].volume, b = s->at[i].volume;
    double c = s->at[i + 1 < s->count ? i + 1 : i].volume;
    return fmax(fmin(a, b), fmin(fmax(a, b), c));
}

// The lowest slab of the thread above its pile, or -1 if it ends in the air.
static int foot_of(const slabs* s) {
    double thinnest = INFINITY;
    for (int i = 0; i < s->count; ++i) {
        if (s->at[i].volume <= 0.0 && volume_about(s, i) <= 0.0) {
            return -1;
        }
        thinnest = fmin(thinnest, volume_about(s, i));
    }
    int foot = 0;
    for (int i = 1; i < s->count; ++i) {
        foot = s->at[i].volume > s->at[foot].volume ? i : foot;
    }
    while (foot < s->count && volume_about(s, foot) > 2.0 * thinnest) {
        foot += 1;
    }
    return foot;
}

// Across the axis, in the middle of a few slabs above the foot.
static double radius_at(const slabs* s, int foot, double cell) {
    enum { REACH = 6 };
    double sum = 0.0, count = 0.0;
    for (int i = foot + 1; i < foot + REACH && i + 1 < s->count; ++i) {
        double dx = 0.5 * (s->at[i + 1].centre[0] - s->at[i - 1].centre[0]) / cell;
        double dz = 0.5 * (s->at[i + 1].centre[1] - s->at[i - 1].centre[1]) / cell;
        sum += s->at[i].volume / (cell * sqrt(1.0 + dx * dx + dz * dz));
        count += 1.0;
    }
    return count > 0.0 ? sqrt(sum / (count * pi)) : 0.0;
}

treacle_status treacle_thread_find(treacle_context* ctx, const treacle_frame* frame,
                                   const treacle_nozzle* nozzle, treacle_thread* out) {
    *out = (treacle_thread){.time = frame->time};
    double rows = floor((nozzle->opening[1] - frame->origin[1]) / frame->cell);
    if (!(rows >= 4.0 && rows <= frame->cells[1])) {
        return check_fail(ctx, TREACLE_ERR_USAGE,
                          "the nozzle's opening is at height %g m: expected at least 4 cells above "
                          "the floor of the domain and below its top",
                          nozzle->opening[1]);
    }
    slabs s = {.count = (int)rows};
    TREACLE_TRY(alloc_zero(ctx, (size_t)s.count, sizeof(slab), "slabs", (void**)&s.at));
    treacle_status status = cut(ctx, frame, &s);
    int foot = status == TREACLE_OK ? foot_of(&s) : -1;
    if (foot > 0 && foot + 2 < s.count) {
        out->has_landed = true;
        out->foot[0] = s.at[foot].centre[0];
        out->foot[1] = frame->origin[1] + frame->cell * foot;
        out->foot[2] = s.at[foot].centre[1];
        out->radius = radius_at(&s, foot, frame->cell);
    }
    alloc_free(ctx, s.at, (size_t)s.count * sizeof(slab));
    return status;
}

static double angle_of(const treacle_nozzle* nozzle, const treacle_thread* thread) {
    return atan2(thread->foot[2] - nozzle->opening[2], thread->foot[0] - nozzle->opening[0]) /
           (2.0 * pi);
}

// The angle that differs by whole turns and is nearest to another one.
static double nearest_turn(double angle, double to) {
    return angle - floor(angle - to + 0.5);
}

// The first thread of the time at the end in which the foot never turns back by more than a tenth
// of a turn. *turned is how far it turns, positive or negative.
static int64_t steady_from(const treacle_nozzle* nozzle, int64_t count,
                           const treacle_thread* threads, double way, double* turned) {
    int64_t from = count - 1;
    double angle = angle_of(nozzle, &threads[from]), end = angle, back = angle;
    for (int64_t i = count - 2; i >= 0 && threads[i].has_landed; --i) {
        angle = nearest_turn(angle_of(nozzle, &threads[i]), angle);
        if (way * (angle - back) > 0.1) {
            break;
        }
        if (way * (angle - back) <= 0.0) {
            back = angle;
            from = i;
        }
    }
    *turned = end - back;
    return from;
}

static void fit(const treacle_nozzle* nozzle, int64_t count, const treacle_thread* threads,
                treacle_coiling* out) {
    double n = (double)count, angle = angle_of(nozzle, &threads[0]);
    double st = 0.0, sa = 0.0, stt = 0.0, sta = 0.0, saa = 0.0, t0 = threads[0].time;
    for (int64_t i = 0; i < count; ++i) {
        double t = threads[i].time - t0;
        angle = nearest_turn(angle_of(nozzle, &threads[i]), angle);
        st += t;
        sa += angle;
        stt += t * t;
        sta += t * angle;
        saa += angle * angle;
        out->height += (nozzle->opening[1] - threads[i].foot[1]) / n;
        out->thread_radius += threads[i].radius / n;
        out->radius += hypot(threads[i].foot[0] - nozzle->opening[0],
                             threads[i].foot[2] - nozzle->opening[2]) /
                       n;
    }
    double tt = stt - st * st / n, ta = sta - st * sa / n, aa = saa - sa * sa / n;
    double slope = tt > 0.0 ? ta / tt : 0.0;
    out->frequency = fabs(slope);
    out->spread = sqrt(fmax(aa - slope * ta, 0.0) / n);
}

treacle_coiling treacle_coiling_measure(const treacle_nozzle* nozzle, int64_t count,
                                        const treacle_thread* threads) {
    treacle_coiling out = {0};
    while (count > 0 && !threads[count - 1].has_landed) {
        count -= 1;
    }
    if (count < 2) {
        return out;
    }
    double there = 0.0, back = 0.0;
    int64_t from = steady_from(nozzle, count, threads, 1.0, &there);
    int64_t other = steady_from(nozzle, count, threads, -1.0, &back);
    from = fabs(back) > fabs(there) ? other : from;
    out.turns = fmax(fabs(there), fabs(back));
    out.from = threads[from].time;
    out.to = threads[count - 1].time;
    fit(nozzle, count - from, threads + from, &out);
    return out;
}

// Omega of the regimes in closed form, rad/s.
typedef struct rope_limits {
    double viscous, gravitational, inertial, pendulum;
} rope_limits;

static rope_limits limits_of(const treacle_nozzle* nozzle, double height, double thread_radius) {
    double a2 = thread_radius * thread_radius, nu = nozzle->viscosity, g = nozzle->gravity;
    double u = nozzle->speed * nozzle->radius * nozzle->radius / a2, flux = pi * a2 * u;
    return (rope_limits){
        .viscous = 4.0 * u / height,
        .gravitational = 0.52 * pow(g * pow(flux, 3.0) / (nu * pow(a2, 4.0)), 0.25),
        .inertial = 0.1756 * cbrt(pow(flux, 4.0) / (nu * pow(a2, 5.0))),
        .pendulum = 1.2 * sqrt(g / height),
    };
}

static treacle_coiling_regime regime_of(const rope_limits* l, double gravity_number) {
    double calm = fmax(l->viscous, l->gravitational);
    bool is_heavy = gravity_number >= 100.0;
    bool sways = is_heavy && calm > 0.8 * l->pendulum && calm < 3.0 * l->pendulum;
    return l->inertial > calm ? TREACLE_COILING_INERTIAL
           : sways            ? TREACLE_COILING_INERTIO_GRAVITATIONAL
           : is_heavy         ? TREACLE_COILING_GRAVITATIONAL
                              : TREACLE_COILING_VISCOUS;
}

treacle_status treacle_coiling_predict(treacle_context* ctx, const treacle_nozzle* nozzle,
                                       double height, double thread_radius,
                                       treacle_coiling_theory* out) {
    double a2 = thread_radius * thread_radius, nu = nozzle->viscosity;
    double u = nozzle->speed * nozzle->radius * nozzle->radius / a2;
    if (!(height > 0.0 && isfinite(height) && thread_radius > 0.0)) {
        return check_fail(ctx, TREACLE_ERR_USAGE,
                          "a thread of radius %g m that falls by %g m: expected more than 0",
                          thread_radius, height);
    }
    *out = (treacle_coiling_theory){
        .gravity_number = 4.0 * nozzle->gravity * pow(height, 4.0) / (3.0 * nu * u * a2),
        .reynolds_number = 4.0 * u * pow(height, 3.0) / (3.0 * nu * a2),
    };
    rope_limits limits = limits_of(nozzle, height, thread_radius);
    out->regime = regime_of(&limits, out->gravity_number);
    out->limit = fmax(fmax(limits.viscous, limits.gravitational), limits.inertial) / (2.0 * pi);
    rope_state states[ROPE_BRANCHES];
    TREACLE_TRY(rope_solve(ctx, nozzle, height, states, &out->count));
    for (int i = 0; i < out->count; ++i) {
        out->frequency[i] = states[i].frequency / (2.0 * pi);
        out->radius[i] = states[i].radius;
        out->thread_radius[i] = states[i].thread;
    }
    return TREACLE_OK;
}

const char* treacle_coiling_regime_name(treacle_coiling_regime regime) {
    static const char* const names[TREACLE_COILING_REGIME_COUNT] = {
        "viscous", "gravitational", "inertio-gravitational", "inertial"};
    return regime >= 0 && regime < TREACLE_COILING_REGIME_COUNT ? names[regime] : "unknown";
}
