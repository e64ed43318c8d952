// The picture in the making: samples are added tile by tile until it is good enough.
#pragma once

#include "render/trace_camera.h"
#include "render/trace_path.h"

enum { TRACE_TILE = 16 };

typedef struct trace_pixel {
    v3f sum, albedo, normal; // of all samples
    float square;            // of brightness, for the noise
    float brightness;        // sum
    float depth, hits;       // sum over samples that met something, and their number
    float motion[2];         // pixels a second, sum
    float samples;
} trace_pixel;

typedef struct trace_image {
    treacle_context* ctx;
    int width, height;
    trace_pixel* pixels;
    int64_t rays;  // paths so far
    int done;      // samples of a pixel so far, but for tiles that were quiet earlier
    bool is_quiet; // every tile met the noise that was wanted
    bool is_ended; // early, since it was asked for
} trace_image;

treacle_status trace_image_create(treacle_context* ctx, int width, int height,
                                  trace_image* out) TREACLE_NODISCARD;
void trace_image_destroy(trace_image* image);

/// How far the picture is, from 0 to 1. Return false to end with what there is.
typedef bool trace_progress(double fraction, void* user);

typedef struct trace_quality {
    int samples; // a pixel, at most
    float noise; // wanted; 0: all pixels get all samples
    uint32_t seed;
    trace_progress* progress; // may be NULL
    void* user;
} trace_quality;

/// Noise: the standard error of brightness over the root of brightness, about what the eye sees;
/// the mean over a tile and its neighbours decides whether the tile gets more samples. An image
/// that has some already gets the others, and becomes the same as if all were drawn at once.
treacle_status trace_image_render(trace_image* image, const trace_scene* scene,
                                  const trace_camera* camera,
                                  const trace_quality* quality) TREACLE_NODISCARD;

/// Layers, one value or colour a pixel, rows from the top.
typedef struct trace_layers {
    treacle_context* ctx;
    int width, height;
    v3f *colour, *albedo, *normal; // means
    float* depth;                  // m; 0 where there is nothing
    float (*motion)[2];            // pixels a second
    float* variance;               // of the mean brightness
    void* block;
} trace_layers;
treacle_status trace_layers_create(const trace_image* image, trace_layers* out) TREACLE_NODISCARD;
void trace_layers_destroy(trace_layers* l);

/// Smooths noise where albedo, normal and depth say that neighbours are alike [DSHL10], by a filter
/// with growing holes. For previews: it takes texture in light away with the noise.
treacle_status trace_denoise(trace_layers* l) TREACLE_NODISCARD;

typedef enum trace_tone {
    TRACE_TONE_FILMIC,
    TRACE_TONE_SRGB,
} trace_tone;
/// Linear light to what a screen shows before the sRGB curve, each in 0..1.
v3f trace_tone_map(v3f light, trace_tone tone, float exposure);
