#include "render/trace_bsdf.h"

#include "base/check.h"

float trace_fresnel(float cos_i, float eta, float* cos_t) {
    TREACLE_ASSERT(cos_t != NULL);
    float c = trace_min(fabsf(cos_i), 1.0f);
    float sin2 = (1.0f - c * c) / (eta * eta);
    if (sin2 >= 1.0f) {
        *cos_t = 0.0f;
        return 1.0f;
    }
    float t = sqrtf(1.0f - sin2);
    float s = (c - eta * t) / (c + eta * t), p = (eta * c - t) / (eta * c + t);
    *cos_t = t;
    return 0.5f * (s * s + p * p);
}

float trace_fresnel_mean(float eta) {
    enum { STEPS = 256 };
    float sum = 0.0f, unused;
    for (int i = 0; i < STEPS; ++i) {
        float c = ((float)i + 0.5f) / STEPS;
        sum += 2.0f * c * trace_fresnel(c, eta, &unused) / STEPS;
    }
    return sum;
}

v3f trace_fresnel_metal(v3f normal, float cos_i) {
    float m = trace_max(1.0f - fabsf(cos_i), 0.0f), m2 = m * m;
    return v3f_mix(normal, v3f_grey(1.0f), m2 * m2 * m);
}

v3f trace_sample_cosine(trace_pair u) {
    float r = sqrtf(u.a), phi = 2.0f * TRACE_PI * u.b;
    return v3f_make(r * cosf(phi), r * sinf(phi), sqrtf(trace_max(1.0f - u.a, 0.0f)));
}

v3f trace_sample_sphere(trace_pair u) {
    float z = 1.0f - 2.0f * u.a, r = sqrtf(trace_max(1.0f - z * z, 0.0f)),
          phi = 2.0f * TRACE_PI * u.b;
    return v3f_make(r * cosf(phi), r * sinf(phi), z);
}

v3f trace_sample_phase(v3f forward, float g, trace_pair u) {
    TREACLE_ASSERT(g > -1.0f && g < 1.0f);
    float c = 1.0f - 2.0f * u.a;
    if (fabsf(g) > 1e-3f) {
        float s = (1.0f - g * g) / (1.0f - g + 2.0f * g * u.a);
        c = (1.0f + g * g - s * s) / (2.0f * g);
    }
    float r = sqrtf(trace_max(1.0f - c * c, 0.0f)), phi = 2.0f * TRACE_PI * u.b;
    return v3f_to_world(v3f_make(r * cosf(phi), r * sinf(phi), c), forward);
}

// Smith's function for GGX: rays that escape are 1 / (1 + lambda).
static float lambda_of(v3f w, float alpha) {
    float z2 = w.z * w.z;
    float tan2 = (1.0f - z2) / trace_max(z2, 1e-12f);
    return 0.5f * (sqrtf(1.0f + alpha * alpha * trace_max(tan2, 0.0f)) - 1.0f);
}

static float density_of(v3f m, float alpha) {
    float a2 = alpha * alpha, d = m.z * m.z * (a2 - 1.0f) + 1.0f;
    return a2 / (TRACE_PI * d * d);
}

// A facet out of those that w (z > 0) sees.
static v3f sample_facet(v3f w, float alpha, trace_pair u) {
    v3f v = v3f_normalise(v3f_make(alpha * w.x, alpha * w.y, w.z));
    float square = v.x * v.x + v.y * v.y;
    v3f t1 = square > 1e-12f ? v3f_scale(1.0f / sqrtf(square), v3f_make(-v.y, v.x, 0.0f))
                             : v3f_make(1.0f, 0.0f, 0.0f);
    v3f t2 = v3f_cross(v, t1);
    float r = sqrtf(u.a), phi = 2.0f * TRACE_PI * u.b;
    float x = r * cosf(phi), y = r * sinf(phi), s = 0.5f * (1.0f + v.z);
    y = (1.0f - s) * sqrtf(trace_max(1.0f - x * x, 0.0f)) + s * y;
    float z = sqrtf(trace_max(1.0f - x * x - y * y, 0.0f));
    v3f n = v3f_madd(v3f_madd(v3f_scale(x, t1), y, t2), z, v);
    return v3f_normalise(v3f_make(alpha * n.x, alpha * n.y, trace_max(n.z, 1e-6f)));
}

static float energy_at(const trace_facets* f, bool is_inside, float cosine) {
    float x = sqrtf(trace_min(trace_max(cosine, 0.0f), 1.0f)) * TRACE_ENERGY_STEPS;
    int i = (int)x < TRACE_ENERGY_STEPS ? (int)x : TRACE_ENERGY_STEPS - 1;
    const float* e = f->energy[is_inside];
    return e[i] + (x - (float)i) * (e[i + 1] - e[i]);
}

// G2 / G1 of a reflection or refraction from w_o to w_i.
static float shadow_ratio(v3f w_o, v3f w_i, float alpha) {
    float o = lambda_of(w_o, alpha), i = lambda_of(w_i, alpha);
    return (1.0f + o) / (1.0f + o + i);
}

bool trace_metal_sample(const trace_facets* f, v3f colour, v3f w_o, trace_pair u,
                        trace_bounce* out) {
    out->is_through = false;
    if (w_o.z <= 0.0f) {
        return false;
    }
    if (f->alpha < TRACE_SMOOTH) {
        out->direction = v3f_make(-w_o.x, -w_o.y, w_o.z);
        out->weight = trace_fresnel_metal(colour, w_o.z);
        out->pdf = 0.0f;
        return true;
    }
    v3f m = sample_facet(w_o, f->alpha, u);
    out->direction = v3f_reflect(w_o, m);
    if (out->direction.z <= 0.0f) {
        return false;
    }
    float cos_m = v3f_dot(w_o, m);
    float scale = shadow_ratio(w_o, out->direction, f->alpha) / energy_at(f, false, w_o.z);
    out->weight = v3f_scale(scale, trace_fresnel_metal(colour, cos_m));
    out->pdf = density_of(m, f->alpha) / (4.0f * w_o.z * (1.0f + lambda_of(w_o, f->alpha)));
    return true;
}

v3f trace_metal_value(const trace_facets* f, v3f colour, v3f w_o, v3f w_i, float* pdf) {
    *pdf = 0.0f;
    if (w_o.z <= 0.0f || w_i.z <= 0.0f || f->alpha < TRACE_SMOOTH) {
        return v3f_grey(0.0f);
    }
    v3f m = v3f_normalise(v3f_add(w_o, w_i));
    *pdf = density_of(m, f->alpha) / (4.0f * w_o.z * (1.0f + lambda_of(w_o, f->alpha)));
    float scale = *pdf * shadow_ratio(w_o, w_i, f->alpha) / energy_at(f, false, w_o.z);
    return v3f_scale(scale, trace_fresnel_metal(colour, v3f_dot(w_o, m)));
}

float trace_reflect_chance(float fresnel, float least, float weight[2]) {
    // Next to nothing stays next to nothing.
    float chance = trace_max(fresnel, trace_min(least, 8.0f * fresnel));
    weight[0] = chance > 0.0f ? fresnel / chance : 0.0f;
    weight[1] = chance < 1.0f ? (1.0f - fresnel) / (1.0f - chance) : 0.0f;
    return chance;
}

// Without the division by the energy.
static bool sample_glass(const trace_facets* f, const trace_meeting* at, trace_pair facet,
                         float choice, trace_bounce* out) {
    v3f w_o = at->w_o;
    float inner = at->outside > 0.0f ? f->eta / at->outside : f->eta, weight[2];
    float eta = at->is_inside ? 1.0f / inner : inner;
    bool is_rough = f->alpha >= TRACE_SMOOTH;
    v3f m = is_rough ? sample_facet(w_o, f->alpha, facet) : v3f_make(0.0f, 0.0f, 1.0f);
    float cos_o = v3f_dot(w_o, m), cos_t = 0.0f;
    float fresnel = trace_fresnel(cos_o, eta, &cos_t);
    out->is_through = choice >= trace_reflect_chance(fresnel, at->least, weight);
    out->direction = v3f_reflect(w_o, m);
    if (out->is_through) {
        out->direction = v3f_madd(v3f_scale(-1.0f / eta, w_o), cos_o / eta - cos_t, m);
    }
    bool is_right_side = out->is_through ? out->direction.z < 0.0f : out->direction.z > 0.0f;
    float shadow = is_rough ? shadow_ratio(w_o, out->direction, f->alpha) : 1.0f;
    out->pdf = 0.0f;
    out->weight = v3f_grey(shadow * weight[out->is_through]);
    return is_right_side;
}

bool trace_glass_sample(const trace_facets* f, const trace_meeting* at, trace_random* r,
                        trace_bounce* out) {
    if (at->w_o.z <= 0.0f) {
        return false;
    }
    trace_pair u = trace_random_pair(r);
    float choice = trace_random_one(r);
    if (!sample_glass(f, at, u, choice, out)) {
        return false;
    }
    if (f->alpha >= TRACE_SMOOTH) {
        out->weight = v3f_scale(1.0f / energy_at(f, at->is_inside, at->w_o.z), out->weight);
    }
    out->direction = v3f_normalise(out->direction);
    return true;
}

// The mean weight of samples that are not divided by it, at one angle.
static float trace_bsdf_measure(const trace_facets* f, bool is_inside, float cosine) {
    enum { SAMPLES = 1024 };
    v3f w = v3f_make(sqrtf(trace_max(1.0f - cosine * cosine, 0.0f)), 0.0f, cosine);
    double sum = 0.0;
    for (uint32_t i = 0; i < SAMPLES; ++i) {
        trace_random r = trace_random_make(1u, 2u, i);
        trace_pair u = trace_random_pair(&r);
        trace_bounce b;
        if (f->eta > 0.0f) { // both ways on, by their fractions
            float unused, eta = is_inside ? 1.0f / f->eta : f->eta;
            float fraction = trace_fresnel(v3f_dot(w, sample_facet(w, f->alpha, u)), eta, &unused);
            trace_meeting at = {.w_o = w, .is_inside = is_inside};
            bool is_back = sample_glass(f, &at, u, 0.0f, &b);
            sum += is_back ? (double)(fraction * b.weight.x) : 0.0;
            bool is_on = fraction < 1.0f && sample_glass(f, &at, u, 1.0f, &b);
            sum += is_on ? (double)((1.0f - fraction) * b.weight.x) : 0.0;
        } else {
            v3f out = v3f_reflect(w, sample_facet(w, f->alpha, u));
            sum += out.z > 0.0f ? (double)shadow_ratio(w, out, f->alpha) : 0.0;
        }
    }
    return (float)(sum / SAMPLES);
}

void trace_facets_init(trace_facets* f, float alpha, float eta) {
    *f = (trace_facets){.alpha = alpha, .eta = eta};
    for (int side = 0; side < 2; ++side) {
        for (int i = 0; i <= TRACE_ENERGY_STEPS; ++i) {
            // Finer where light grazes, where it changes fast.
            float root = trace_max((float)i / TRACE_ENERGY_STEPS, 0.01f), cosine = root * root;
            bool is_needed = alpha >= TRACE_SMOOTH && (side == 0 || eta > 0.0f);
            f->energy[side][i] =
                is_needed ? trace_max(trace_bsdf_measure(f, side == 1, cosine), 0.05f) : 1.0f;
        }
    }
}
