#include "scene/scene_node.h"

#include <string.h>

treacle_status scene_node_make(scene_reader* reader, scene_node_kind kind, scene_place place,
                               scene_node** out) {
    TREACLE_ASSERT(reader->pool != NULL && reader->node_count >= 0);
    void* node = NULL;
    TREACLE_TRY(scene_pool_take(reader->pool, 1, sizeof(scene_node), &node));
    reader->node_count += 1;
    *out = node;
    **out = (scene_node){.kind = kind, .place = place};
    return TREACLE_OK;
}

void scene_node_append(scene_node* parent, scene_node* child) {
    TREACLE_ASSERT(parent != child && parent->kind != NODE_SCALAR);
    child->next = NULL;
    if (parent->last == NULL) {
        parent->first = child;
    } else {
        parent->last->next = child;
    }
    parent->last = child;
    parent->count += 1;
}

static scene_node* before(const scene_node* parent, const scene_node* child) {
    scene_node* node = NULL;
    for (scene_node* n = parent->first; n != child; n = n->next) {
        node = n;
    }
    return node;
}

void scene_node_replace(scene_node* parent, scene_node* old, scene_node* child) {
    TREACLE_ASSERT(parent->count > 0 && old != child);
    scene_node* previous = before(parent, old);
    child->next = old->next;
    child->key = old->key;
    *(previous == NULL ? &parent->first : &previous->next) = child;
    if (parent->last == old) {
        parent->last = child;
    }
}

void scene_node_remove(scene_node* parent, scene_node* child) {
    TREACLE_ASSERT(parent->count > 0 && parent != child);
    scene_node* previous = before(parent, child);
    *(previous == NULL ? &parent->first : &previous->next) = child->next;
    if (parent->last == child) {
        parent->last = previous;
    }
    parent->count -= 1;
}

scene_node* scene_node_find(const scene_node* map, const char* key) {
    TREACLE_ASSERT(key != NULL);
    TREACLE_ASSERT(map->kind == NODE_MAP || map->first == NULL);
    scene_node* node = map->first;
    while (node != NULL && strcmp(node->key, key) != 0) {
        node = node->next;
    }
    return node;
}

scene_node* scene_node_at(const scene_node* list, int index) {
    TREACLE_ASSERT(index >= 0);
    scene_node* node = list->first;
    for (int i = 0; i < index && node != NULL; ++i) {
        node = node->next;
    }
    return node;
}

bool scene_node_is_null(const scene_node* node) {
    TREACLE_ASSERT(node->kind != NODE_SCALAR || node->text != NULL);
    return node->kind == NODE_SCALAR && !node->is_quoted &&
           (node->text[0] == '\0' || strcmp(node->text, "~") == 0 ||
            strcmp(node->text, "null") == 0);
}

const char* scene_node_kind_text(const scene_node* node) {
    switch (node->kind) {
    case NODE_LIST:
        return "a list";
    case NODE_MAP:
        return "a map of keys";
    case NODE_SCALAR:
        break;
    }
    return scene_node_is_null(node) ? "nothing" : "a single value";
}

// Whether a child of a map or a list is named as it should be, and no later one has its name.
static bool is_named(const scene_node* parent, const scene_node* child) {
    if (parent->kind == NODE_LIST) {
        return child->key == NULL;
    }
    bool is_once = child->key != NULL;
    int more = parent->count; // in a ring there is no end
    for (const scene_node* n = child->next; n != NULL && is_once && more > 0; n = n->next) {
        is_once = n->key != NULL && strcmp(n->key, child->key) != 0;
        more -= 1;
    }
    return is_once;
}

static bool is_valid_at(const scene_node* node, int depth) {
    if (node->place.file == NULL || depth > SCENE_DEPTH_MAX) {
        return false;
    }
    if (node->kind == NODE_SCALAR) {
        return node->text != NULL && node->first == NULL && node->count == 0;
    }
    int count = 0;
    const scene_node* last = NULL;
    for (const scene_node* n = node->first; n != NULL && count <= node->count; n = n->next) {
        if (!is_named(node, n) || !is_valid_at(n, depth + 1)) {
            return false;
        }
        last = n;
        count += 1;
    }
    return count == node->count && last == node->last;
}

bool scene_node_is_valid(const scene_node* node) {
    return is_valid_at(node, 0);
}
