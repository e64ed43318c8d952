// How surfaces scatter light: Fresnel's equations and microfacets.
//
// Directions are local: z is the normal, w_o points back along the path, w_i on along it. Rough
// surfaces have facets distributed after GGX [WMLT07], sampled by those that are seen [Hei18].
// Light that a facet sends into another is lost to that model; `energy`, the fraction that is left,
// is tabulated over the angle, and every sample is divided by it [Tur19]. So a surface that absorbs
// nothing keeps all light.
#pragma once

#include "render/trace_random.h"
#include "render/trace_vec.h"

enum { TRACE_ENERGY_STEPS = 192 };

/// Below this a surface is treated as a mirror.
#define TRACE_SMOOTH 0.003f

/// Fraction of unpolarised light that is reflected where the ratio of indices is eta = n_t / n_i.
/// *cos_t is the cosine on the other side, 0 for total reflection.
float trace_fresnel(float cos_i, float eta, float* cos_t);
/// Mean of the above over diffuse light that arrives.
float trace_fresnel_mean(float eta);
/// Schlick's formula from the colour at normal incidence.
v3f trace_fresnel_metal(v3f normal, float cos_i);

v3f trace_sample_cosine(trace_pair u);
v3f trace_sample_sphere(trace_pair u);
/// About `forward`, after Henyey and Greenstein.
v3f trace_sample_phase(v3f forward, float g, trace_pair u);

typedef struct trace_facets {
    float alpha;                             // roughness
    float eta;                               // index inside over outside; 0: a metal
    float energy[2][TRACE_ENERGY_STEPS + 1]; // [from inside][root of the cosine]
} trace_facets;
/// Fills the table; takes some milliseconds.
void trace_facets_init(trace_facets* f, float alpha, float eta);

typedef struct trace_bounce {
    v3f direction; // local w_i
    v3f weight;    // f cos / pdf
    float pdf;     // per solid angle; 0: a mirror
    bool is_through;
} trace_bounce;

/// A metal of that colour. False if the sample is lost.
bool trace_metal_sample(const trace_facets* f, v3f colour, v3f w_o, trace_pair u,
                        trace_bounce* out);
/// f cos and pdf of a metal.
v3f trace_metal_value(const trace_facets* f, v3f colour, v3f w_o, v3f w_i, float* pdf);

/// Light that meets glass.
typedef struct trace_meeting {
    v3f w_o;
    bool is_inside; // w_o is in the medium; z points to its side
    float outside;  // index of what is on the medium's other side, if it is not air; 0: air
    float least; // chance of reflection, where it is less by Fresnel: for highlights without noise
} trace_meeting;
/// The chance to be reflected, and what a sample of either kind then weighs.
float trace_reflect_chance(float fresnel, float least, float weight[2]);
/// Glass, by reflection or refraction. Radiance is not scaled by the square of the index: paths
/// that count enter and leave.
bool trace_glass_sample(const trace_facets* f, const trace_meeting* at, trace_random* r,
                        trace_bounce* out);
