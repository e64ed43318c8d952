// Pictures of frames by path tracing.
#pragma once

#include "look.h"
#include "mesh.h"
#include "types.h"

#ifdef __cplusplus
extern "C" {
#endif

/// How far a picture is, 0 to 1. Return false to end early with what there is.
typedef bool treacle_picture_progress(double fraction, void* user);

typedef struct treacle_render_def {
    size_t def_size;   ///< set by treacle_render_def_default(), checked on entry
    int width, height; ///< pixels, 1..16384
    int samples;       ///< paths a pixel, at most, 1..1000000
    double noise;      ///< at which a part of the picture gets no more samples; 0: never
    int max_bounces;   ///< 1..1000
    bool denoise;      ///< smooth the rest of the noise away
    uint64_t seed;
    treacle_mesh_def mesh; ///< of the liquid's surface
    treacle_look_def look;
    treacle_camera_def camera;
    double low[3], high[3]; ///< m, the box that the camera frames if it has no eye
    bool box_set;           ///< else the frame's own liquid is the box; for films set it
    int material_count;     ///< of the scene, for their names and colours; may be 0
    const treacle_material_def* materials;
    int solid_count; ///< of the scene; drawn where they are at the frame's time
    const treacle_solid_def* solids;
    int body_count; ///< of the scene; drawn where the frame says
    const treacle_body_def* bodies;
    int emitter_count; ///< of the scene; drawn as nozzles where they are at the frame's time
    const treacle_emitter_def* emitters;
    const treacle_domain_def* domain; ///< of the scene, for its walls; may be NULL
    const char* keep; ///< a file for a picture that is ended early: it is taken up again if all
                      ///< that is seen is the same, and removed when done; NULL: none
    treacle_picture_progress* progress; ///< may be NULL
    void* progress_user;
} treacle_render_def;

TREACLE_API treacle_render_def treacle_render_def_default(void);

/// A finished picture with its layers, in linear light.
typedef struct treacle_picture treacle_picture;

typedef struct treacle_picture_stats {
    int64_t triangles;
    int64_t paths;  ///< camera paths that were followed
    double samples; ///< a pixel, on average
    double noise;   ///< left, on average, before denoising
    bool is_quiet;  ///< every part of the picture got below the noise that was asked for
    double seconds_mesh, seconds_render;
} treacle_picture_stats;

/// Draws the frame. The picture is the same bit for bit for every number of threads.
TREACLE_API treacle_status treacle_render_frame(treacle_context* ctx, const treacle_frame* frame,
                                                const treacle_render_def* def,
                                                treacle_picture** out);
/// Accepts NULL.
TREACLE_API void treacle_picture_destroy(treacle_picture* picture);
TREACLE_API treacle_picture_stats treacle_picture_get_stats(const treacle_picture* picture);

/// Writes .png (8 bits, tone mapped) or .exr (linear, with layers depth, normal, albedo and
/// velocity; docs/formats/picture.md). As a whole or not at all.
TREACLE_API treacle_status treacle_picture_write(treacle_context* ctx,
                                                 const treacle_picture* picture, const char* path);

/// A contact sheet in the making: pictures of one size side by side.
typedef struct treacle_contact_sheet treacle_contact_sheet;

typedef struct treacle_contact_def {
    int count;         ///< pictures, 1..10000
    int columns;       ///< side by side; 0: about as many as rows
    int gap;           ///< pixels between pictures and around them, 0..1000
    int width, height; ///< pixels of a picture
} treacle_contact_def;

/// An empty sheet. ERR_LIMIT if it would be wider or higher than 16384 pixels.
TREACLE_API treacle_status treacle_contact_create(treacle_context* ctx,
                                                  const treacle_contact_def* def,
                                                  treacle_contact_sheet** out);
/// Accepts NULL.
TREACLE_API void treacle_contact_destroy(treacle_contact_sheet* sheet);
/// Lays the picture into its place, from 0 on, row by row; it must have the sheet's size.
TREACLE_API treacle_status treacle_contact_put(treacle_contact_sheet* sheet, int index,
                                               const treacle_picture* picture);
/// Writes a line of words, of which ASCII can be drawn, into a picture's lower left corner. Nothing
/// happens where there is no room for it.
TREACLE_API void treacle_contact_label(treacle_contact_sheet* sheet, int index, const char* words);
/// Writes a PNG as a whole or not at all.
TREACLE_API treacle_status treacle_contact_write(const treacle_contact_sheet* sheet,
                                                 const char* path);

/// Widens low .. high, which may be empty (low > high), by the frame's particles.
TREACLE_API treacle_status treacle_render_bounds(treacle_context* ctx, const treacle_frame* frame,
                                                 double low[3], double high[3]);

#ifdef __cplusplus
}
#endif
