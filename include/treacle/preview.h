// Fast pictures of particles, and films of pictures.
#pragma once

#include "cache.h"
#include "types.h"

#ifdef __cplusplus
extern "C" {
#endif

/// What the colours of a preview show.
typedef enum treacle_preview_by {
    TREACLE_PREVIEW_BY_COLOUR,      ///< particles' own, or their material's
    TREACLE_PREVIEW_BY_TEMPERATURE, ///< blue is cold, red is warm, nearly white is hot
    TREACLE_PREVIEW_BY_MARKER,      ///< the same scale
} treacle_preview_by;

typedef struct treacle_preview_def {
    size_t def_size;
    int width, height; ///< pixels, 1..16384
    double eye[3];     ///< m; used if eye_set, else the camera frames by itself what the scene
                       ///< begins with and where that may flow, or the domain if there is no scene
    double target[3];  ///< m
    bool eye_set;
    double field_of_view; ///< rad, vertical
    treacle_preview_by by;
    double from, to; ///< ends of the scale, K or units of the marker; the same: the frame's least
                     ///< and most
    double turn;     ///< rad, by which the camera is turned about the vertical
    const treacle_sim_def* scene; ///< of the frame, for its solids, bodies and emitters; not owned.
                                  ///< NULL: the liquid alone is drawn
} treacle_preview_def;

TREACLE_API treacle_preview_def treacle_preview_def_default(void);
/// Draws the frame's particles as depth-shaded balls, and what the scene has beside them, into a
/// PNG file. ERR_FORMAT if the frame's bodies are not those of the scene.
TREACLE_API treacle_status treacle_preview_write(treacle_context* ctx, const treacle_frame* frame,
                                                 const treacle_preview_def* def, const char* path);

/// What a scene has beside liquid, as triangles where it is at a frame's time.
typedef enum treacle_prop_role {
    TREACLE_PROP_SOLID,
    TREACLE_PROP_CONTAINER, ///< an `inside_out` solid; its normals point inwards
    TREACLE_PROP_BODY,
    TREACLE_PROP_EMITTER, ///< while it emits
} treacle_prop_role;
typedef struct treacle_prop {
    treacle_prop_role role;
    int index; ///< among the scene's solids, bodies or emitters
    int64_t vertex_count, triangle_count;
    const float *position, *normal; ///< m, [vertex_count][3]
    const int32_t* triangles;       ///< [triangle_count][3], counter-clockwise from outside
} treacle_prop;
typedef struct treacle_props treacle_props;

/// ERR_FORMAT if the frame's bodies are not those of the scene.
TREACLE_API treacle_status treacle_props_create(treacle_context* ctx, const treacle_sim_def* scene,
                                                const treacle_frame* frame, treacle_props** out);
/// Accepts NULL.
TREACLE_API void treacle_props_destroy(treacle_props* props);
TREACLE_API int treacle_props_count(const treacle_props* props);
/// Valid until the props are destroyed.
TREACLE_API treacle_prop treacle_props_get(const treacle_props* props, int index);

/// A contact sheet: pictures of several frame files in one PNG.
typedef struct treacle_sheet_def {
    size_t def_size;             ///< set by treacle_sheet_def_default(), checked on entry
    treacle_preview_def picture; ///< of every picture; its width and height are one picture's
    int frame_count;             ///< 1..10000
    const char* const* frames;   ///< paths of frame files, not owned
    int columns;                 ///< pictures side by side; 0 makes the sheet about square
    int gap;                     ///< pixels between pictures and around them, 0..1000
} treacle_sheet_def;

TREACLE_API treacle_sheet_def treacle_sheet_def_default(void);
/// Draws the sheet. ERR_LIMIT if it would be wider or higher than 16384 pixels.
TREACLE_API treacle_status treacle_sheet_write(treacle_context* ctx, const treacle_sheet_def* def,
                                               const char* path);
/// Makes a film of the PNG files `folder/stem_0001.png` .. by ffmpeg. The ending names the format.
TREACLE_API treacle_status treacle_film_write(treacle_context* ctx, const char* folder,
                                              const char* stem, double fps, const char* path);
/// The pictures `folder/stem_0001.png` .. of a film, from `first` to `last`.
typedef struct treacle_film_range {
    const char* folder;
    const char* stem;
    int64_t first, last;
    double fps;   ///< 1/s
    int64_t loop; ///< so many of the first pictures fade in over the last: a film without a seam
} treacle_film_range;
/// Makes a film of those pictures, which must all be there, and of no others.
TREACLE_API treacle_status treacle_film_write_range(treacle_context* ctx,
                                                    const treacle_film_range* range,
                                                    const char* path);
/// Whether a film could be made: the ending is known and there is an ffmpeg. To be asked before the
/// pictures are drawn.
TREACLE_API treacle_status treacle_film_check(treacle_context* ctx, const char* path);

#ifdef __cplusplus
}
#endif
