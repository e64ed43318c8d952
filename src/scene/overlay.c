// One scene on top of another: includes first, the file on them, settings of the command line last.
//
// Sections and named maps are merged key by key; every other value replaces the one below. `null`
// takes a key away. A key that is one of a choice (cell, resolution) replaces the others of it.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "defs/spelling.h"
#include "scene/scene_internal.h"

enum {
    INCLUDE_DEPTH_MAX = 16,
    FILES_MAX = 256,
    PATH_PART_MAX = 64,
};

// Merging --------------------------------------------------------------------

// What the schema knows of a node: its own section, or that of each child. All NULL: a plain value.
typedef struct merge_kind {
    const schema_section* section;
    const schema_section* each; // of the children of a map or list
} merge_kind;

static merge_kind kind_below(merge_kind kind, const char* key) {
    if (kind.each != NULL) {
        return (merge_kind){.section = kind.each};
    }
    const schema_key* row =
        kind.section == NULL || key == NULL ? NULL : schema_find(kind.section, key);
    if (row == NULL) {
        return (merge_kind){0};
    }
    switch (row->type) {
    case SCHEMA_SECTION:
        return (merge_kind){.section = row->of};
    case SCHEMA_MAP:
    case SCHEMA_LIST:
        return (merge_kind){.each = row->of};
    case SCHEMA_SHAPE:
        return (merge_kind){.section = &schema_shape};
    case SCHEMA_SHAPES:
        return (merge_kind){.each = &schema_shape};
    default:
        return (merge_kind){0};
    }
}

static void drop_rivals(scene_node* map, const schema_section* section, const char* key) {
    const schema_key* row = section == NULL ? NULL : schema_find(section, key);
    for (int i = 0; row != NULL && row->choice > 0 && i < section->key_count; ++i) {
        const schema_key* other = &section->keys[i];
        scene_node* node =
            other->choice == row->choice && other != row ? scene_node_find(map, other->name) : NULL;
        if (node != NULL) {
            scene_node_remove(map, node);
        }
    }
}

static bool merges(const scene_node* below, const scene_node* above, merge_kind kind) {
    bool is_known = (kind.section != NULL && kind.section != &schema_shape) || kind.each != NULL;
    return is_known && below->kind == NODE_MAP && above->kind == NODE_MAP;
}

static void merge(scene_node* below, scene_node* above, merge_kind kind) {
    scene_node* next = NULL;
    for (scene_node* n = above->first; n != NULL; n = next) {
        next = n->next;
        scene_node* old = scene_node_find(below, n->key);
        merge_kind inner = kind_below(kind, n->key);
        drop_rivals(below, kind.section, n->key);
        if (old == NULL) {
            scene_node_append(below, n);
        } else if (scene_node_is_null(n)) {
            scene_node_remove(below, old);
        } else if (merges(old, n, inner)) {
            merge(old, n, inner);
        } else {
            scene_node_replace(below, old, n);
        }
    }
}

// The row of a section's key that is spelt in the other way; NULL if the key is no such word.
static const schema_key* find_respelt(const schema_section* section, const char* key) {
    char word[SPELLING_MAX];
    bool is_other = section != NULL && key != NULL && schema_find(section, key) == NULL;
    return is_other && spelling_house(key, word) ? schema_find(section, word) : NULL;
}

// Keys get the spelling of the table, so that layers merge however each of them spells.
static treacle_status respell(overlay* o, scene_node* node, merge_kind kind) {
    for (scene_node* n = node->first; n != NULL; n = n->next) {
        const schema_key* row = find_respelt(kind.section, n->key);
        if (row != NULL && scene_node_find(node, row->name) != NULL) {
            o->is_broken = true;
            return scene_diag_error(o->reader.diags, n->key_place,
                                    "'%s' is another spelling of '%s', which is given, too", n->key,
                                    row->name);
        }
        n->key = row == NULL ? n->key : row->name;
        TREACLE_TRY(respell(o, n, kind_below(kind, n->key)));
    }
    return TREACLE_OK;
}

// Files ----------------------------------------------------------------------

typedef struct open_file {
    const struct open_file* up; // that includes this one
    const char* path;
    dev_t device;
    ino_t inode;
    int depth;
} open_file;

typedef struct file_text {
    char* chars;
    size_t length, capacity;
    const char* problem; // NULL: read
} file_text;

static void free_text(overlay* o, file_text* file) {
    if (file->chars != NULL) {
        alloc_free(o->ctx, file->chars, file->capacity);
    }
    file->chars = NULL;
}

static treacle_status read_stream(overlay* o, FILE* stream, size_t size, file_text* out) {
    void* block = NULL;
    out->capacity = size + 1;
    TREACLE_TRY(alloc_array(o->ctx, out->capacity, 1, "the text of a scene file", &block));
    out->chars = block;
    out->length = fread(out->chars, 1, size, stream);
    out->problem = ferror(stream) ? "it cannot be read" : NULL;
    return TREACLE_OK;
}

static treacle_status read_file(overlay* o, open_file* file, file_text* out) {
    struct stat info;
    *out = (file_text){0};
    int fd = open(file->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); // a pipe would wait for ever
    FILE* stream = fd >= 0 ? fdopen(fd, "rb") : NULL;
    if (stream == NULL || fstat(fd, &info) != 0) {
        out->problem = strerror(errno);
    } else if (!S_ISREG(info.st_mode)) {
        out->problem = S_ISDIR(info.st_mode) ? "it is a folder" : "it is not a plain file";
    } else if (info.st_size > SCENE_TEXT_MAX) {
        out->problem = "it is larger than 16 MB";
    }
    treacle_status status = TREACLE_OK;
    if (out->problem == NULL) {
        file->device = info.st_dev;
        file->inode = info.st_ino;
        status = read_stream(o, stream, (size_t)info.st_size, out);
    }
    if (stream != NULL) {
        fclose(stream);
    } else if (fd >= 0) {
        close(fd);
    }
    return status;
}

static treacle_status make_file(overlay* o, const char* name, bool is_set, const scene_file** out) {
    void* block = NULL;
    TREACLE_TRY(scene_pool_take(o->reader.pool, 1, sizeof(scene_file), &block));
    scene_file* file = block;
    file->order = o->file_count++;
    file->is_set = is_set;
    *out = file;
    return scene_pool_text(o->reader.pool, name, strlen(name), &file->name);
}

static treacle_status load_file(overlay* o, open_file* file, const scene_node* from,
                                scene_node** out);

treacle_status overlay_join_path(scene_pool* pool, const char* from, const char* path,
                                 const char** out) {
    TREACLE_ASSERT(from != NULL && path != NULL);
    const char* slash = strrchr(from, '/');
    size_t folder = path[0] == '/' || slash == NULL ? 0 : (size_t)(slash - from) + 1;
    text t;
    text_init(&t, pool->ctx);
    text_append_span(&t, from, folder);
    text_append(&t, path);
    treacle_status status = text_status(&t);
    if (status == TREACLE_OK) {
        status = scene_pool_text(pool, t.at, t.length, out);
    }
    text_finish(&t);
    return status;
}

static treacle_status overlay_refuse(overlay* o, const scene_node* node, const char* format,
                                     const char* detail) {
    o->is_broken = true;
    return scene_diag_error(o->reader.diags, node->place, format, detail);
}

static treacle_status load_include(overlay* o, const open_file* from, const scene_node* node,
                                   scene_node** out) {
    *out = NULL;
    if (!o->can_read_files) {
        return overlay_refuse(
            o, node, "include: a scene that is read from memory cannot include files%s", "");
    }
    if (node->kind != NODE_SCALAR || scene_node_is_null(node) || node->text[0] == '\0') {
        return overlay_refuse(o, node, "include: expected the path of a scene file, got %s",
                              scene_node_kind_text(node));
    }
    if (from->depth >= INCLUDE_DEPTH_MAX || o->file_count >= FILES_MAX) {
        return overlay_refuse(o, node, "include: too many files include each other, at '%s'",
                              node->text);
    }
    open_file file = {.up = from, .depth = from->depth + 1};
    TREACLE_TRY(overlay_join_path(o->reader.pool, from->path, node->text, &file.path));
    return load_file(o, &file, node, out);
}

// Takes `include` out of the scene and lays the scene on what it names.
static treacle_status resolve_includes(overlay* o, const open_file* file, scene_node** scene) {
    scene_node* include = (*scene)->kind == NODE_MAP ? scene_node_find(*scene, "include") : NULL;
    if (include == NULL) {
        return TREACLE_OK;
    }
    scene_node_remove(*scene, include);
    scene_node* below = NULL;
    const scene_node* first = include->kind == NODE_LIST ? include->first : include;
    for (const scene_node* n = first; n != NULL; n = n == include ? NULL : n->next) {
        scene_node* layer = NULL;
        TREACLE_TRY(load_include(o, file, n, &layer));
        if (layer == NULL || layer->kind != NODE_MAP) {
            o->is_broken = true;
        } else if (below == NULL) {
            below = layer;
        } else {
            merge(below, layer, (merge_kind){.section = &schema_root});
        }
    }
    if (below != NULL && !o->is_broken) {
        merge(below, *scene, (merge_kind){.section = &schema_root});
        below->place = (*scene)->place;
        *scene = below;
    }
    return TREACLE_OK;
}

static treacle_status parse_layer(overlay* o, const open_file* file, const file_text* chars,
                                  scene_node** out) {
    const scene_file* name = NULL;
    TREACLE_TRY(make_file(o, file->path, false, &name));
    TREACLE_TRY(yaml_tree_read(&o->reader, name, chars->chars, chars->length, out));
    if (*out == NULL) {
        o->is_broken = true;
        return TREACLE_OK;
    }
    if (scene_node_is_null(*out)) {
        return overlay_refuse(o, *out, "the file is empty%s", "");
    }
    if ((*out)->kind != NODE_MAP) {
        return overlay_refuse(o, *out,
                              "expected a scene, keys with values such as 'domain: ...', got %s",
                              scene_node_kind_text(*out));
    }
    TREACLE_TRY(respell(o, *out, (merge_kind){.section = &schema_root}));
    return resolve_includes(o, file, out);
}

static bool is_open(const open_file* file) {
    for (const open_file* f = file->up; f != NULL; f = f->up) {
        if (f->device == file->device && f->inode == file->inode) {
            return true;
        }
    }
    return false;
}

static treacle_status report_unread(overlay* o, const open_file* file, const scene_node* from,
                                    const char* problem) {
    if (from == NULL) {
        return check_fail(o->ctx, TREACLE_ERR_IO, "cannot read the scene %s: %s", file->path,
                          problem);
    }
    o->is_broken = true;
    return scene_diag_error(o->reader.diags, from->place, "include: cannot read '%s': %s",
                            file->path, problem);
}

// `from`: the node that includes the file; NULL for the scene itself.
static treacle_status load_file(overlay* o, open_file* file, const scene_node* from,
                                scene_node** out) {
    file_text chars;
    treacle_status status = read_file(o, file, &chars);
    if (status == TREACLE_OK && chars.problem != NULL) {
        status = report_unread(o, file, from, chars.problem);
    } else if (status == TREACLE_OK && is_open(file)) {
        status = overlay_refuse(
            o, from, "include: '%s' includes itself, directly or through others", file->path);
    } else if (status == TREACLE_OK) {
        status = parse_layer(o, file, &chars, out);
    }
    free_text(o, &chars);
    return status;
}

treacle_status overlay_load(overlay* o, const char* path, scene_node** out) {
    open_file file = {.path = path};
    *out = NULL;
    o->can_read_files = true;
    return load_file(o, &file, NULL, out);
}

treacle_status overlay_look(overlay* o, const overlay_text* from, scene_node* root) {
    scene_node* look = NULL;
    TREACLE_TRY(from->chars == NULL
                    ? overlay_load(o, from->path, &look)
                    : overlay_parse(o, from->path, from->chars, from->length, &look));
    if (o->is_broken || look == NULL) {
        return TREACLE_OK;
    }
    if (look->kind != NODE_MAP) {
        return overlay_refuse(o, look, "expected the sections %s", "'look' and 'camera'");
    }
    for (const scene_node* n = look->first; n != NULL; n = n->next) {
        if (strcmp(n->key, "look") != 0 && strcmp(n->key, "camera") != 0) {
            TREACLE_TRY(scene_diag_error(o->reader.diags, n->key_place,
                                         "a look has the sections 'look' and 'camera', not '%s'",
                                         n->key));
        }
    }
    const merge_kind whole = {.section = &schema_root};
    merge(root, look, whole);
    return TREACLE_OK;
}

treacle_status overlay_parse(overlay* o, const char* name, const char* chars, size_t length,
                             scene_node** out) {
    TREACLE_ASSERT(chars != NULL || length == 0);
    open_file file = {.path = name};
    file_text whole = {.chars = (char*)chars, .length = length};
    *out = NULL;
    return parse_layer(o, &file, &whole, out);
}

// Settings -------------------------------------------------------------------

typedef struct set_work {
    overlay* o;
    scene_place place;
    const char* at;    // the rest of the path
    scene_node* node;  // where the path has led
    merge_kind kind;   // of that node
    scene_node* value; // to put at the end
    bool is_done;
} set_work;

static treacle_status set_error(set_work* work, const char* format, const char* detail) {
    work->is_done = true;
    return scene_diag_error(work->o->reader.diags, work->place, format, detail);
}

static bool is_last(const set_work* work) {
    return *work->at == '=';
}

// The child of that key, made if need be.
static treacle_status enter_key(set_work* work, const char* key) {
    scene_node* child = scene_node_find(work->node, key);
    if (child == NULL || scene_node_is_null(child)) {
        scene_node* fresh = NULL;
        TREACLE_TRY(scene_node_make(&work->o->reader, NODE_MAP, work->place, &fresh));
        fresh->key_place = work->place;
        if (child == NULL) {
            fresh->key = key;
            drop_rivals(work->node, work->kind.section, key);
            scene_node_append(work->node, fresh);
        } else {
            scene_node_replace(work->node, child, fresh);
        }
        child = fresh;
    }
    work->kind = kind_below(work->kind, key);
    work->node = child;
    return TREACLE_OK;
}

static treacle_status put_key(set_work* work, const char* key) {
    scene_node above = {.kind = NODE_MAP};
    TREACLE_TRY(respell(work->o, work->value, kind_below(work->kind, key)));
    work->value->key = key;
    work->value->key_place = work->place;
    scene_node_append(&above, work->value);
    merge(work->node, &above, work->kind);
    work->is_done = true;
    return TREACLE_OK;
}

static treacle_status step_key(set_work* work) {
    size_t length = strcspn(work->at, ".[=");
    const char* key = NULL;
    if (length == 0 || length > PATH_PART_MAX) {
        return set_error(work, "expected a key before '%.20s'", work->at);
    }
    TREACLE_TRY(scene_pool_text(work->o->reader.pool, work->at, length, &key));
    work->at += length;
    const schema_key* row = find_respelt(work->kind.section, key);
    key = row == NULL ? key : row->name;
    if (work->node->kind != NODE_MAP) {
        const char* format = work->node->kind == NODE_LIST
                                 ? "'%s' cannot follow a list: choose an item, as in [0]"
                                 : "'%s' cannot follow a single value";
        return set_error(work, format, key);
    }
    return is_last(work) ? put_key(work, key) : enter_key(work, key);
}

static treacle_status put_item(set_work* work, int index) {
    scene_node* old = scene_node_at(work->node, index);
    TREACLE_TRY(respell(work->o, work->value, kind_below(work->kind, NULL)));
    if (old == NULL) {
        scene_node_append(work->node, work->value);
    } else {
        scene_node_replace(work->node, old, work->value);
    }
    work->is_done = true;
    return TREACLE_OK;
}

// The item of that index; one past the last adds an item.
static treacle_status enter_item(set_work* work, int index) {
    scene_node* child = scene_node_at(work->node, index);
    if (child == NULL) {
        TREACLE_TRY(scene_node_make(&work->o->reader, NODE_MAP, work->place, &child));
        scene_node_append(work->node, child);
    }
    work->kind = kind_below(work->kind, NULL);
    work->node = child;
    return TREACLE_OK;
}

static treacle_status step_index(set_work* work) {
    char* end = NULL;
    long index = strtol(work->at + 1, &end, 10);
    if (end == work->at + 1 || *end != ']' || index < 0) {
        return set_error(work, "expected an index such as [0] at '%.20s'", work->at);
    }
    work->at = end + 1;
    if (work->node->kind != NODE_LIST) {
        return set_error(work, "an index needs a list, and before it stands %s",
                         scene_node_kind_text(work->node));
    }
    if (index > work->node->count) {
        char count[64];
        snprintf(count, sizeof(count), "%d item%s", work->node->count,
                 work->node->count == 1 ? "" : "s");
        return set_error(work, "the index is too large: the list has %s, the first is [0]", count);
    }
    return is_last(work) ? put_item(work, (int)index) : enter_item(work, (int)index);
}

static treacle_status follow_path(set_work* work) {
    TREACLE_TRY(step_key(work));
    while (!work->is_done) {
        if (*work->at == '[') {
            TREACLE_TRY(step_index(work));
        } else if (*work->at == '.') {
            work->at += 1;
            TREACLE_TRY(step_key(work));
        } else {
            TREACLE_TRY(set_error(work, "expected '.', '[' or '=' before '%.20s'", work->at));
        }
    }
    return TREACLE_OK;
}

treacle_status overlay_set(overlay* o, scene_node* root, const char* setting) {
    TREACLE_ASSERT(setting != NULL && root != NULL);
    const char* equals = strchr(setting, '=');
    const scene_file* file = NULL;
    text name;
    text_init(&name, o->ctx);
    text_printf(&name, "--set %s", setting);
    treacle_status status = text_status(&name);
    if (status == TREACLE_OK) {
        status = make_file(o, name.at, true, &file);
    }
    text_finish(&name);
    TREACLE_TRY(status);
    set_work work = {.o = o,
                     .place = {file, 1, 1},
                     .at = setting,
                     .node = root,
                     .kind = {.section = &schema_root}};
    if (equals == NULL) {
        return set_error(&work, "expected key=value, such as domain.cell=2mm%s", "");
    }
    TREACLE_TRY(yaml_tree_read(&o->reader, file, equals + 1, strlen(equals + 1), &work.value));
    return work.value == NULL ? TREACLE_OK : follow_path(&work);
}
