#include "scene/scene_node.h"

#include <string.h>

treacle_status scene_node_make(scene_reader* reader, scene_node_kind kind, scene_place place,
                               scene_node** out) {
    void* node = NULL;
    TREACLE_TRY(scene_pool_take(reader->pool, 1, sizeof(scene_node), &node));
    reader->node_count += 1;
    *out = node;
    **out = (scene_node){.kind = kind, .place = place};
    return TREACLE_OK;
}

void scene_node_append(scene_node* parent, scene_node* child) {
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
    scene_node* previous = before(parent, old);
    child->next = old->next;
    child->key = old->key;
    *(previous == NULL ? &parent->first : &previous->next) = child;
    if (parent->last == old) {
        parent->last = child;
    }
}

void scene_node_remove(scene_node* parent, scene_node* child) {
    scene_node* previous = before(parent, child);
    *(previous == NULL ? &parent->first : &previous->next) = child->next;
    if (parent->last == child) {
        parent->last = previous;
    }
    parent->count -= 1;
}

scene_node* scene_node_find(const scene_node* map, const char* key) {
    scene_node* node = map->first;
    while (node != NULL && strcmp(node->key, key) != 0) {
        node = node->next;
    }
    return node;
}

scene_node* scene_node_at(const scene_node* list, int index) {
    scene_node* node = list->first;
    for (int i = 0; i < index && node != NULL; ++i) {
        node = node->next;
    }
    return node;
}

bool scene_node_is_null(const scene_node* node) {
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
