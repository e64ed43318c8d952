// The tree of a scene text: lists, maps and scalars, each with its place.
//
// Children are linked in the order of the text. Nodes live in the scene's pool; the number of all
// nodes of a scene is limited, aliases and includes counted in full, so that a few lines cannot
// unfold to gigabytes.
#pragma once

#include "scene/scene_diag.h"

enum {
    SCENE_NODES_MAX = 200000,
    SCENE_DEPTH_MAX = 64,
    SCENE_TEXT_MAX = 16 << 20, // bytes of one file
};

typedef enum scene_node_kind { NODE_SCALAR, NODE_LIST, NODE_MAP } scene_node_kind;

typedef struct scene_node {
    scene_node_kind kind;
    bool is_quoted;    // scalars
    scene_place place; // of the value
    const char* key;   // in a map; NULL otherwise
    scene_place key_place;
    const char* text; // of a scalar
    int count;        // of children
    struct scene_node *first, *last, *next;
} scene_node;

/// What reading needs: where to put nodes and what to say.
typedef struct scene_reader {
    scene_pool* pool;
    scene_diags* diags;
    int node_count; // made so far
} scene_reader;

treacle_status scene_node_make(scene_reader* reader, scene_node_kind kind, scene_place place,
                               scene_node** out) TREACLE_NODISCARD;
void scene_node_append(scene_node* parent, scene_node* child);
/// Puts `child` where `old` is, under old's key.
void scene_node_replace(scene_node* parent, scene_node* old, scene_node* child);
void scene_node_remove(scene_node* parent, scene_node* child);
/// The value of a key, or NULL.
scene_node* scene_node_find(const scene_node* map, const char* key);
/// The item at an index, or NULL.
scene_node* scene_node_at(const scene_node* list, int index);
/// An empty value, ~ or null.
bool scene_node_is_null(const scene_node* node);
/// "a list", "a map", "the text 'abc'": for messages.
const char* scene_node_kind_text(const scene_node* node);

/// Whether a tree is whole: texts at scalars alone, children counted and linked to the last, keys
/// in maps alone and each once, a place everywhere, none deeper than SCENE_DEPTH_MAX.
bool scene_node_is_valid(const scene_node* node);
/// Reads one YAML document (yaml_tree.c). *out is NULL if it is not valid YAML or is empty; the
/// diagnostics then say why.
treacle_status yaml_tree_read(scene_reader* reader, const scene_file* file, const char* chars,
                              size_t length, scene_node** out) TREACLE_NODISCARD;
