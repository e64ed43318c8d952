// Where light comes from: an environment all around, a sun in it, lamps with an area.
//
// The environment is a picture of all directions: u runs with the angle about y, v from the zenith
// down. Samples are drawn after its brightness. A lamp is a disc or a rectangle that shines to one
// side.
#pragma once

#include "base/context.h"
#include "render/trace_random.h"
#include "render/trace_vec.h"

typedef struct trace_environment {
    treacle_context* ctx;
    int width, height;
    v3f* pixel;        // rows from the zenith
    float* row_cdf;    // [height + 1]
    float* row_edge;   // [height + 1], upper edges of rows as heights on the unit sphere
    float* column_cdf; // [height][width + 1]
    float scale;       // pdf per solid angle of brightness 1
    v3f sun_direction; // unit
    v3f sun_radiance;  // black: there is none
    float sun_cosine;  // of its half angle
} trace_environment;

treacle_status trace_environment_create(treacle_context* ctx, int width, int height,
                                        trace_environment* out) TREACLE_NODISCARD;
void trace_environment_destroy(trace_environment* e);
/// The middle of a pixel, as a direction.
v3f trace_environment_direction(const trace_environment* e, int x, int y);
/// To be called after the pixels are set.
void trace_environment_finish(trace_environment* e);
/// Light from a direction, with or without the sun.
v3f trace_environment_radiance(const trace_environment* e, v3f direction);
v3f trace_environment_sun(const trace_environment* e, v3f direction);
/// The same without the sun, and the pdf per solid angle of sampling the picture there.
v3f trace_environment_look(const trace_environment* e, v3f direction, float* pdf);
/// Light on a level surface that sees the upper half.
v3f trace_environment_irradiance(const trace_environment* e);

typedef struct trace_lamp {
    bool is_disc;
    v3f centre, normal; // it shines along the normal
    v3f side, up;       // unit, of the rectangle
    float half[2];      // m; half[0] is a disc's radius
    v3f radiance;
    bool is_seen; // by the camera
} trace_lamp;
/// Distance along the ray, or INFINITY.
float trace_lamp_hit(const trace_lamp* lamp, v3f origin, v3f direction);

typedef struct trace_lights {
    const trace_environment* environment;
    int lamp_count;
    const trace_lamp* lamps;
} trace_lights;

typedef struct trace_light_sample {
    v3f direction;
    float distance; // INFINITY: from the environment
    v3f radiance;
    float pdf;   // per solid angle, of all ways to choose this direction from this light
    bool is_sky; // from the environment without its sun
} trace_light_sample;

/// How many lights there are to choose from, each with the same chance.
int trace_lights_count(const trace_lights* l);
bool trace_lights_sample(const trace_lights* l, v3f place, trace_random* r,
                         trace_light_sample* out);
/// pdf of choosing a direction that hits a lamp from a place.
float trace_lamp_pdf(const trace_lamp* lamp, v3f direction, float distance);
