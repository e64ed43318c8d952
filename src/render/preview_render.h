// Previews as pictures in memory.
#pragma once

#include "image/image.h"
#include "treacle/preview.h"

/// ERR_USAGE, with what is wrong, unless the def makes sense.
treacle_status preview_check(treacle_context* ctx,
                             const treacle_preview_def* def) TREACLE_NODISCARD;
/// Draws the frame; on success the caller destroys the picture.
treacle_status preview_render(treacle_context* ctx, const treacle_frame* frame,
                              const treacle_preview_def* def, image_rgb8* out) TREACLE_NODISCARD;
