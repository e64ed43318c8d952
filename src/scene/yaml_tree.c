// libyaml's events -> the tree of nodes.
//
// Anchors and aliases work: an alias becomes a copy of the node that it names. Tags, several
// documents and merge keys are not part of scenes and are refused.
#include <string.h>
#include <yaml.h>

#include "math/suggest.h"
#include "scene/scene_node.h"

enum {
    ANCHORS_MAX = 256,
    KEYS_MAX = 4096, // of one map; finding duplicates compares all pairs
};

typedef struct anchor {
    const char* name;
    const scene_node* node;
} anchor;

typedef struct tree {
    scene_reader* reader;
    const scene_file* file;
    const char* chars;
    size_t length;
    yaml_parser_t parser;
    bool is_broken; // a syntax error was reported; nothing more can be read
    int anchor_count;
    anchor anchors[ANCHORS_MAX];
} tree;

static scene_place yaml_tree_place_of(const tree* t, yaml_mark_t mark) {
    return (scene_place){t->file, (int)mark.line + 1, (int)mark.column + 1};
}

static treacle_status give_up(tree* t, scene_place place, const char* why) {
    t->is_broken = true;
    return scene_diag_error(t->reader->diags, place, "%s", why);
}

// Line and column of a byte.
static scene_place place_of_byte(const tree* t, size_t offset) {
    scene_place place = {t->file, 1, 1};
    for (size_t i = 0; i < offset && i < t->length; ++i) {
        unsigned char c = (unsigned char)t->chars[i];
        if (c == '\n') {
            place.line += 1;
            place.column = 1;
        } else if ((c & 0xc0) != 0x80) {
            place.column += 1;
        }
    }
    return place;
}

// The character at a place, 0 beyond the end of its line.
static char char_at(const tree* t, scene_place place) {
    size_t i = 0;
    for (int line = 1; line < place.line && i < t->length; ++i) {
        line += t->chars[i] == '\n';
    }
    for (int column = 1; column < place.column && i < t->length && t->chars[i] != '\n'; ++i) {
        bool is_last_byte = i + 1 >= t->length || ((unsigned char)t->chars[i + 1] & 0xc0) != 0x80;
        column += is_last_byte;
    }
    return i < t->length ? t->chars[i] : '\0';
}

// libyaml's words, and ours.
static const char* const sentences[][2] = {
    {"mapping values are not allowed in this context",
     "a ':' is not expected here: is the indentation right, and is a text that has ': ' in "
     "quotes?"},
    {"did not find expected key",
     "expected 'key: value' here: is the indentation the same as that of the keys above?"},
    {"did not find expected ',' or ']'", "expected ',' or ']': a list is not closed"},
    {"did not find expected ',' or '}'", "expected ',' or '}': a map is not closed"},
    {"could not find expected ':'", "expected ':' after the key"},
    {"found unexpected end of stream", "the file ends inside a text in quotes"},
    {"found unexpected document indicator", "'---' or '...' stands inside a text in quotes"},
    {"did not find expected '-' indicator",
     "expected '- ' here: is the indentation the same as that of the items above?"},
    {"block sequence entries are not allowed in this context",
     "a list item '- ' must begin on a line of its own"},
    {"did not find expected node content", "expected a value here"},
    {"found unknown escape character", "a backslash in \"double quotes\" begins an escape; use "
                                       "'single quotes' for a plain backslash"},
    {"did not find expected alphabetic or numeric character",
     "'*' and '&' begin a YAML alias or anchor: put the text in quotes"},
    {"did not find expected <document start>",
     "expected the end of the scene: is the indentation the same as that of the first key?"},
};

static const char* sentence_for_char(char c) {
    switch (c) {
    case '\t':
        return "a tab cannot be used for indentation: use spaces";
    case '%':
        return "a value cannot begin with '%': put it in quotes";
    case '@':
        return "a value cannot begin with '@': put it in quotes";
    case '`':
        return "a value cannot begin with '`': put it in quotes";
    default:
        return "not valid YAML: this character cannot stand here";
    }
}

// A sentence that ends in "closed" or "quotes" gets the line in which that began.
static treacle_status report_sentence(tree* t, scene_place place, const char* sentence) {
    const char* end = strrchr(sentence, ' ') + 1;
    bool is_open = strcmp(end, "closed") == 0 || strcmp(end, "quotes") == 0;
    if (!is_open || t->file->is_set) {
        return scene_diag_error(t->reader->diags, place, "%s", sentence);
    }
    scene_place begin = yaml_tree_place_of(t, t->parser.context_mark);
    return scene_diag_error(t->reader->diags, place, "%s (it begins in line %d, column %d)",
                            sentence, begin.line, begin.column);
}

static treacle_status report_syntax(tree* t) {
    const yaml_parser_t* p = &t->parser;
    const char* problem = p->problem == NULL ? "unreadable" : p->problem;
    if (p->error == YAML_READER_ERROR) {
        size_t offset = p->problem_offset;
        while (offset > 0 && offset <= t->length && (unsigned char)t->chars[offset - 1] >= 0x80) {
            offset -= 1; // the first byte of the character
        }
        t->is_broken = true;
        return scene_diag_error(t->reader->diags, place_of_byte(t, offset),
                                "the file is not UTF-8 text: %s", problem);
    }
    if (p->error == YAML_MEMORY_ERROR) {
        return check_fail(t->reader->pool->ctx, TREACLE_ERR_MEMORY,
                          "out of memory while reading %s", t->file->name);
    }
    scene_place place = yaml_tree_place_of(t, p->problem_mark);
    if (strcmp(problem, "found character that cannot start any token") == 0) {
        return give_up(t, place, sentence_for_char(char_at(t, place)));
    }
    if (char_at(t, place) == '\t') {
        return give_up(t, place, sentence_for_char('\t'));
    }
    t->is_broken = true;
    for (size_t i = 0; i < sizeof(sentences) / sizeof(sentences[0]); ++i) {
        if (strcmp(problem, sentences[i][0]) == 0) {
            return report_sentence(t, place, sentences[i][1]);
        }
    }
    return scene_diag_error(t->reader->diags, place, "not valid YAML: %s", problem);
}

static treacle_status next_event(tree* t, yaml_event_t* event) {
    memset(event, 0, sizeof(*event));
    return yaml_parser_parse(&t->parser, event) ? TREACLE_OK : report_syntax(t);
}

static treacle_status check_limits(tree* t, int depth, scene_place place) {
    if (t->is_broken) {
        return TREACLE_OK;
    }
    if (depth > SCENE_DEPTH_MAX) {
        t->is_broken = true;
        return scene_diag_error(t->reader->diags, place,
                                "lists and maps are nested more than %d deep", SCENE_DEPTH_MAX);
    }
    if (t->reader->node_count >= SCENE_NODES_MAX) {
        t->is_broken = true;
        return scene_diag_error(t->reader->diags, place,
                                "the scene has more than %d values, aliases and includes counted",
                                SCENE_NODES_MAX);
    }
    return TREACLE_OK;
}

// `alias` is the place that gets the blame for too many nodes.
static treacle_status copy_node(tree* t, const scene_node* from, int depth, scene_place alias,
                                scene_node** out) {
    *out = NULL;
    TREACLE_TRY(check_limits(t, depth, alias));
    if (t->is_broken) {
        return TREACLE_OK;
    }
    TREACLE_TRY(scene_node_make(t->reader, from->kind, from->place, out));
    (*out)->is_quoted = from->is_quoted;
    (*out)->text = from->text;
    for (const scene_node* n = from->first; n != NULL; n = n->next) {
        scene_node* child = NULL;
        TREACLE_TRY(copy_node(t, n, depth + 1, alias, &child));
        if (child == NULL) {
            return TREACLE_OK;
        }
        child->key = n->key;
        child->key_place = n->key_place;
        scene_node_append(*out, child);
    }
    return TREACLE_OK;
}

static treacle_status read_alias(tree* t, const yaml_event_t* event, int depth, scene_node** out) {
    const char* name = (const char*)event->data.alias.anchor;
    const char* known[ANCHORS_MAX];
    for (int i = t->anchor_count - 1; i >= 0; --i) {
        known[i] = t->anchors[i].name;
        if (strcmp(known[i], name) == 0) {
            return copy_node(t, t->anchors[i].node, depth, yaml_tree_place_of(t, event->start_mark),
                             out);
        }
    }
    const char* near = suggest_word(name, known, t->anchor_count);
    t->is_broken = true;
    return scene_diag_error(t->reader->diags, yaml_tree_place_of(t, event->start_mark),
                            "there is no anchor '&%s' that ends before this alias%s%s%s", name,
                            near == NULL ? "" : "; did you mean '*", near == NULL ? "" : near,
                            near == NULL ? "" : "'?");
}

static treacle_status keep_anchor(tree* t, const char* name, const scene_node* node) {
    if (t->anchor_count == ANCHORS_MAX) {
        t->is_broken = true;
        return scene_diag_error(t->reader->diags, node->place, "more than %d anchors", ANCHORS_MAX);
    }
    anchor* a = &t->anchors[t->anchor_count];
    TREACLE_TRY(scene_pool_text(t->reader->pool, name, strlen(name), &a->name));
    a->node = node;
    t->anchor_count += 1;
    return TREACLE_OK;
}

static treacle_status read_scalar(tree* t, const yaml_event_t* event, scene_node* node) {
    const char* chars = (const char*)event->data.scalar.value;
    size_t length = event->data.scalar.length;
    for (size_t i = 0; i < length; ++i) {
        if ((unsigned char)chars[i] < 0x20 && chars[i] != '\n' && chars[i] != '\t') {
            return give_up(t, node->place, "the text holds a control character");
        }
    }
    node->is_quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    return scene_pool_text(t->reader->pool, chars, length, &node->text);
}

static treacle_status read_node(tree* t, const yaml_event_t* event, int depth, scene_node** out);

static treacle_status read_list(tree* t, int depth, scene_node* list) {
    for (;;) {
        yaml_event_t event;
        scene_node* item = NULL;
        TREACLE_TRY(next_event(t, &event));
        bool is_end = event.type == YAML_SEQUENCE_END_EVENT;
        treacle_status status =
            is_end || t->is_broken ? TREACLE_OK : read_node(t, &event, depth + 1, &item);
        yaml_event_delete(&event);
        TREACLE_TRY(status);
        if (is_end || item == NULL) {
            return TREACLE_OK;
        }
        scene_node_append(list, item);
    }
}

static treacle_status check_key(tree* t, const scene_node* map, const scene_node* key) {
    scene_diags* diags = t->reader->diags;
    if (key->kind != NODE_SCALAR) {
        return give_up(t, key->place, "a key must be a plain word, not a list or a map");
    }
    if (strcmp(key->text, "<<") == 0) {
        return give_up(t, key->place,
                       "merge keys '<<' are not part of scenes: repeat the keys, or put the common "
                       "part into a file of its own and include it");
    }
    if (map->count >= KEYS_MAX) {
        return give_up(t, key->place, "a map has more than 4096 keys");
    }
    const scene_node* earlier = scene_node_find(map, key->text);
    if (earlier == NULL) {
        return TREACLE_OK;
    }
    return scene_diag_error(diags, key->place, "duplicate key '%s': it was given before in line %d",
                            key->text, earlier->key_place.line);
}

static treacle_status read_value_of(tree* t, const scene_node* key, int depth, scene_node* map) {
    yaml_event_t event;
    scene_node* value = NULL;
    TREACLE_TRY(next_event(t, &event));
    treacle_status status = t->is_broken ? TREACLE_OK : read_node(t, &event, depth + 1, &value);
    yaml_event_delete(&event);
    TREACLE_TRY(status);
    if (value != NULL) {
        bool is_new = scene_node_find(map, key->text) == NULL;
        value->key = key->text;
        value->key_place = key->place;
        if (is_new) {
            scene_node_append(map, value);
        }
    }
    return TREACLE_OK;
}

static treacle_status read_map(tree* t, int depth, scene_node* map) {
    while (!t->is_broken) {
        yaml_event_t event;
        scene_node* key = NULL;
        TREACLE_TRY(next_event(t, &event));
        bool is_end = event.type == YAML_MAPPING_END_EVENT;
        treacle_status status =
            is_end || t->is_broken ? TREACLE_OK : read_node(t, &event, depth + 1, &key);
        yaml_event_delete(&event);
        TREACLE_TRY(status);
        if (is_end || key == NULL) {
            return TREACLE_OK;
        }
        TREACLE_TRY(check_key(t, map, key));
        if (!t->is_broken) {
            TREACLE_TRY(read_value_of(t, key, depth, map));
        }
    }
    return TREACLE_OK;
}

// Anchor and tag of an event that begins a node.
static void attributes(const yaml_event_t* event, const char** anchor_name, const char** tag) {
    switch (event->type) {
    case YAML_SCALAR_EVENT:
        *anchor_name = (const char*)event->data.scalar.anchor;
        *tag = (const char*)event->data.scalar.tag;
        break;
    case YAML_SEQUENCE_START_EVENT:
        *anchor_name = (const char*)event->data.sequence_start.anchor;
        *tag = (const char*)event->data.sequence_start.tag;
        break;
    default:
        *anchor_name = (const char*)event->data.mapping_start.anchor;
        *tag = (const char*)event->data.mapping_start.tag;
        break;
    }
}

static treacle_status read_content(tree* t, const yaml_event_t* event, int depth,
                                   scene_node* node) {
    switch (node->kind) {
    case NODE_LIST:
        return read_list(t, depth, node);
    case NODE_MAP:
        return read_map(t, depth, node);
    case NODE_SCALAR:
        break;
    }
    return read_scalar(t, event, node);
}

// The node that the event begins; NULL once the text is broken.
static treacle_status read_node(tree* t, const yaml_event_t* event, int depth, scene_node** out) {
    scene_place place = yaml_tree_place_of(t, event->start_mark);
    TREACLE_TRY(check_limits(t, depth, place));
    if (t->is_broken) {
        return TREACLE_OK;
    }
    if (event->type == YAML_ALIAS_EVENT) {
        return read_alias(t, event, depth, out);
    }
    const char *anchor_name = NULL, *tag = NULL;
    attributes(event, &anchor_name, &tag);
    if (tag != NULL) {
        return give_up(t, place, "tags such as !!float are not part of scenes: remove the tag");
    }
    scene_node_kind kind = event->type == YAML_SCALAR_EVENT           ? NODE_SCALAR
                           : event->type == YAML_SEQUENCE_START_EVENT ? NODE_LIST
                                                                      : NODE_MAP;
    scene_node* node = NULL;
    TREACLE_TRY(scene_node_make(t->reader, kind, place, &node));
    TREACLE_TRY(read_content(t, event, depth, node));
    if (anchor_name != NULL && !t->is_broken) {
        TREACLE_TRY(keep_anchor(t, anchor_name, node));
    }
    *out = t->is_broken ? NULL : node;
    return TREACLE_OK;
}

// What follows the first document: nothing, or an error.
static treacle_status expect_end(tree* t) {
    yaml_event_t event;
    bool is_end = false;
    while (!is_end && !t->is_broken) {
        TREACLE_TRY(next_event(t, &event));
        treacle_status status = TREACLE_OK;
        if (event.type == YAML_DOCUMENT_START_EVENT) {
            status = give_up(t, yaml_tree_place_of(t, event.start_mark),
                             "a second document begins here: a scene file holds one scene");
        }
        is_end = event.type == YAML_STREAM_END_EVENT;
        yaml_event_delete(&event);
        TREACLE_TRY(status);
    }
    return TREACLE_OK;
}

static treacle_status read_document(tree* t, scene_node** out) {
    while (*out == NULL && !t->is_broken) {
        yaml_event_t event;
        treacle_status status = TREACLE_OK;
        TREACLE_TRY(next_event(t, &event));
        switch (event.type) {
        case YAML_NO_EVENT:
        case YAML_STREAM_START_EVENT:
        case YAML_DOCUMENT_START_EVENT:
            break;
        case YAML_STREAM_END_EVENT:
            status = give_up(t, (scene_place){t->file, 1, 1},
                             t->file->is_set ? "the value is empty" : "the file is empty");
            break;
        default:
            status = read_node(t, &event, 0, out);
            break;
        }
        yaml_event_delete(&event);
        TREACLE_TRY(status);
    }
    return t->is_broken ? TREACLE_OK : expect_end(t);
}

treacle_status yaml_tree_read(scene_reader* reader, const scene_file* file, const char* chars,
                              size_t length, scene_node** out) {
    TREACLE_ASSERT(file != NULL && (chars != NULL || length == 0));
    *out = NULL;
    bool has_mark = length >= 3 && memcmp(chars, "\xef\xbb\xbf", 3) == 0; // of byte order
    chars += has_mark ? 3 : 0;
    length -= has_mark ? 3 : 0;
    tree t = {.reader = reader, .file = file, .chars = chars, .length = length};
    if (length > SCENE_TEXT_MAX) {
        return scene_diag_error(reader->diags, (scene_place){file, 1, 1},
                                "the file is larger than %d MB", SCENE_TEXT_MAX >> 20);
    }
    if (!yaml_parser_initialize(&t.parser)) {
        return check_fail(reader->pool->ctx, TREACLE_ERR_MEMORY, "out of memory while reading %s",
                          file->name);
    }
    yaml_parser_set_input_string(&t.parser, (const unsigned char*)chars, length);
    yaml_parser_set_encoding(&t.parser, YAML_UTF8_ENCODING);
    treacle_status status = read_document(&t, out);
    yaml_parser_delete(&t.parser);
    if (t.is_broken) {
        *out = NULL;
    }
    return status;
}
