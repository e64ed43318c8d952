// The table of keys as a person at a terminal asks for it: one section, or one key of it.
#include <string.h>

#include "base/check.h"
#include "defs/schema_examples.h"
#include "defs/spelling.h"
#include "math/suggest.h"
#include "scene/scene_internal.h"

enum {
    LINE_WIDTH = 80,
    KEY_COLUMN = 22,
    WORD_MAX = 64,
    KEYS_MAX = 64,   // of a section
    SEARCH_DEPTH = 4 // sections inside of sections
};

// Where a path has led.
typedef struct help_place {
    const schema_section* section;
    const schema_key* key; // the path ends at a plain key; NULL: at the section
    bool has_defaults;
    _Alignas(max_align_t) char defaults[SCHEMA_ITEM_MAX];
} help_place;

static const schema_section* inner_section(const schema_key* key) {
    bool is_shape = key->type == SCHEMA_SHAPE || key->type == SCHEMA_SHAPES;
    return is_shape ? &schema_shape : key->of;
}

static void enter(help_place* place, const schema_key* key) {
    const schema_section* inner = inner_section(key);
    TREACLE_ASSERT(inner->bytes <= SCHEMA_ITEM_MAX);
    if (inner->init != NULL) {
        inner->init(place->defaults);
        place->has_defaults = true;
    } else if (key->type == SCHEMA_SECTION && place->has_defaults) {
        memmove(place->defaults, place->defaults + key->offset, inner->bytes);
    } else {
        place->has_defaults = false;
    }
    place->section = inner;
}

static void scene_help_begin(help_place* place) {
    place->section = &schema_root;
    place->key = NULL;
    place->has_defaults = true;
    schema_root.init(place->defaults);
}

// A section of that name, wherever in the scene: "emitter", "box".
static bool find_section(const help_place* from, const char* name, int depth, help_place* out) {
    for (int i = 0; i < from->section->key_count && depth > 0; ++i) {
        const schema_key* key = &from->section->keys[i];
        if (inner_section(key) == NULL) {
            continue;
        }
        *out = *from;
        enter(out, key);
        help_place here = *out;
        if (strcmp(here.section->name, name) == 0 || find_section(&here, name, depth - 1, out)) {
            return true;
        }
    }
    return false;
}

static treacle_status scene_help_refuse(treacle_context* ctx, const help_place* place,
                                        const char* word) {
    const char* names[KEYS_MAX];
    int count = place->section->key_count < KEYS_MAX ? place->section->key_count : KEYS_MAX;
    for (int i = 0; i < count; ++i) {
        names[i] = place->section->keys[i].name;
    }
    const char* near = suggest_word(word, names, count);
    return near == NULL
               ? check_fail(ctx, TREACLE_ERR_USAGE, "the %s has no key \"%s\"",
                            place->section->name, word)
               : check_fail(ctx, TREACLE_ERR_USAGE, "the %s has no key \"%s\"; did you mean %s?",
                            place->section->name, word, near);
}

static treacle_status step_to(treacle_context* ctx, help_place* place, const char* word) {
    char respelt[SPELLING_MAX];
    const char* name = spelling_house(word, respelt) ? respelt : word;
    const schema_key* key = place->key == NULL ? schema_find(place->section, name) : NULL;
    if (key != NULL && inner_section(key) != NULL) {
        enter(place, key);
        return TREACLE_OK;
    }
    if (key != NULL) {
        place->key = key;
        return TREACLE_OK;
    }
    help_place found;
    if (place->section == &schema_root && find_section(place, name, SEARCH_DEPTH, &found)) {
        *place = found;
        return TREACLE_OK;
    }
    return scene_help_refuse(ctx, place, word);
}

// "scene.materials.viscosity", with or without the "scene".
static treacle_status follow(treacle_context* ctx, const char* path, help_place* out) {
    scene_help_begin(out);
    for (const char* at = path; *at != '\0';) {
        char word[WORD_MAX] = "";
        size_t length = strcspn(at, ".");
        if (length == 0 || length >= WORD_MAX) {
            return check_fail(ctx, TREACLE_ERR_USAGE,
                              "\"%s\" is not a path of keys such as scene.domain.cell", path);
        }
        memcpy(word, at, length);
        bool is_scene = at == path && strcmp(word, "scene") == 0;
        if (!is_scene) {
            TREACLE_TRY(step_to(ctx, out, word));
        }
        at += length + (at[length] == '.' ? 1 : 0);
    }
    return TREACLE_OK;
}

// Markdown as plain text: no ticks, and of links what they show.
static void append_plain(text* t, const char* markdown) {
    for (const char* c = markdown; *c != '\0'; ++c) {
        bool is_link_end = c[0] == ']' && c[1] == '(';
        const char* end = is_link_end ? strchr(c, ')') : NULL;
        bool is_link_begin = c[0] == '[' && strstr(c, "](") != NULL;
        if (end != NULL) {
            c = end;
        } else if (!is_link_begin && *c != '`') {
            text_append_char(t, *c);
        }
    }
}

// Words in lines of the terminal's width, all but the first of them set in.
static void append_wrapped(text* out, const char* words, int column) {
    int at = column;
    const char* c = words;
    while (*c != '\0') {
        size_t length = strcspn(c, " ");
        if (at > column && at + 1 + (int)length > LINE_WIDTH) {
            text_printf(out, "\n%*s", column, "");
            at = column;
        } else if (at > column) {
            text_append_char(out, ' ');
            at += 1;
        }
        text_append_span(out, c, length);
        at += (int)length;
        c += length;
        c += strspn(c, " ");
    }
    text_append_char(out, '\n');
}

static void describe_value(text* t, const help_place* place, const schema_key* key) {
    const char* si = unit_kind_get(key->unit)->si;
    text part;
    text_init(&part, t->ctx);
    scene_reference_type(&part, key);
    if (inner_section(key) != NULL) {
        text_append(&part, ", with keys of its own");
    }
    text_printf(&part, "%s%s", si[0] == '\0' ? "" : ", ", si);
    size_t before = part.length;
    text_append(&part, ", ");
    scene_reference_range(&part, key);
    if (part.length == before + 2) {
        part.length = before;
        part.at[before] = '\0';
    }
    append_plain(t, part.at);
    text_clear(&part);
    scene_reference_default(&part, key, place->has_defaults ? place->defaults : NULL);
    if (part.length > 0) {
        bool is_needed = (key->flags & SCHEMA_REQUIRED) != 0;
        text_append(t, is_needed ? "; " : "; default: ");
        append_plain(t, part.at);
    }
    if (text_status(&part) != TREACLE_OK) {
        t->status = text_status(&part);
    }
    text_finish(&part);
}

static void append_key(text* out, const help_place* place, const schema_key* key) {
    text line;
    text_init(&line, out->ctx);
    int width = (int)strlen(key->name) + 2;
    text_printf(out, "  %s%*s", key->name, width < KEY_COLUMN ? KEY_COLUMN - width : 2, "");
    describe_value(&line, place, key);
    append_wrapped(out, line.at, KEY_COLUMN);
    text_clear(&line);
    append_plain(&line, key->help);
    text_printf(out, "%*s", KEY_COLUMN, "");
    append_wrapped(out, line.at, KEY_COLUMN);
    if (text_status(&line) != TREACLE_OK) {
        out->status = text_status(&line);
    }
    text_finish(&line);
}

static void append_example(text* out, const char* lines) {
    text_append(out, "\nexample:\n");
    for (const char* at = lines; *at != '\0';) {
        size_t length = strcspn(at, "\n");
        text_append(out, "  ");
        text_append_span(out, at, length + 1);
        at += length + 1;
    }
}

static void append_help(text* out, const help_place* place) {
    text plain;
    text_init(&plain, out->ctx);
    text_printf(&plain, "%s: ", place->section->name);
    append_plain(&plain, place->section->help);
    append_wrapped(out, plain.at, 0);
    text_append_char(out, '\n');
    for (int i = 0; i < place->section->key_count; ++i) {
        const schema_key* key = &place->section->keys[i];
        if (place->key == NULL || place->key == key) {
            append_key(out, place, key);
        }
    }
    const char* lines = schema_example(place->section->name);
    if (lines != NULL) {
        append_example(out, lines);
    }
    if (text_status(&plain) != TREACLE_OK) {
        out->status = text_status(&plain);
    }
    text_finish(&plain);
}

treacle_status treacle_scene_help(treacle_context* ctx, const char* path, char** out) {
    text t;
    scene_locale locale = {0};
    help_place place;
    *out = NULL;
    TREACLE_TRY(follow(ctx, path, &place));
    TREACLE_TRY(scene_locale_begin(ctx, &locale));
    text_init(&t, ctx);
    append_help(&t, &place);
    scene_locale_end(&locale);
    treacle_status status = text_take(&t, out);
    text_finish(&t);
    return status;
}
