#include "image/image.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"

static size_t byte_count(const image_rgb8* image) {
    return (size_t)image->width * (size_t)image->height * 3;
}

treacle_status image_create(treacle_context* ctx, int width, int height, image_rgb8* out) {
    TREACLE_ASSERT(width > 0 && height > 0);
    *out = (image_rgb8){.ctx = ctx, .width = width, .height = height};
    void* block = NULL;
    TREACLE_TRY(alloc_zero(ctx, byte_count(out), 1, "a picture", &block));
    out->pixels = block;
    return TREACLE_OK;
}

void image_destroy(image_rgb8* image) {
    if (image->pixels != NULL) {
        alloc_free(image->ctx, image->pixels, byte_count(image));
        image->pixels = NULL;
    }
}

void image_paste(const image_rgb8* from, image_rgb8* to, int x, int y) {
    TREACLE_ASSERT(from != to && from->pixels != to->pixels);
    TREACLE_ASSERT(x >= 0 && y >= 0);
    TREACLE_ASSERT(x + from->width <= to->width && y + from->height <= to->height);
    for (int row = 0; row < from->height; ++row) {
        memcpy(image_at(to, x, y + row), image_at(from, 0, row), (size_t)from->width * 3);
    }
}

// The curve of sRGB, 1.055 x^(1/2.4) - 0.055, fitted by roots: square roots are exact to the last
// bit everywhere, pow is not. The fit is off by at most 0.2 of an 8-bit step.
uint8_t image_encode_srgb(float linear) {
    if (!(linear > 0.0f)) {
        return 0;
    }
    if (linear >= 1.0f) {
        return 255;
    }
    float s1 = sqrtf(linear);
    float s2 = sqrtf(s1);
    float s3 = sqrtf(s2);
    float curve = linear < 0.0031308f ? 12.92f * linear
                                      : 0.662002687f * s1 + 0.684122060f * s2 - 0.323583601f * s3 -
                                            0.0225411470f * linear;
    return (uint8_t)(curve * 255.0f + 0.5f);
}
