// Particles as balls in a depth buffer.
//
// The picture is cut into bands of rows. A band belongs to one chunk of the parallel loop, which
// draws, tile by tile in order, the particles that touch it; so every pixel sees the same balls in
// the same order whatever the number of threads.
//
// Where ranks hold a part of a frame each, a rank draws its own particles upon what the ranks
// before it have drawn, and hands the layer on; from the last it comes back to rank 0.
#pragma once

#include "base/comm.h"
#include "render/preview_view.h"

/// The particles of a frame, checked.
typedef struct preview_particles {
    const treacle_frame* frame;
    int64_t tile_count;
    int64_t here_begin, here_end; // tiles whose particles are here
    const int64_t* rank_first;    // of particles; NULL: all are here
    const int64_t* tile_first;
    const int32_t* tile_coord;
    const float* position;
    const float* volume;     // or NULL
    const float* colour;     // or NULL; linear RGB
    const uint8_t* material; // or NULL
    const float* palette;    // or NULL; linear RGB of each material
    int64_t palette_count;
    const float* scalar;   // or NULL; its colour counts instead
    float scale[2];        // ends of its scale
    float default_radius;  // m, without a volume
    float first_radius;    // m, of the first particle
    float first_colour[3]; // linear RGB; honey's if there is none
    float radius_limit[2]; // m
    bool is_flat;          // one cell thick: volume is area times the cell
} preview_particles;

/// What was drawn. Depth is INFINITY where nothing is.
typedef struct preview_layer {
    treacle_context* ctx;
    preview_view view;
    float* depth;     // m
    float* spare;     // scratch of the smoothing
    float* thickness; // m of liquid along the line of sight
    uint32_t* colour; // packed by preview_pack
} preview_layer;

/// Checks types, counts and order of the arrays. ERR_FORMAT names the one that is wrong.
treacle_status preview_particles_init(treacle_context* ctx, const treacle_frame* frame,
                                      const preview_box* box,
                                      preview_particles* out) TREACLE_NODISCARD;
/// Shows what the def asks for instead of colours. A frame that does not have it keeps its colours.
/// Then the first particle is known.
treacle_status preview_particles_show(treacle_context* ctx, const treacle_preview_def* def,
                                      preview_particles* p) TREACLE_NODISCARD;

treacle_status preview_layer_create(treacle_context* ctx, const preview_view* view,
                                    preview_layer* out) TREACLE_NODISCARD;
void preview_layer_destroy(preview_layer* layer);

/// Draws all particles. Where ranks hold them in part the layer is whole on rank 0 alone.
treacle_status preview_splat(preview_layer* layer,
                             const preview_particles* particles) TREACLE_NODISCARD;
/// Smooths the depth over about `reach` pixels, without crossing steps of more than `step` metres.
void preview_smooth_depth(preview_layer* layer, float reach, float step);
/// Smooths the thickness in the same way, across everything.
void preview_smooth_thickness(preview_layer* layer, float reach);

/// Gives a flat layer a rounded rim of about `reach` pixels, raised by `height` metres.
void preview_inflate(preview_layer* layer, float reach, float height);

/// Typical ball radius in pixels, at the middle of the box.
float preview_ball_pixels(const preview_layer* layer, const preview_particles* particles);

static inline size_t preview_layer_pixels(const preview_layer* layer) {
    return (size_t)layer->view.width * (size_t)layer->view.height;
}

/// Linear RGB in 10 bits each, along the square root, where the eye wants them.
uint32_t preview_pack(const float rgb[3]);
static inline void preview_unpack(uint32_t packed, float rgb[3]) {
    for (int i = 0; i < 3; ++i) {
        float root = (float)(packed >> (10 * i) & 1023u) * (1.0f / 1023.0f);
        rgb[i] = root * root;
    }
}
