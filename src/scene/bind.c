#include "scene/bind.h"

#include <string.h>

#include "base/text.h"
#include "math/suggest.h"

enum { KEYS_MAX = 64 }; // of a section

// Messages -------------------------------------------------------------------

typedef struct message {
    treacle_log_level level;
    scene_place place;
    const schema_path* path;
} message;

static treacle_status say(binder* b, const message* m, const char* format, va_list args) {
    char path[SCHEMA_PATH_MAX];
    text t;
    text_init(&t, b->ctx);
    schema_path_print(m->path, path);
    if (path[0] != '\0') {
        text_printf(&t, "%s: ", path);
    }
    text_vprintf(&t, format, args);
    treacle_status status = text_status(&t);
    if (status == TREACLE_OK) {
        status = scene_diag_add(b->diags, m->level, m->place, t.at);
    }
    text_finish(&t);
    return status;
}

treacle_status bind_error(binder* b, scene_place place, const schema_path* path, const char* format,
                          ...) {
    va_list args;
    va_start(args, format);
    treacle_status status = say(b, &(message){TREACLE_LOG_ERROR, place, path}, format, args);
    va_end(args);
    return status;
}

treacle_status bind_warning(binder* b, scene_place place, const schema_path* path,
                            const char* format, ...) {
    va_list args;
    va_start(args, format);
    treacle_status status = say(b, &(message){TREACLE_LOG_WARNING, place, path}, format, args);
    va_end(args);
    return status;
}

treacle_status bind_note(binder* b, scene_place place, const schema_path* path, const char* format,
                         ...) {
    va_list args;
    va_start(args, format);
    treacle_status status = say(b, &(message){TREACLE_LOG_INFO, place, path}, format, args);
    va_end(args);
    return status;
}

scene_place bind_place(const scene_node* map, const char* key) {
    TREACLE_ASSERT(map != NULL && key != NULL);
    const scene_node* node = scene_node_find(map, key);
    return node == NULL ? map->place : node->place;
}

// Keys -----------------------------------------------------------------------

// The section, among `section` and those inside it, that knows a key.
static const schema_section* owner(const schema_section* section, const char* key, int depth) {
    if (schema_find(section, key) != NULL) {
        return section;
    }
    const schema_section* found = NULL;
    for (int i = 0; i < section->key_count && found == NULL && depth > 0; ++i) {
        const schema_key* row = &section->keys[i];
        const schema_section* of = row->type == SCHEMA_SHAPE ? &schema_shape : row->of;
        found = of == NULL ? NULL : owner(of, key, depth - 1);
    }
    return found;
}

static void append_keys(text* t, const schema_section* section) {
    for (int i = 0; i < section->key_count; ++i) {
        text_printf(t, "%s%s", i == 0 ? "" : ", ", section->keys[i].name);
    }
}

// The section's key that a word is near to, or NULL.
static const char* nearest_key(const schema_section* section, const char* word) {
    const char* names[KEYS_MAX];
    int count = section->key_count < KEYS_MAX ? section->key_count : KEYS_MAX;
    for (int i = 0; i < count; ++i) {
        names[i] = section->keys[i].name;
    }
    return suggest_word(word, names, count);
}

static void append_unknown(text* t, const schema_section* section, const char* key) {
    char quote[BIND_QUOTE_MAX];
    bind_quote(&(scene_node){.kind = NODE_SCALAR, .is_quoted = true, .text = key}, quote);
    text_printf(t, "unknown key %s", quote);
    const char* near = nearest_key(section, key);
    const schema_section* other = owner(&schema_root, key, 3);
    if (other != NULL) {
        text_printf(t, "; it is a key of the %s", other->name);
    } else if (near != NULL) {
        text_printf(t, "; did you mean '%s'?", near);
    } else {
        text_printf(t, "; the keys of the %s are ", section->name);
        append_keys(t, section);
    }
}

static treacle_status check_known(binder* b, const schema_section* section, const scene_node* map,
                                  const schema_path* path) {
    treacle_status status = TREACLE_OK;
    for (const scene_node* n = map->first; n != NULL && status == TREACLE_OK; n = n->next) {
        if (schema_find(section, n->key) != NULL) {
            continue;
        }
        text t;
        text_init(&t, b->ctx);
        append_unknown(&t, section, n->key);
        status = text_status(&t);
        if (status == TREACLE_OK) {
            status = bind_error(b, n->key_place, path, "%s", t.at);
        }
        text_finish(&t);
    }
    return status;
}

// "'cell' or 'resolution'"
static void append_choice(text* t, const schema_section* section, int choice) {
    int count = 0, said = 0;
    for (int i = 0; i < section->key_count; ++i) {
        count += section->keys[i].choice == choice;
    }
    for (int i = 0; i < section->key_count; ++i) {
        if (section->keys[i].choice == choice) {
            const char* joint = said == 0 ? "" : said + 1 == count ? " or " : ", ";
            text_printf(t, "%s'%s'", joint, section->keys[i].name);
            said += 1;
        }
    }
}

// Whether an unknown key of the map was probably meant to be this one, or another of its choice:
// then that was said already, or all keys were listed.
static bool is_misspelt(const schema_section* section, const schema_key* key,
                        const scene_node* map) {
    for (const scene_node* n = map->first; n != NULL; n = n->next) {
        const char* near =
            schema_find(section, n->key) == NULL ? nearest_key(section, n->key) : NULL;
        const schema_key* meant = near == NULL ? NULL : schema_find(section, near);
        bool is_listed = near == NULL && schema_find(section, n->key) == NULL;
        if (meant == key || (key->choice > 0 && is_listed) ||
            (meant != NULL && key->choice > 0 && meant->choice == key->choice)) {
            return true;
        }
    }
    return false;
}

// The first part of a help text, without its Markdown.
static void append_help(text* t, const char* help) {
    for (const char* c = help; *c != '\0' && *c != ';'; ++c) {
        text_append_char(t, *c == '`' ? '\'' : *c);
    }
}

static treacle_status report_missing(binder* b, const schema_section* section,
                                     const schema_key* key, const bind_slot* where) {
    if (is_misspelt(section, key, where->node)) {
        return TREACLE_OK;
    }
    text t;
    text_init(&t, b->ctx);
    if (key->choice > 0) {
        text_append(&t, "one of these keys is missing: ");
        append_choice(&t, section, key->choice);
    } else {
        text_printf(&t, "the key '%s' is missing (", key->name);
        append_help(&t, key->help);
        text_append_char(&t, ')');
    }
    treacle_status status = text_status(&t);
    if (status == TREACLE_OK) {
        status = bind_error(b, where->node->place, where->path, "%s", t.at);
    }
    text_finish(&t);
    return status;
}

static bool is_after(const scene_place* a, const scene_place* b) {
    return a->line != b->line ? a->line > b->line : a->column > b->column;
}

// Only one key of a choice may be given, and one must be if the choice is required.
static treacle_status check_choice(binder* b, const schema_section* section, int first,
                                   const bind_slot* where) {
    const schema_key* key = &section->keys[first];
    const scene_node* given = NULL;
    for (int i = first; i < section->key_count; ++i) {
        const schema_key* other = &section->keys[i];
        const scene_node* node =
            other->choice == key->choice ? scene_node_find(where->node, other->name) : NULL;
        if (node != NULL && given != NULL) {
            bool is_later = is_after(&node->key_place, &given->key_place);
            const scene_node* second = is_later ? node : given;
            return bind_error(b, second->key_place, where->path,
                              "give either '%s' or '%s', not both", (is_later ? given : node)->key,
                              second->key);
        }
        given = node == NULL ? given : node;
    }
    bool is_missing = given == NULL && (key->flags & SCHEMA_REQUIRED) != 0;
    return is_missing ? report_missing(b, section, key, where) : TREACLE_OK;
}

static bool begins_choice(const schema_section* section, int index) {
    int choice = section->keys[index].choice;
    for (int i = 0; i < index; ++i) {
        if (section->keys[i].choice == choice) {
            return false;
        }
    }
    return choice > 0;
}

static treacle_status check_given(binder* b, const schema_section* section,
                                  const bind_slot* where) {
    for (int i = 0; i < section->key_count; ++i) {
        const schema_key* key = &section->keys[i];
        if (begins_choice(section, i)) {
            TREACLE_TRY(check_choice(b, section, i, where));
        } else if (key->choice == 0 && (key->flags & SCHEMA_REQUIRED) != 0 &&
                   scene_node_find(where->node, key->name) == NULL) {
            TREACLE_TRY(report_missing(b, section, key, where));
        }
    }
    return TREACLE_OK;
}

// Containers -----------------------------------------------------------------

static treacle_status bind_inner(binder* b, const bind_slot* slot) {
    return bind_section(b, slot->key->of, slot->node, slot->item + slot->key->offset, slot->path);
}

static treacle_status check_count(binder* b, const bind_slot* slot) {
    const schema_range* range = &slot->key->range;
    int count = slot->node->count;
    if (range->has_min && count < range->min) {
        return bind_error(b, slot->node->place, slot->path, "expected at least %.0f %s, got %d",
                          range->min, slot->key->of->name, count);
    }
    if (range->has_max && count > range->max) {
        return bind_error(b, slot->node->place, slot->path, "at most %.0f are possible, got %d",
                          range->max, count);
    }
    return TREACLE_OK;
}

static treacle_status bind_items(binder* b, const bind_slot* slot) {
    const schema_section* of = slot->key->of;
    void* block = NULL;
    TREACLE_TRY(check_count(b, slot));
    TREACLE_TRY(scene_pool_take(b->pool, (size_t)slot->node->count, of->bytes, &block));
    int index = 0;
    for (const scene_node* n = slot->node->first; n != NULL; n = n->next, ++index) {
        char* item = (char*)block + (size_t)index * of->bytes;
        schema_path path = {.up = slot->path, .name = n->key, .index = index};
        of->init(item);
        if (n->key != NULL) {
            memcpy(item + of->name_offset, &n->key, sizeof(n->key));
        }
        TREACLE_TRY(bind_section(b, of, n, item, &path));
    }
    memcpy(slot->item + slot->key->offset, &block, sizeof(block));
    memcpy(slot->item + slot->key->count_offset, &slot->node->count, sizeof(int));
    return TREACLE_OK;
}

static treacle_status bind_list(binder* b, const bind_slot* slot) {
    char quote[BIND_QUOTE_MAX];
    bind_quote(slot->node, quote);
    if (slot->node->kind != NODE_LIST) {
        return bind_error(b, slot->node->place, slot->path,
                          "expected a list, each %s beginning with '- '; got %s",
                          slot->key->of->name, quote);
    }
    return bind_items(b, slot);
}

static treacle_status bind_map(binder* b, const bind_slot* slot) {
    char quote[BIND_QUOTE_MAX];
    bind_quote(slot->node, quote);
    if (slot->node->kind != NODE_MAP) {
        return bind_error(b, slot->node->place, slot->path,
                          "expected a map, each %s under a name of its own; got %s",
                          slot->key->of->name, quote);
    }
    return bind_items(b, slot);
}

// Includes at the top level are gone by now; anywhere else they are a mistake.
static treacle_status bind_include(binder* b, const bind_slot* slot) {
    return bind_error(b, slot->node->place, slot->path, "cannot be set on the command line");
}

static bind_fcn* const binders[SCHEMA_TYPE_COUNT] = {
    [SCHEMA_BOOL] = bind_bool,       [SCHEMA_INT] = bind_int,
    [SCHEMA_INT64] = bind_int64,     [SCHEMA_REAL] = bind_real,
    [SCHEMA_VEC3] = bind_vec3,       [SCHEMA_COLOUR] = bind_colour,
    [SCHEMA_ENUM] = bind_enum,       [SCHEMA_NAME] = bind_name,
    [SCHEMA_MESH] = bind_mesh,       [SCHEMA_CURVE] = bind_curve,
    [SCHEMA_CURVE3] = bind_curve3,   [SCHEMA_FIELD] = bind_field,
    [SCHEMA_FIELD3] = bind_field3,   [SCHEMA_SHAPE] = bind_shape,
    [SCHEMA_SHAPES] = bind_shapes,   [SCHEMA_MATERIAL] = bind_material,
    [SCHEMA_PRESET] = bind_preset,   [SCHEMA_SECTION] = bind_inner,
    [SCHEMA_LIST] = bind_list,       [SCHEMA_MAP] = bind_map,
    [SCHEMA_FILE] = bind_file,       [SCHEMA_INCLUDE] = bind_include,
    [SCHEMA_RELEASE] = bind_release,
};

static bool has_required(const schema_section* section) {
    bool is_any = false;
    for (int i = 0; i < section->key_count; ++i) {
        is_any = is_any || (section->keys[i].flags & SCHEMA_REQUIRED) != 0;
    }
    return is_any;
}

static treacle_status report_not_a_map(binder* b, const schema_section* section,
                                       const bind_slot* where) {
    char quote[BIND_QUOTE_MAX];
    bind_quote(where->node, quote);
    text t;
    text_init(&t, b->ctx);
    text_append(&t, "expected keys (");
    append_keys(&t, section);
    text_printf(&t, "), got %s", quote);
    treacle_status status = text_status(&t);
    if (status == TREACLE_OK) {
        status = bind_error(b, where->node->place, where->path, "%s", t.at);
    }
    text_finish(&t);
    return status;
}

// A section without keys: nothing, where nothing is needed; one word, where a key takes it for all.
static treacle_status bind_without_keys(binder* b, const schema_section* section,
                                        const bind_slot* where) {
    if (scene_node_is_null(where->node) && !has_required(section)) {
        return TREACLE_OK;
    }
    for (int i = 0; i < section->key_count && where->node->kind == NODE_SCALAR; ++i) {
        if ((section->keys[i].flags & SCHEMA_ALONE) != 0) {
            bind_slot slot = *where;
            slot.key = &section->keys[i];
            return binders[slot.key->type](b, &slot);
        }
    }
    return report_not_a_map(b, section, where);
}

static treacle_status report_fault(binder* b, const schema_fault* fault, const bind_slot* where) {
    bool is_given = scene_node_find(where->node, fault->key) != NULL;
    const char* key = is_given || fault->or_key == NULL ? fault->key : fault->or_key;
    return bind_error(b, bind_place(where->node, key), where->path, "%s", fault->text);
}

treacle_status bind_section(binder* b, const schema_section* section, const scene_node* map,
                            void* item, const schema_path* path) {
    TREACLE_ASSERT(section->keys != NULL && map != NULL && item != NULL);
    const int before_all = b->diags->errors;
    int errors = before_all;
    const bind_slot where = {.node = map, .item = item, .path = path};
    if (map->kind != NODE_MAP) {
        return bind_without_keys(b, section, &where);
    }
    TREACLE_TRY(check_known(b, section, map, path));
    TREACLE_TRY(check_given(b, section, &where));
    for (int i = 0; i < section->key_count; ++i) {
        const schema_key* key = &section->keys[i];
        const scene_node* node = scene_node_find(map, key->name);
        if (node != NULL) {
            schema_path inner = {.up = path, .name = key->name};
            bind_slot slot = {.key = key, .node = node, .item = item, .path = &inner};
            const int before = b->diags->errors;
            TREACLE_TRY(binders[key->type](b, &slot));
            errors += key->type == SCHEMA_SECTION ? b->diags->errors - before : 0;
        }
    }
    if (b->diags->errors != errors) {
        return TREACLE_OK;
    }
    bool is_whole = b->diags->errors == before_all; // and the sections inside it are right
    schema_fault fault;
    if (is_whole && section->rule != NULL && !section->rule(item, &fault)) {
        return report_fault(b, &fault, &where);
    }
    bind_check_fcn* check = bind_check_of(section);
    return check != NULL ? check(b, map, item, path) : TREACLE_OK;
}
