// Triangles in a depth buffer, for what is solid in a preview.
//
// As with particles, a band of rows belongs to one chunk of the parallel loop, which draws the
// triangles that touch it in order: every pixel is the same whatever the number of threads.
#pragma once

#include "base/context.h"
#include "render/preview_view.h"

/// What was drawn. Depth is INFINITY where nothing is.
typedef struct preview_surface {
    treacle_context* ctx;
    preview_view view;
    float* depth;     // m
    uint32_t* normal; // towards the eye, packed by preview_pack_normal; NULL: not kept
    uint8_t* what;    // as said when it was drawn; NULL: not kept
} preview_surface;

/// Which triangles are drawn, by their normals.
typedef enum preview_side {
    PREVIEW_SIDE_ANY,
    PREVIEW_SIDE_NEAR, // those that face the eye
    PREVIEW_SIDE_FAR,  // those that face away
} preview_side;

/// With depths alone, or with normals and what is there, too.
treacle_status preview_surface_create(treacle_context* ctx, const preview_view* view, bool is_full,
                                      preview_surface* out) TREACLE_NODISCARD;
/// Harmless on a zeroed one.
void preview_surface_destroy(preview_surface* w);
/// Draws what is in the world around the box' centre.
treacle_status preview_raster(preview_surface* w, const treacle_prop* prop, const double centre[3],
                              preview_side side, uint8_t what) TREACLE_NODISCARD;

/// A unit vector in 10 bits a component.
static inline uint32_t preview_pack_normal(const float n[3]) {
    uint32_t out = 0;
    for (int i = 0; i < 3; ++i) {
        out |= (uint32_t)((n[i] + 1.0f) * 511.0f + 0.5f) << (10 * i);
    }
    return out;
}
static inline void preview_unpack_normal(uint32_t packed, float n[3]) {
    for (int i = 0; i < 3; ++i) {
        n[i] = (float)(packed >> (10 * i) & 1023u) * (1.0f / 511.0f) - 1.0f;
    }
}
