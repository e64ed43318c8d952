// Fast pictures of particles, and films of pictures.
#pragma once

#include "cache.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct treacle_preview_def {
    size_t def_size;
    int width, height;   ///< pixels, 1..16384
    double eye[3];       ///< m; used if eye_set, else the camera frames the domain by itself
    double target[3];    ///< m
    bool eye_set;
    double field_of_view; ///< rad, vertical
} treacle_preview_def;

TREACLE_API treacle_preview_def treacle_preview_def_default(void);
/// Draws the frame's particles as depth-shaded balls into a PNG file.
TREACLE_API treacle_status treacle_preview_write(treacle_context* ctx, const treacle_frame* frame,
                                                 const treacle_preview_def* def, const char* path);
/// Makes a film of the PNG files `folder/stem_0001.png` .. by ffmpeg. The ending names the format.
TREACLE_API treacle_status treacle_film_write(treacle_context* ctx, const char* folder,
                                              const char* stem, double fps, const char* path);

#ifdef __cplusplus
}
#endif
