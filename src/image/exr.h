// Pictures in linear light as OpenEXR files, through its C library.
#pragma once

#include "base/context.h"

/// Rows from the top, three floats a pixel.
typedef struct exr_picture {
    treacle_context* ctx;
    int width, height;
    float* values;
} exr_picture;

/// Reads R, G and B (or Y for all three) of a scan-line file. ERR_IO if it cannot be read,
/// ERR_FORMAT if it is not such a picture.
treacle_status exr_read_rgb(treacle_context* ctx, const char* path,
                            exr_picture* out) TREACLE_NODISCARD;
void exr_picture_destroy(exr_picture* picture);

/// A channel: its name ("R", "depth.Z"), the first value, floats from pixel to pixel.
typedef struct exr_channel {
    const char* name;
    const float* values;
    int stride;
} exr_channel;

typedef struct exr_layout {
    int width, height;
    int channel_count; // at most EXR_CHANNELS_MAX
    const exr_channel* channels;
} exr_layout;
enum { EXR_CHANNELS_MAX = 32 };

/// Writes 32-bit floats, ZIP-compressed, as a whole or not at all.
treacle_status exr_write(treacle_context* ctx, const exr_layout* layout,
                         const char* path) TREACLE_NODISCARD;
