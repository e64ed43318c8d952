// One path of light, followed backwards from the camera.
//
// At surfaces that scatter widely the lights are also sampled, and both ways to find them are
// weighted by the balance heuristic [VG95]; mirrors and glass find them by chance only.
#pragma once

#include "render/trace_scene.h"

/// What the path met first, for layers and for the denoiser. Behind glass: what the glass is.
typedef struct trace_guide {
    v3f albedo, normal, velocity;
    float depth; // m; 0 where there is nothing
} trace_guide;

/// A path that is asked for, and what came of it.
typedef struct trace_quest {
    trace_ray ray;
    trace_random r;
    v3f light; // radiance along the ray
    trace_guide guide;
} trace_quest;
/// Follows paths, at most TRACE_WALKS_MAX, side by side; none of them depends on the others.
void trace_paths(const trace_scene* s, trace_quest* quests, int count);
/// Light that goes through glass: where it meets the first surface, and what of it arrives.
typedef struct trace_flight {
    trace_ray ray; // in: towards `at`, a surface of glass; out: the last one
    trace_random r;
    trace_point at;
    v3f weight; // out
} trace_flight;
/// Follows it to the first surface that scatters widely. False if it meets none.
bool trace_path_fly(const trace_scene* s, trace_flight* f);

/// Radiance along one ray.
v3f trace_path(const trace_scene* s, trace_ray ray, const trace_random* r);

/// Colour of a black body, linear sRGB; a luminance of 1 at 1500 K.
v3f trace_black_body(float kelvin);
