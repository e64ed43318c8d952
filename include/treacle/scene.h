// Scene files: text in, checked defs out, with every error at its place.
#pragma once

#include "look.h"
#include "preview.h"
#include "types.h"

#ifdef __cplusplus
extern "C" {
#endif

/// One thing to say about a scene file.
typedef struct treacle_diagnostic {
    treacle_log_level level; ///< INFO, a note; WARNING or ERROR
    const char* file;        ///< path as given, or "--set key=value" for the command line
    int line, column;        ///< from 1; 0 for the command line
    const char* text;        ///< what is wrong, what was expected, and a suggestion
} treacle_diagnostic;

/// A loaded scene, with or without errors.
typedef struct treacle_scene treacle_scene;

/// Reads `path` (and what it includes), then lays the `sets` ("key.path=value") over it.
/// Returns ERR_SCENE if there is at least one error; `out` then still holds the scene with all its
/// diagnostics and must be destroyed. Other errors leave `out` NULL.
TREACLE_API treacle_status treacle_scene_load(treacle_context* ctx, const char* path, int set_count,
                                              const char* const* sets, treacle_scene** out);
/// The files that a scene is read from when it shall look other than it says itself.
typedef struct treacle_scene_files {
    const char* scene; ///< path
    const char* look;  ///< path of a file with the sections look and camera alone, laid over the
                       ///< scene before the sets; NULL: none
    const char* look_text; ///< what would be in that file, whose name `look` then is; NULL: read it
    size_t look_length;    ///< bytes of look_text
    int set_count;
    const char* const* sets;
} treacle_scene_files;
/// As treacle_scene_load().
TREACLE_API treacle_status treacle_scene_load_look(treacle_context* ctx,
                                                   const treacle_scene_files* files,
                                                   treacle_scene** out);
/// The same from memory; `name` stands in for the path in diagnostics. Such a scene cannot include
/// files.
TREACLE_API treacle_status treacle_scene_parse(treacle_context* ctx, const char* name,
                                               const char* text, size_t length, int set_count,
                                               const char* const* sets, treacle_scene** out);
/// Accepts NULL.
TREACLE_API void treacle_scene_destroy(treacle_scene* scene);

TREACLE_API int treacle_scene_diagnostic_count(const treacle_scene* scene);
TREACLE_API treacle_diagnostic treacle_scene_diagnostic(const treacle_scene* scene, int index);
/// All of them as the command prints them, sorted by place, one a line:
/// "file:line:column: error: text\n". "" if there are none.
TREACLE_API const char* treacle_scene_report(const treacle_scene* scene);

/// What the file asks the command to do, beside the simulation itself.
typedef struct treacle_output_def {
    const char* name; ///< of the scene
    int64_t frames;   ///< to simulate, from 1
    int state_every;  ///< frames between state files that are kept for good; 0 keeps the last two
    int resume_every; ///< frames between state files that are written; the last frame has one
    treacle_preview_by preview_by; ///< what colours of previews show
    double preview_from;           ///< ends of its scale
    double preview_to;
} treacle_output_def;

/// Valid only without errors; owned by the scene.
TREACLE_API const treacle_sim_def* treacle_scene_sim(const treacle_scene* scene);
TREACLE_API const treacle_output_def* treacle_scene_output(const treacle_scene* scene);
/// How pictures of it look.
TREACLE_API const treacle_look_def* treacle_scene_look(const treacle_scene* scene);
TREACLE_API const treacle_camera_def* treacle_scene_camera(const treacle_scene* scene);
/// The effective scene as one YAML text: includes and sets applied, defaults left out. Loading it
/// again gives the same defs and the same hash.
TREACLE_API const char* treacle_scene_text(const treacle_scene* scene);
/// A hash of the effective scene; comments and layout do not count.
TREACLE_API uint64_t treacle_scene_hash(const treacle_scene* scene);

/// What the scene will cost.
typedef struct treacle_estimate {
    int cells[3];          ///< of the whole domain
    int64_t particles;     ///< at the start
    int64_t particles_end; ///< at the last frame, with what the emitters bring
    double memory;         ///< bytes at peak
    double disk;           ///< bytes of all frames and state files
    double seconds;        ///< on this machine with this number of threads, very roughly
    bool is_measured;      ///< the seconds follow from steps that were made: treacle_run_estimate()
} treacle_estimate;
TREACLE_API treacle_status treacle_scene_estimate(const treacle_scene* scene,
                                                  treacle_estimate* out);

/// What heat will do to a liquid of the scene, and how long that takes: of all that heats or cools
/// it, what is through first. A guess by its extents, as if it did not move.
typedef struct treacle_heat_estimate {
    double seconds; ///< in nature; with heat.speed so many times less. INFINITY: nothing to tell
    bool turns;     ///< it melts or sets through; or else it comes half of the way to `outside`
    bool melts;     ///< it gets warmer
    double outside; ///< K, of what acts on it; NAN: a power does
    double target;  ///< K, at which it is through
    double length;  ///< m, how far the heat has to come
    double stefan;  ///< heat capacity times the kelvins beyond the target, over the latent heat
    double fourier; ///< of the whole scene with its heat.speed: diffusivity time / length^2
    char by[64];    ///< what does it, in words
} treacle_heat_estimate;
/// ERR_USAGE if there is no liquid of that index.
TREACLE_API treacle_status treacle_scene_heat(const treacle_scene* scene, int liquid,
                                              treacle_heat_estimate* out);

/// What surface tension means to a liquid or a stream of the scene: numbers that compare it with
/// weight, viscosity and inertia, of its least extent.
typedef struct treacle_tension_estimate {
    int material;       ///< index
    double tension;     ///< N/m, that the scene gives it; 0: none
    double known;       ///< N/m, that the preset of this name has in nature; 0: not known
    double length;      ///< m, the least extent; of a flat scene, in its plane
    double capillary;   ///< m, sqrt(tension/(density gravity)); INFINITY without gravity
    double bond;        ///< (length/capillary)^2
    double speed;       ///< m/s, of a stream, or that gravity gives a liquid of this length
    double capillarity; ///< viscosity speed/tension, the capillary number
    double ohnesorge;   ///< viscosity/sqrt(density tension length)
    double ratio;       ///< of what it does to waves of four cells to what gravity does
    bool is_left_out;   ///< `ratio` is too small to matter, and the simulation has no tension
} treacle_tension_estimate;
/// Of liquid `index`, or of emitter `index - liquid_count` of the def. Numbers are those of
/// `tension`, or of `known` where the scene gives none; NAN where both are 0. ERR_USAGE if there is
/// none of that index.
TREACLE_API treacle_status treacle_scene_tension(const treacle_scene* scene, int index,
                                                 treacle_tension_estimate* out);

/// The manual's reference of all keys, as Markdown. The caller frees it with treacle_text_free().
TREACLE_API treacle_status treacle_scene_reference(treacle_context* ctx, char** out);
/// A section of a scene, "scene.materials" or "emitter", or one of its keys, "scene.domain.cell",
/// in plain text: types, units, ranges, defaults, and an example. ERR_USAGE if there is none of
/// that name. The caller frees it likewise.
TREACLE_API treacle_status treacle_scene_help(treacle_context* ctx, const char* path, char** out);
/// All keys as a JSON Schema (draft 07), for editors. The caller frees it likewise.
TREACLE_API treacle_status treacle_scene_schema(treacle_context* ctx, char** out);
TREACLE_API void treacle_text_free(treacle_context* ctx, char* text);

#ifdef __cplusplus
}
#endif
