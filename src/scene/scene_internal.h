// The parts of loading a scene, and what a loaded scene holds.
#pragma once

#include <locale.h>

#include "base/text.h"
#include "geometry/shape.h"
#include "scene/bind.h"

struct treacle_scene {
    treacle_context* ctx;
    scene_pool pool;
    scene_diags diags;
    scene_root root;
    const char* report;
    const char* text;   // "" with errors
    uint64_t mesh_hash; // see binder
    uint64_t hash;
};

/// Reads files and settings into one tree (overlay.c).
typedef struct overlay {
    treacle_context* ctx;
    scene_reader reader;
    int file_count;      // files and settings so far
    bool can_read_files; // includes are allowed
    bool is_broken;      // a text could not be read: checking the rest would only mislead
} overlay;

/// A file, or what stands in for one.
typedef struct overlay_text {
    const char* path;
    const char* chars; // NULL: those of the file
    size_t length;
} overlay_text;

/// The scene of a file with all that it includes. ERR_IO if the file itself cannot be read.
treacle_status overlay_load(overlay* o, const char* path, scene_node** out) TREACLE_NODISCARD;
/// The scene of a text.
treacle_status overlay_parse(overlay* o, const char* name, const char* chars, size_t length,
                             scene_node** out) TREACLE_NODISCARD;
/// `path` as seen from the file `from`: beside it, unless it is absolute. Lives in the pool.
treacle_status overlay_join_path(scene_pool* pool, const char* from, const char* path,
                                 const char** out) TREACLE_NODISCARD;
/// Lays a file over the scene that has no other sections than look and camera.
treacle_status overlay_look(overlay* o, const overlay_text* look,
                            scene_node* root) TREACLE_NODISCARD;
/// Lays one "key.path=value" over the scene.
treacle_status overlay_set(overlay* o, scene_node* root, const char* setting) TREACLE_NODISCARD;

/// Numbers are read and written with a decimal point, whatever the program's locale: for this
/// thread only, between begin and end.
typedef struct scene_locale {
    locale_t c, before;
} scene_locale;
treacle_status scene_locale_begin(treacle_context* ctx, scene_locale* out) TREACLE_NODISCARD;
void scene_locale_end(const scene_locale* locale);

/// Appends the canonical text of a bound scene (scene_print.c); without the paths of files, it is
/// the same wherever they are.
void scene_print(text* t, const scene_root* root, bool has_paths);
/// A row's value as in a scene file, for the manual's defaults.
void scene_print_value(text* t, const schema_key* key, const void* item);

/// Cells of a row of the reference, as Markdown (scene_reference.c).
void scene_reference_type(text* t, const schema_key* key);
void scene_reference_range(text* t, const schema_key* key);
/// `defaults` is the section's struct with its defaults; NULL: it has none.
void scene_reference_default(text* t, const schema_key* key, const char* defaults);

/// Which axis of the domain is one cell thick; -1 if none.
int scene_flat_axis(const treacle_domain_def* domain);
/// What of a shape's bounds (NULL: of space) lies in the domain; a flat domain counts as a thin
/// slice at its middle (scene_estimate.c).
box3 scene_box_inside(const treacle_domain_def* domain, const shape* s);
/// m^3 of a shape in the domain; a flat domain is one cell thick (scene_estimate.c).
double scene_volume_inside(const treacle_domain_def* domain, const shape* s);
