// Light below a translucent surface: the dipole of Jensen et al., and random walks.
//
// Both get a medium of reduced scattering sigma_s' and absorption sigma_a (per metre, by colour),
// with the index eta. With sigma_t' = sigma_s' + sigma_a, alpha' = sigma_s' / sigma_t',
// sigma_tr = sqrt(3 sigma_a sigma_t'), A = (1 + F_dr) / (1 - F_dr), z_r = 1 / sigma_t',
// z_v = z_r (1 + 4 A / 3), d = sqrt(r^2 + z^2) [JMLH01 eq. 4]:
//
//     R_d(r) = alpha' / (4 pi) sum over r, v of z (sigma_tr d + 1) exp(-sigma_tr d) / d^3
//
// and over the whole plane, by integration,
//
//     R_d = alpha' / 2 (1 + exp(-4/3 A sqrt(3 (1 - alpha')))) exp(-sqrt(3 (1 - alpha'))).
//
// The walk follows a path that enters diffusely, scatters evenly in all directions with sigma_s',
// is reflected back inside after Fresnel, and leaves diffusely. It holds for bodies of any shape,
// which the dipole, made for a half space, does not.
#pragma once

#include "render/trace_random.h"
#include "render/trace_rays.h"

enum { TRACE_PROFILE_STEPS = 128, TRACE_CHANNELS = 3 };

typedef struct trace_dipole {
    float albedo, sigma_tr, z_r, z_v;
} trace_dipole;

typedef struct trace_medium {
    v3f scatter, absorb; // 1/m
    float eta;
    trace_dipole dipole[TRACE_CHANNELS];
    // By channel of the dipole: the radii within which the fractions i / STEPS of its light stay,
    // m.
    float radius[TRACE_CHANNELS][TRACE_PROFILE_STEPS + 1];
    v3f total; // R_d of the half space
} trace_medium;

/// Fills the tables.
void trace_medium_init(trace_medium* m, v3f scatter, v3f absorb, float eta);

/// R_d(r) of one channel, 1/m^2.
float trace_dipole_profile(const trace_medium* m, int channel, float radius);
/// R_d of a half space, by the formula.
float trace_dipole_total(float scatter, float absorb, float eta);

/// Where light that leaves at a point came in.
typedef struct trace_exit {
    v3f place, normal; // normal out of the medium
    v3f weight;
    trace_touch touch;
} trace_exit;

typedef struct trace_entry {
    const trace_rays* rays;
    v3f place, normal; // out of the medium
    float time;
    float epsilon; // m
    int mesh;      // only this mesh bounds the medium
} trace_entry;

/// False if the sample found nothing, or was absorbed.
bool trace_dipole_sample(const trace_medium* m, const trace_entry* from, trace_random* r,
                         trace_exit* out);

enum { TRACE_WALKS_MAX = 64 };

/// Random walks that are taken in step, so that the processor has work while one of them waits for
/// its ray. None of them depends on the others.
typedef struct trace_walker {
    const trace_medium* m;
    trace_entry from;
    trace_random* r;
    trace_exit out;
    bool is_out; // else it was absorbed
} trace_walker;
/// At most TRACE_WALKS_MAX.
void trace_walks(trace_walker* walkers, int count);
