// A finished picture.
#pragma once

#include "image/image.h"
#include "render/trace_image.h"
#include "treacle/render.h"

struct treacle_picture {
    treacle_context* ctx;
    trace_layers layers;
    treacle_tone tone;
    float exposure;
    treacle_picture_stats stats;
};

/// What a screen shows of it; on success the caller destroys the image.
treacle_status picture_develop(treacle_context* ctx, const treacle_picture* p,
                               image_rgb8* out) TREACLE_NODISCARD;
