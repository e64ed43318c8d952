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

/// Radiance along the ray. `guide` may be NULL.
v3f trace_path(const trace_scene* s, trace_ray ray, trace_random* r, trace_guide* guide);

/// Colour of a black body, linear sRGB; a luminance of 1 at 1500 K.
v3f trace_black_body(float kelvin);
