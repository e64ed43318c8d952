// Light that clear liquid gathers on what is matt: bright lines under a glass of honey.
//
// A path from the camera finds a small lamp behind glass by chance only. Photons go the other way:
// from a place on the glass, chosen by area, the lights are sampled as paths do it; what arrives is
// followed through the glass to the first surface that is not clear, and stays there. A path that
// meets a matt surface adds the photons around, weighted by a kernel of radius r; where such a path
// finds the same light by chance it does not count. Every pass of samples has photons of its own,
// and radii that shrink as r_{i+1}^2 = r_i^2 (i + 2/3) / (i + 1), so that noise and blur vanish
// both [KZ11].
//
// Light from all around needs no photons: only what is brighter than `plain` of the environment is
// carried by them, and paths find the rest.
#pragma once

#include "render/trace_scene.h"

typedef struct trace_photons trace_photons;

typedef struct trace_photons_def {
    const trace_scene* scene; // complete but for its photons; must outlive them
    int64_t count;            // that are sent out in a pass
    float radius;             // m, of the first pass
    uint32_t seed;
} trace_photons_def;

/// *out stays NULL if nothing is clear or no light is small.
treacle_status trace_photons_create(treacle_context* ctx, const trace_photons_def* def,
                                    trace_photons** out) TREACLE_NODISCARD;
/// Accepts NULL.
void trace_photons_destroy(trace_photons* p);
/// Sends out those of a pass, from 0; the ones before are gone.
void trace_photons_send(trace_photons* p, int pass);

/// Where photons are wanted, and how much of each is seen.
typedef struct trace_gathering {
    v3f place, normal;
    v3f (*value)(const void* user, v3f to); // the surface's f, for light from that direction
    const void* user;
} trace_gathering;
/// Radiance.
v3f trace_photons_gather(const trace_photons* p, const trace_gathering* at);
/// What is left of the environment's light for paths that meet it behind glass.
v3f trace_photons_rest(const trace_photons* p, v3f radiance);
