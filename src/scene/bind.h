// Nodes -> defs, by the schema, with every complaint at its place.
//
// Binders return a status for lack of memory only; what is wrong with the scene goes to the
// diagnostics, and b->diags->errors tells whether something did.
#pragma once

#include "defs/schema.h"
#include "scene/scene_node.h"

typedef struct binder {
    treacle_context* ctx;
    scene_pool* pool;
    scene_diags* diags;
    scene_root* root;
    bool is_domain_known; // the domain is bound and right
    int flat_axis;        // of the domain; -1: none
    uint64_t mesh_hash;   // of the contents of all mesh files, in their order; 0: none
} binder;

/// A value to bind: the row, the node, and the struct that holds the field.
typedef struct bind_slot {
    const schema_key* key;
    const scene_node* node;
    char* item;
    const schema_path* path;
} bind_slot;

treacle_status bind_section(binder* b, const schema_section* section, const scene_node* map,
                            void* item, const schema_path* path) TREACLE_NODISCARD;

// Messages: "path: sentence".
treacle_status bind_error(binder* b, scene_place place, const schema_path* path, const char* format,
                          ...) TREACLE_NODISCARD TREACLE_PRINTF(4, 5);
treacle_status bind_warning(binder* b, scene_place place, const schema_path* path,
                            const char* format, ...) TREACLE_NODISCARD TREACLE_PRINTF(4, 5);
treacle_status bind_note(binder* b, scene_place place, const schema_path* path, const char* format,
                         ...) TREACLE_NODISCARD TREACLE_PRINTF(4, 5);
/// The place of a key's value in a map; the map's own if it is not given.
scene_place bind_place(const scene_node* map, const char* key);

/// Looks at a whole section after its keys are bound without errors; sections inside it may have
/// some.
typedef treacle_status bind_check_fcn(binder* b, const scene_node* map, void* item,
                                      const schema_path* path);
/// The check of a section, or NULL.
bind_check_fcn* bind_check_of(const schema_section* section);

// Values (bind_value.c).
enum { BIND_QUOTE_MAX = 64 };
/// The node in a few words: the text in quotes, shortened, or "a list".
void bind_quote(const scene_node* node, char out[BIND_QUOTE_MAX]);
/// A quantity in the row's unit and range.
treacle_status bind_number(binder* b, const bind_slot* slot, double* out) TREACLE_NODISCARD;
treacle_status bind_vector(binder* b, const bind_slot* slot, double out[3]) TREACLE_NODISCARD;
typedef treacle_status bind_fcn(binder* b, const bind_slot* slot);
bind_fcn bind_bool, bind_int, bind_int64, bind_real, bind_vec3, bind_colour, bind_enum, bind_name,
    bind_material, bind_release;
// bind_mesh.c
bind_fcn bind_mesh;
bind_check_fcn bind_check_mesh;
// bind_preset.c
bind_fcn bind_preset;
/// Makes the preset that the node names a material of the scene; index -1 if it names none.
treacle_status bind_add_preset(binder* b, const scene_node* node, int* index) TREACLE_NODISCARD;
// check_look.c
bind_fcn bind_file;
bind_check_fcn bind_check_look, bind_check_camera;
// bind_curve.c
bind_fcn bind_curve, bind_curve3, bind_field, bind_field3;
// bind_shape.c
bind_fcn bind_shape, bind_shapes;

// Checks of whole sections (bind_shape.c, scene_check.c).
bind_check_fcn bind_shape_check_box, bind_shape_check_torus, bind_shape_check_plane;
bind_check_fcn bind_check_domain, bind_check_sides, bind_check_emitter, bind_check_drop,
    bind_check_solid, bind_check_body, bind_check_viscosity, bind_check_root;
// check_overlap.c
/// Bodies that are inside each other, or inside solids or sides, at the start.
treacle_status bind_check_overlaps(binder* b, const scene_node* root) TREACLE_NODISCARD;
// check_room.c
/// Liquid inside solids or other liquids, solids that fill the domain, what is below a cell.
treacle_status bind_check_room(binder* b, const scene_node* root) TREACLE_NODISCARD;
// check_effect.c
/// Temperatures outside of laws, heat that nothing feels, walls that hold what is thrown at them.
treacle_status bind_check_effect(binder* b, const scene_node* root) TREACLE_NODISCARD;
// check_material.c
bind_check_fcn bind_check_elastic, bind_check_rheology, bind_check_law;
