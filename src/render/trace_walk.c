// Random walks below a surface, many in step.
//
// A walk takes hundreds of steps. Each has lanes in the arrays below; loops over lanes do the same
// thing to all and become vector code, so exponentials, logarithms and sines are short polynomials.
// Random numbers are a plain sequence whose start is one of the path's. A walk that ends gives its
// lane to the last one.
#include <string.h>

#include "render/trace_bsdf.h"
#include "render/trace_subsurface.h"

enum { WALK_MAX = 1024, ROULETTE_FROM = 8, MOST = TRACE_WALKS_MAX };

typedef struct walks {
    int count;
    trace_walker* who[MOST];
    uint64_t state[MOST]; // of the random numbers
    int steps[MOST];
    float origin[3][MOST], direction[3][MOST];
    float weight[3][MOST], sigma_t[3][MOST], sigma_s[3][MOST];
    float far[MOST];  // m, the free flight
    float u[2][MOST]; // random, [0, 1)
    trace_touch touch[MOST];
    float is_out[MOST]; // 1: met the surface
} walks;

static uint64_t next_bits(uint64_t* state) {
    *state += 0x9e3779b97f4a7c15u;
    uint64_t x = *state;
    x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93u;
    x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93u;
    return x ^ (x >> 32);
}

static float next_one(uint64_t* state) {
    return trace_unit((uint32_t)next_bits(state));
}

static void draw_pairs(walks* w) {
    for (int i = 0; i < w->count; ++i) {
        uint64_t bits = next_bits(&w->state[i]);
        w->u[0][i] = (float)(int32_t)((uint32_t)bits >> 8) * 0x1p-24f;
        w->u[1][i] = (float)(int32_t)(bits >> 40) * 0x1p-24f;
    }
}

static inline int32_t bits_of(float x) {
    int32_t out;
    memcpy(&out, &x, sizeof(out));
    return out;
}

static inline float float_of(int32_t bits) {
    float out;
    memcpy(&out, &bits, sizeof(out));
    return out;
}

// -log x for x in (0, 1], to 3e-6.
static inline float minus_log(float x) {
    int32_t from_root = bits_of(x) - 0x3f3504f3; // mantissa into [sqrt 1/2, sqrt 2)
    float power = (float)(from_root >> 23);
    float y = float_of((from_root & 0x007fffff) + 0x3f3504f3);
    // log y = 2 artanh(s), s = (y - 1) / (y + 1), |s| < 0.172.
    float s = (y - 1.0f) / (y + 1.0f), q = s * s;
    float log_y = s * (2.0f + q * (0.66666667f + q * (0.4f + q * 0.28571429f)));
    return -(log_y + power * 0.69314718f);
}

// exp(-x) for x >= 0, to 2e-6.
static inline float exp_minus(float x) {
    float t = trace_min(x * 1.44269504f, 120.0f);
    int32_t whole = (int32_t)t;
    float f = (float)whole - t; // 2^f, f in (-1, 0]
    float p =
        1.0f +
        f * (0.69314718f +
             f * (0.24022651f +
                  f * (0.05550411f + f * (0.00961813f + f * (0.00133336f + f * 0.00015469f)))));
    return p * float_of((127 - whole) << 23);
}

// The channel decides by its fraction of the weight, and u how far light flies.
static void fly(walks* w) {
    for (int i = 0; i < w->count; ++i) {
        float a = w->weight[0][i], b = a + w->weight[1][i], sum = b + w->weight[2][i];
        float pick = w->u[0][i] * sum;
        float sigma = pick < b ? w->sigma_t[1][i] : w->sigma_t[2][i];
        sigma = pick < a ? w->sigma_t[0][i] : sigma;
        w->far[i] = minus_log(1.0f - w->u[1][i]) / sigma;
    }
}

static void trace_all(walks* w) {
    for (int i = 0; i < w->count; ++i) {
        const trace_entry* from = &w->who[i]->from;
        trace_ray ray = {
            .origin = {w->origin[0][i], w->origin[1][i], w->origin[2][i]},
            .direction = {w->direction[0][i], w->direction[1][i], w->direction[2][i]},
            .far = w->far[i],
            .time = from->time,
        };
        trace_rays_hit(from->rays, &ray, &w->touch[i]);
        bool is_out = w->touch[i].distance < INFINITY;
        w->is_out[i] = is_out ? 1.0f : 0.0f;
        w->far[i] = is_out ? w->touch[i].distance : w->far[i];
    }
}

// Moves on by `far` and weighs what is left: the channel was drawn, so all of them together are the
// density of the flight. Where there is next to nothing of it the weight becomes 0.
static void weigh(walks* w) {
    for (int i = 0; i < w->count; ++i) {
        float passed[3], density = 0.0f, sum = 0.0f;
        for (int c = 0; c < 3; ++c) {
            passed[c] = exp_minus(w->far[i] * w->sigma_t[c][i]);
            float event = w->is_out[i] > 0.0f ? 1.0f : w->sigma_t[c][i];
            density += w->weight[c][i] * passed[c] * event;
            sum += w->weight[c][i];
        }
        float scale = density > 1e-30f * sum ? sum / density : 0.0f;
        for (int c = 0; c < 3; ++c) {
            float event = w->is_out[i] > 0.0f ? 1.0f : w->sigma_s[c][i];
            w->weight[c][i] *= scale * passed[c] * event;
            w->origin[c][i] += w->far[i] * w->direction[c][i];
        }
    }
}

// Evenly over all directions, for those that did not meet the surface.
static void turn(walks* w) {
    for (int i = 0; i < w->count; ++i) {
        float z = 1.0f - 2.0f * w->u[0][i], root = sqrtf(trace_max(1.0f - z * z, 0.0f));
        // sin and cos of pi t, t in [-1, 1), by those of half of it and polynomials.
        float t = w->u[1][i] - 0.5f, q = t * t;
        float s =
            t * (3.14159265f +
                 q * (-5.16771278f + q * (2.55016404f + q * (-0.59926453f + q * 0.08214589f))));
        float c =
            1.0f +
            q * (-4.93480220f +
                 q * (4.05871213f + q * (-1.33526277f + q * (0.23533063f + q * -0.02580689f))));
        float keep = w->is_out[i];
        w->direction[0][i] = keep > 0.0f ? w->direction[0][i] : root * 2.0f * s * c;
        w->direction[1][i] = keep > 0.0f ? w->direction[1][i] : root * (1.0f - 2.0f * s * s);
        w->direction[2][i] = keep > 0.0f ? w->direction[2][i] : z;
    }
}

static void move_lane(walks* w, int from, int to) {
    w->who[to] = w->who[from];
    w->state[to] = w->state[from];
    w->steps[to] = w->steps[from];
    w->touch[to] = w->touch[from];
    w->is_out[to] = w->is_out[from];
    for (int c = 0; c < 3; ++c) {
        w->origin[c][to] = w->origin[c][from];
        w->direction[c][to] = w->direction[c][from];
        w->weight[c][to] = w->weight[c][from];
        w->sigma_t[c][to] = w->sigma_t[c][from];
        w->sigma_s[c][to] = w->sigma_s[c][from];
    }
}

static v3f lane_of(float values[3][MOST], int i) {
    return v3f_make(values[0][i], values[1][i], values[2][i]);
}

static void set_lane(float values[3][MOST], int i, v3f value) {
    values[0][i] = value.x;
    values[1][i] = value.y;
    values[2][i] = value.z;
}

// At the surface from inside: true if the walk goes out, else it was reflected.
static bool leaves(walks* w, int i) {
    trace_walker* who = w->who[i];
    const trace_touch* touch = &w->touch[i];
    v3f direction = lane_of(w->direction, i), place = lane_of(w->origin, i);
    float cosine = v3f_dot(direction, touch->normal), unused, eta = who->m->eta;
    bool is_reflected = next_one(&w->state[i]) < trace_fresnel(cosine, 1.0f / eta, &unused);
    if (!is_reflected || eta <= 1.0f) {
        v3f normal = cosine < 0.0f ? v3f_negate(touch->normal) : touch->normal;
        who->out = (trace_exit){place, normal, lane_of(w->weight, i), *touch};
        who->is_out = true;
        return true;
    }
    float back = cosine > 0.0f ? -who->from.epsilon : who->from.epsilon;
    set_lane(w->direction, i, v3f_reflect(v3f_negate(direction), touch->normal));
    set_lane(w->origin, i, v3f_madd(place, back, touch->normal));
    return false;
}

// Russian roulette: walks that carry little end early.
static bool goes_on(walks* w, int i) {
    float most = v3f_max(lane_of(w->weight, i));
    w->steps[i] += 1;
    if (w->is_out[i] > 0.0f) {
        return most > 0.0f && !leaves(w, i) && w->steps[i] < WALK_MAX;
    }
    if (most >= 1.0f || w->steps[i] <= ROULETTE_FROM) {
        return most > 0.0f && w->steps[i] < WALK_MAX;
    }
    if (!(next_one(&w->state[i]) < most)) {
        return false;
    }
    set_lane(w->weight, i, v3f_scale(1.0f / most, lane_of(w->weight, i)));
    return w->steps[i] < WALK_MAX;
}

static void trace_walk_begin(walks* w, trace_walker* who) {
    int i = w->count++;
    trace_random* r = who->r;
    v3f inward = v3f_negate(who->from.normal);
    who->is_out = false;
    w->who[i] = who;
    w->steps[i] = 0;
    w->state[i] = (uint64_t)r->pixel << 32 ^ (uint64_t)trace_hash(r->sample + 0x51633e2du) << 16 ^
                  trace_hash(r->dimension);
    set_lane(w->direction, i, v3f_to_world(trace_sample_cosine(trace_random_pair(r)), inward));
    set_lane(w->origin, i, v3f_madd(who->from.place, who->from.epsilon, inward));
    set_lane(w->weight, i, v3f_grey(1.0f));
    set_lane(w->sigma_s, i, who->m->scatter);
    set_lane(w->sigma_t, i, v3f_add(who->m->scatter, who->m->absorb));
}

void trace_walks(trace_walker* walkers, int count) {
    TREACLE_ASSERT(count >= 0 && count <= TRACE_WALKS_MAX);
    walks w;
    w.count = 0;
    for (int i = 0; i < count; ++i) {
        trace_walk_begin(&w, &walkers[i]);
    }
    while (w.count > 0) {
        draw_pairs(&w);
        fly(&w);
        trace_all(&w);
        weigh(&w);
        draw_pairs(&w);
        turn(&w);
        for (int i = w.count - 1; i >= 0; --i) {
            if (!goes_on(&w, i)) {
                w.count -= 1;
                move_lane(&w, w.count, i);
            }
        }
    }
}
