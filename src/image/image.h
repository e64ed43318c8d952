// Pictures in memory, and PNG files of them.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/context.h"

/// Rows from the top, pixels from the left, three bytes each (sRGB), no padding.
typedef struct image_rgb8 {
    treacle_context* ctx;
    int width, height;
    uint8_t* pixels;
} image_rgb8;

/// A black picture.
treacle_status image_create(treacle_context* ctx, int width, int height,
                            image_rgb8* out) TREACLE_NODISCARD;
void image_destroy(image_rgb8* image);

static inline uint8_t* image_at(const image_rgb8* image, int x, int y) {
    TREACLE_ASSERT(x >= 0 && x < image->width && y >= 0 && y < image->height);
    return image->pixels + ((size_t)y * (size_t)image->width + (size_t)x) * 3;
}
/// Copies `from` to (x, y) of `to`, where it must fit.
void image_paste(const image_rgb8* from, image_rgb8* to, int x, int y);

/// Linear light 0..1 to the 8 bits of sRGB. Outside 0..1 it is clamped; NaN gives 0.
uint8_t image_encode_srgb(float linear);

/// Writes an 8-bit RGB PNG as a whole or not at all. Equal pictures give equal bytes.
treacle_status png_write(treacle_context* ctx, const image_rgb8* image,
                         const char* path) TREACLE_NODISCARD;
