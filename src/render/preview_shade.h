// From depths to light: what every pixel of a preview looks like.
#pragma once

#include "image/image.h"
#include "render/preview_solid.h"
#include "render/preview_splat.h"

typedef struct preview_scene {
    treacle_context* ctx;
    preview_box box;
    const preview_layer* camera; // samples x samples of its pixels make one of the picture's
    const preview_layer* light;  // seen from the key light
    const preview_things* things;
    double light_direction[3]; // in which the key light shines, not normalised
    float tint[3];             // linear RGB of the light that gets through the liquid
    float edge;                // m: a larger step of depth between pixels is an edge
    int samples;               // along each axis, 1..2
} preview_scene;

void preview_shade(const preview_scene* scene, image_rgb8* out);
/// Draws the edges of the domain faintly over a shaded picture, behind the liquid more so.
void preview_draw_box(const preview_scene* scene, image_rgb8* out);
