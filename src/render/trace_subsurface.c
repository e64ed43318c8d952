#include "render/trace_subsurface.h"

#include "render/trace_bsdf.h"

enum { PROBE_HITS_MAX = 8 };

static trace_dipole dipole_of(float scatter, float absorb, float eta) {
    float sigma_t = trace_max(scatter + absorb, 1e-6f);
    float f_dr = trace_fresnel_mean(1.0f / eta); // of diffuse light, inside
    float a = (1.0f + f_dr) / (1.0f - f_dr), z = 1.0f / sigma_t;
    return (trace_dipole){scatter / sigma_t, sqrtf(3.0f * absorb * sigma_t), z,
                          z * (1.0f + 4.0f / 3.0f * a)};
}

static float profile_of(const trace_dipole* d, float radius) {
    float sum = 0.0f;
    const float z[2] = {d->z_r, d->z_v};
    for (int i = 0; i < 2; ++i) {
        float away = sqrtf(radius * radius + z[i] * z[i]);
        float s = d->sigma_tr * away;
        sum += z[i] * (s + 1.0f) * expf(-s) / (away * away * away);
    }
    return d->albedo / (4.0f * TRACE_PI) * sum;
}

float trace_dipole_total(float scatter, float absorb, float eta) {
    trace_dipole d = dipole_of(scatter, absorb, eta);
    float root = sqrtf(3.0f * (1.0f - d.albedo));
    float a = 0.75f * (d.z_v / d.z_r - 1.0f);
    return 0.5f * d.albedo * (1.0f + expf(-4.0f / 3.0f * a * root)) * expf(-root);
}

float trace_dipole_profile(const trace_medium* m, int channel, float radius) {
    TREACLE_ASSERT(channel >= 0 && channel < TRACE_CHANNELS && radius >= 0.0f);
    return profile_of(&m->dipole[channel], radius);
}

// Light within a radius, by integration of 2 pi r R_d(r): z / d exp(-sigma_tr d) has that
// derivative.
static float fraction_within(const trace_dipole* d, float radius) {
    float all = 0.0f, beyond = 0.0f;
    const float z[2] = {d->z_r, d->z_v};
    for (int i = 0; i < 2; ++i) {
        float away = sqrtf(radius * radius + z[i] * z[i]);
        all += expf(-d->sigma_tr * z[i]);
        beyond += z[i] / away * expf(-d->sigma_tr * away);
    }
    return 1.0f - beyond / all;
}

void trace_medium_init(trace_medium* m, v3f scatter, v3f absorb, float eta) {
    *m = (trace_medium){.scatter = scatter, .absorb = absorb, .eta = eta};
    for (int c = 0; c < TRACE_CHANNELS; ++c) {
        trace_dipole d = dipole_of(v3f_at(scatter, c), v3f_at(absorb, c), eta);
        m->dipole[c] = d;
        for (int i = 0; i <= TRACE_PROFILE_STEPS; ++i) {
            // The last step would be infinity; what lies beyond is given up.
            float fraction = 0.998f * (float)i / TRACE_PROFILE_STEPS;
            float low = 0.0f, high = 1e4f * d.z_r;
            for (int round = 0; round < 48; ++round) {
                float middle = 0.5f * (low + high);
                bool is_below = fraction_within(&d, middle) < fraction;
                low = is_below ? middle : low;
                high = is_below ? high : middle;
            }
            m->radius[c][i] = 0.5f * (low + high);
        }
    }
    m->total = v3f_make(trace_dipole_total(scatter.x, absorb.x, eta),
                        trace_dipole_total(scatter.y, absorb.y, eta),
                        trace_dipole_total(scatter.z, absorb.z, eta));
}

static float sample_radius(const trace_medium* m, int channel, float u) {
    float x = u * TRACE_PROFILE_STEPS;
    int i = (int)x < TRACE_PROFILE_STEPS ? (int)x : TRACE_PROFILE_STEPS - 1;
    const float* r = m->radius[channel];
    return r[i] + (x - (float)i) * (r[i + 1] - r[i]);
}

// Density per area of sample_radius: each step of the table is even in the radius.
static float radius_density(const trace_medium* m, int channel, float radius) {
    const float* r = m->radius[channel];
    if (radius >= r[TRACE_PROFILE_STEPS]) {
        return 0.0f;
    }
    int low = 0, high = TRACE_PROFILE_STEPS;
    while (high - low > 1) {
        int middle = (low + high) / 2;
        low = r[middle] <= radius ? middle : low;
        high = r[middle] <= radius ? high : middle;
    }
    float width = trace_max(r[low + 1] - r[low], 1e-12f);
    return 1.0f / (TRACE_PROFILE_STEPS * width * 2.0f * TRACE_PI * trace_max(radius, 1e-9f));
}

// Probes run along the normal half of the time and along each tangent a quarter [KCK13].
static const float axis_fraction[3] = {0.25f, 0.25f, 0.5f};

static float probe_density(const trace_medium* m, const v3f axis[3], v3f offset, v3f normal) {
    float sum = 0.0f;
    const float local[3] = {v3f_dot(offset, axis[0]), v3f_dot(offset, axis[1]),
                            v3f_dot(offset, axis[2])};
    for (int a = 0; a < 3; ++a) {
        float x = local[(a + 1) % 3], y = local[(a + 2) % 3];
        float facing = fabsf(v3f_dot(normal, axis[a]));
        for (int c = 0; c < TRACE_CHANNELS; ++c) {
            sum += axis_fraction[a] / TRACE_CHANNELS * facing *
                   radius_density(m, c, sqrtf(x * x + y * y));
        }
    }
    return sum;
}

// All places where the probe meets the medium's surface.
static int probe(const trace_entry* from, trace_ray ray, trace_touch hits[PROBE_HITS_MAX]) {
    int count = 0;
    while (count < PROBE_HITS_MAX && ray.near < ray.far) {
        trace_touch touch;
        trace_rays_hit(from->rays, &ray, &touch);
        if (!(touch.distance < INFINITY)) {
            break;
        }
        if (touch.mesh == from->mesh) {
            hits[count++] = touch;
        }
        ray.near = touch.distance + 0.1f * from->epsilon;
    }
    return count;
}

bool trace_dipole_sample(const trace_medium* m, const trace_entry* from, trace_random* r,
                         trace_exit* out) {
    TREACLE_ASSERT(from->rays != NULL && from->epsilon > 0.0f);
    v3f axis[3];
    axis[2] = from->normal;
    v3f_frame(from->normal, &axis[0], &axis[1]);
    trace_pair choice = trace_random_pair(r), u = trace_random_pair(r);
    int a = choice.a < 0.25f ? 0 : choice.a < 0.5f ? 1 : 2;
    int channel = (int)(choice.b * TRACE_CHANNELS);
    float pick = choice.b * TRACE_CHANNELS - (float)channel;
    float radius = sample_radius(m, channel, u.a), phi = 2.0f * TRACE_PI * u.b;
    float limit = m->radius[channel][TRACE_PROFILE_STEPS];
    float half = sqrtf(trace_max(limit * limit - radius * radius, 0.0f));
    v3f centre = v3f_madd(from->place, radius * cosf(phi), axis[(a + 1) % 3]);
    centre = v3f_madd(centre, radius * sinf(phi), axis[(a + 2) % 3]);
    trace_ray ray = {.origin = v3f_madd(centre, half, axis[a]),
                     .direction = v3f_negate(axis[a]),
                     .far = 2.0f * half,
                     .time = from->time};
    trace_touch hits[PROBE_HITS_MAX];
    int count = probe(from, ray, hits);
    if (count == 0) {
        return false;
    }
    int chosen = (int)(pick * (float)count);
    out->touch = hits[chosen < count ? chosen : count - 1];
    out->place = v3f_madd(ray.origin, out->touch.distance, ray.direction);
    out->normal = out->touch.normal;
    v3f offset = v3f_sub(out->place, from->place);
    float density = probe_density(m, axis, offset, out->normal) / (float)count;
    if (!(density > 0.0f)) {
        return false;
    }
    float away = v3f_length(offset);
    out->weight = v3f_scale(1.0f / density, v3f_make(trace_dipole_profile(m, 0, away),
                                                     trace_dipole_profile(m, 1, away),
                                                     trace_dipole_profile(m, 2, away)));
    return true;
}
