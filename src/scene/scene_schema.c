// The table of keys as a JSON Schema (draft 07), by which editors complete and check scene files.
//
// It says less than the program: numbers are held to their ranges where they stand without a unit,
// a quantity with a unit needs one of the right kind if it is a plain one, and rules about several
// keys are left to `treacle check`. What it refuses, the program refuses, too. A file that includes
// others may leave out what those say: for such files each section has a second form, "part",
// without keys that are needed.
#include <math.h>
#include <string.h>

#include "defs/spelling.h"
#include "scene/scene_internal.h"
#include "treacle/materials.h"

enum { SECTIONS_MAX = 128 };

// A section in one of its forms.
typedef struct schema_form {
    const schema_section* section;
    bool is_part;         // nothing is needed
    int parent;           // place of the form that names it, for its defaults; -1: it has none
    size_t offset;        // in the parent's struct
    const char* defaults; // while it is written: the struct with its defaults; NULL: it has none
    int index;            // its own place
} schema_form;

typedef struct writer {
    text* out;
    int count;
    schema_form found[SECTIONS_MAX]; // in the order in which they are written
} writer;

// --- JSON ----------------------------------------------------------------------------------------

static void write_string(text* t, const char* chars) {
    text_append_char(t, '"');
    for (const char* c = chars; *c != '\0'; ++c) {
        if (*c == '"' || *c == '\\') {
            text_append_char(t, '\\');
        }
        text_append_char(t, *c);
    }
    text_append_char(t, '"');
}

// In the words of the table and their other spelling, and with '_' for '-', which people mix up.
static void write_words(text* t, const char* const* words) {
    for (int i = 0; words[i] != NULL; ++i) {
        text_append(t, i == 0 ? "" : ", ");
        write_string(t, words[i]);
        char other[SPELLING_MAX];
        if (spelling_other(words[i], other)) {
            text_append(t, ", ");
            write_string(t, other);
        }
    }
    for (int i = 0; words[i] != NULL; ++i) {
        if (strchr(words[i], '-') != NULL) {
            text_append(t, ", \"");
            for (const char* c = words[i]; *c != '\0'; ++c) {
                text_append_char(t, (char)(*c == '-' ? '_' : *c));
            }
            text_append_char(t, '"');
        }
    }
}

static void write_bound(text* t, const char* name, double value) {
    char number[32];
    unit_print_number(value, number);
    text_printf(t, ", \"%s\": %s", name, number);
}

static void write_range(text* t, const schema_range* range) {
    if (range->has_min) {
        write_bound(t, range->is_min_open ? "exclusiveMinimum" : "minimum", range->min);
    }
    if (range->has_max) {
        write_bound(t, "maximum", range->max);
    }
}

// --- quantities ----------------------------------------------------------------------------------

static const char digits[] = "([0-9]+\\.?[0-9]*|\\.[0-9]+)([eE][-+]?[0-9]+)?";

static void append_escaped(text* t, const char* name) {
    for (const char* c = name; *c != '\0'; ++c) {
        if (strchr("^$.*+?()[]{}|\\/", *c) != NULL) {
            text_append_char(t, '\\');
        }
        text_append_char(t, *c);
    }
}

static void append_units(text* t, unit_kind kind) {
    for (int i = 0; i < unit_count(); ++i) {
        if (unit_dim_equal(unit_get(i)->dim, unit_kind_get(kind)->dim)) {
            append_escaped(t, unit_get(i)->name);
            text_append_char(t, '|');
        }
    }
}

// A number with nothing behind it, a unit of the kind, or one that is put together or has a sign
// that is not ASCII, about which the program knows better. Where nothing below zero is in range a
// minus is wrong, but with degrees.
static void write_pattern(writer* w, const schema_key* key) {
    text pattern;
    text_init(&pattern, w->out->ctx);
    bool has_sign = !key->range.has_min || key->range.min < 0.0 || key->unit == UNIT_TEMPERATURE;
    text_printf(&pattern, "^\\s*%s%s\\s*(", has_sign ? "[-+]?" : "[+]?", digits);
    append_units(&pattern, key->unit);
    if (key->other_unit != UNIT_NUMBER) {
        append_units(&pattern, key->other_unit);
    }
    text_append(&pattern,
                "[A-Za-z]+\\s*[-/.*^(0-9].*|(1\\s*)?/.*|\\(.*|([A-Za-z/(]\\S*)?[^ -~].*)?\\s*$");
    write_string(w->out, pattern.at);
    if (text_status(&pattern) != TREACLE_OK) {
        w->out->status = text_status(&pattern);
    }
    text_finish(&pattern);
}

static void write_quantity(writer* w, const schema_key* key) {
    text_append(w->out, "{\"anyOf\": [{\"type\": \"number\"");
    double most = unit_kind_get(key->unit)->most;
    write_range(w->out, &key->range);
    if (!key->range.has_min) {
        write_bound(w->out, "minimum", -most);
    }
    if (!key->range.has_max) {
        write_bound(w->out, "maximum", most);
    }
    text_append(w->out, "}, {\"type\": \"string\", \"pattern\": ");
    write_pattern(w, key);
    text_append_char(w->out, '}');
    if (key->infinite != NULL) {
        text_append(w->out, ", {\"const\": ");
        write_string(w->out, key->infinite);
        text_append_char(w->out, '}');
    }
    text_append(w->out, "]}");
}

static void write_vector(writer* w, const schema_key* key) {
    text_append(w->out, "{\"type\": \"array\", \"minItems\": 2, \"maxItems\": 3, \"items\": ");
    write_quantity(w, key);
    text_append_char(w->out, '}');
}

static void write_colour(text* t) {
    text_append(t, "{\"anyOf\": [{\"type\": \"array\", \"minItems\": 3, \"maxItems\": 3, "
                   "\"items\": {\"anyOf\": [{\"type\": \"number\", \"minimum\": 0, \"maximum\": "
                   "1}, {\"type\": \"string\"}]}}, {\"type\": \"string\", \"pattern\": "
                   "\"^#?[0-9a-fA-F]{6}$\"}]}");
}

static void write_value_over_time(writer* w, const schema_key* key, bool is_vector) {
    void (*write)(writer*, const schema_key*) = is_vector ? write_vector : write_quantity;
    text_append(w->out, "{\"anyOf\": [");
    write(w, key);
    text_append(w->out, ", {\"type\": \"object\", \"required\": [\"keys\"], "
                        "\"additionalProperties\": false, \"properties\": {\"keys\": {\"type\": "
                        "\"object\", \"minProperties\": 1, \"additionalProperties\": ");
    write(w, key);
    text_append(w->out, "}}}, {\"type\": \"array\", \"minItems\": 1, \"items\": {\"type\": "
                        "\"array\", \"minItems\": 2, \"maxItems\": 2, \"items\": [{\"type\": "
                        "[\"number\", \"string\"]}, ");
    write(w, key);
    text_append(w->out, "]}}]}");
}

static void write_field(text* t, bool is_vector) {
    static const char one[] = "{\"type\": [\"number\", \"string\"]}";
    text_append(t, "{\"anyOf\": [");
    text_printf(t,
                is_vector ? "{\"type\": \"array\", \"minItems\": 2, \"maxItems\": 3, \"items\": %s}"
                          : "%s",
                one);
    text_append(t, ", {\"type\": \"object\", \"required\": [\"ramp\"], \"additionalProperties\": "
                   "false, \"properties\": {\"ramp\": {\"$ref\": \"#/definitions/ramp\"}}}]}");
}

// --- sections ------------------------------------------------------------------------------------

static void write_ref(writer* w, const schema_form* form) {
    bool is_known = false;
    for (int i = 0; i < w->count; ++i) {
        is_known = is_known ||
                   (w->found[i].section == form->section && w->found[i].is_part == form->is_part);
    }
    TREACLE_ASSERT(is_known || w->count < SECTIONS_MAX);
    if (!is_known) {
        w->found[w->count] = *form;
        w->found[w->count].index = w->count;
        w->count += 1;
    }
    text_printf(w->out, "{\"$ref\": \"#/definitions/%s%s\"}", form->section->name,
                form->is_part ? "_part" : "");
}

static void note(writer* w, const schema_section* section) {
    text silent;
    text* out = w->out;
    text_init(&silent, out->ctx);
    w->out = &silent;
    write_ref(w, &(schema_form){.section = section, .parent = -1});
    w->out = out;
    text_finish(&silent);
}

static void write_items(writer* w, const schema_key* key, bool is_part) {
    bool is_map = key->type == SCHEMA_MAP;
    text_append(w->out, is_map ? "{\"type\": \"object\", \"additionalProperties\": "
                               : "{\"type\": \"array\", \"items\": ");
    write_ref(w, &(schema_form){.section = key->of, .is_part = is_part && is_map, .parent = -1});
    if (key->range.has_min && !is_part) {
        write_bound(w->out, is_map ? "minProperties" : "minItems", key->range.min);
    }
    if (key->range.has_max) {
        write_bound(w->out, is_map ? "maxProperties" : "maxItems", key->range.max);
    }
    text_append_char(w->out, '}');
}

static void write_presets(text* t) {
    text_append(t, "{\"enum\": [");
    for (int i = 0; i < treacle_material_preset_count(); ++i) {
        text_append(t, i == 0 ? "" : ", ");
        write_string(t, treacle_material_preset_at(i)->name);
    }
    text_append(t, "]}");
}

// Values of the ramp take after its field: a number or a vector.
static void write_ramp_value(text* t) {
    text_append(t, "{\"type\": [\"number\", \"string\", \"array\"]}");
}

static void write_plain(writer* w, const schema_key* key) {
    static const char* const texts[SCHEMA_TYPE_COUNT] = {
        [SCHEMA_BOOL] =
            "{\"enum\": [true, false, \"true\", \"false\", \"yes\", \"no\", \"on\", \"off\"]}",
        [SCHEMA_NAME] = "{\"type\": [\"string\", \"number\"], \"pattern\": "
                        "\"^[A-Za-z0-9_][A-Za-z0-9_.-]*$\"}",
        [SCHEMA_FILE] = "{\"type\": \"string\"}",
        [SCHEMA_MESH] = "{\"type\": \"string\"}",
        [SCHEMA_MATERIAL] = "{\"type\": [\"string\", \"number\"]}",
        [SCHEMA_INCLUDE] = "{\"anyOf\": [{\"type\": \"string\", \"minLength\": 1}, {\"type\": "
                           "\"array\", \"items\": {\"type\": \"string\", \"minLength\": 1}}]}",
    };
    TREACLE_ASSERT(texts[key->type] != NULL);
    text_append(w->out, texts[key->type]);
}

static void write_value(writer* w, const schema_key* key, const schema_form* in) {
    switch (key->type) {
    case SCHEMA_INT:
    case SCHEMA_INT64:
        text_append(w->out, "{\"type\": \"integer\"");
        write_range(w->out, &key->range);
        text_append_char(w->out, '}');
        break;
    case SCHEMA_REAL:
        write_quantity(w, key);
        break;
    case SCHEMA_VEC3:
        write_vector(w, key);
        break;
    case SCHEMA_COLOUR:
        write_colour(w->out);
        break;
    case SCHEMA_ENUM:
        text_append(w->out, "{\"enum\": [");
        write_words(w->out, key->words);
        text_append(w->out, "]}");
        break;
    case SCHEMA_CURVE:
    case SCHEMA_CURVE3:
        write_value_over_time(w, key, key->type == SCHEMA_CURVE3);
        break;
    case SCHEMA_FIELD:
    case SCHEMA_FIELD3:
        note(w, &schema_ramp);
        write_field(w->out, key->type == SCHEMA_FIELD3);
        break;
    case SCHEMA_SHAPE:
        write_ref(w, &(schema_form){.section = &schema_shape, .parent = -1});
        break;
    case SCHEMA_SHAPES:
        text_append(w->out, "{\"type\": \"array\", \"minItems\": 1, \"items\": ");
        write_ref(w, &(schema_form){.section = &schema_shape, .parent = -1});
        text_append_char(w->out, '}');
        break;
    case SCHEMA_RELEASE:
        text_append(w->out, "{\"anyOf\": [{\"enum\": [true, false, \"on\", \"off\"]}, ");
        write_quantity(w, key);
        text_append(w->out, "]}");
        break;
    case SCHEMA_PRESET:
        write_presets(w->out);
        break;
    case SCHEMA_SECTION:
        write_ref(w, &(schema_form){.section = key->of,
                                    .is_part = in->is_part,
                                    .parent = in->index,
                                    .offset = key->offset});
        break;
    case SCHEMA_LIST:
    case SCHEMA_MAP:
        write_items(w, key, in->is_part);
        break;
    default:
        write_plain(w, key);
        break;
    }
}

// The default as JSON, of the kinds that have one.
static void write_default(text* t, const schema_key* key, const char* defaults) {
    bool has_one = defaults != NULL && key->default_text == NULL &&
                   (key->flags & (SCHEMA_REQUIRED | SCHEMA_INPUT_ONLY)) == 0;
    double value = 0.0;
    int whole = 0;
    if (has_one && key->type == SCHEMA_REAL) {
        char number[32];
        memcpy(&value, defaults + key->offset, sizeof(value));
        unit_print_number(value, number);
        if (isfinite(value)) { // JSON has no other numbers
            text_printf(t, ", \"default\": %s", number);
        }
    } else if (has_one && key->type == SCHEMA_INT) {
        memcpy(&whole, defaults + key->offset, sizeof(whole));
        text_printf(t, ", \"default\": %d", whole);
    } else if (has_one && key->type == SCHEMA_ENUM) {
        memcpy(&whole, defaults + key->offset, sizeof(whole));
        text_append(t, ", \"default\": ");
        write_string(t, key->words[whole]);
    } else if (has_one && key->type == SCHEMA_BOOL) {
        bool is_set;
        memcpy(&is_set, defaults + key->offset, sizeof(is_set));
        text_printf(t, ", \"default\": %s", is_set ? "true" : "false");
    }
}

// A reference stands alone in this draft, so that what goes with it is put around it.
static void write_property(writer* w, const schema_key* key, const char* name,
                           const schema_form* in) {
    const char* si = unit_kind_get(key->unit)->si;
    bool is_ramp_value =
        in->section == &schema_ramp && (strcmp(key->name, "a") == 0 || strcmp(key->name, "b") == 0);
    text_append(w->out, "\n        ");
    write_string(w->out, name);
    text_append(w->out, ": {\"description\": ");
    write_string(w->out, key->help);
    if (si[0] != '\0') {
        text_append(w->out, ", \"x-unit\": ");
        write_string(w->out, si);
    }
    write_default(w->out, key, in->defaults);
    text_append(w->out, ", \"allOf\": [");
    bool may_be_null = in->is_part && key->type != SCHEMA_INCLUDE; // which takes the key away
    text_append(w->out, may_be_null ? "{\"anyOf\": [{\"type\": \"null\"}, " : "");
    if (is_ramp_value) {
        write_ramp_value(w->out);
    } else {
        write_value(w, key, in);
    }
    text_append(w->out, may_be_null ? "]}]}" : "]}");
}

static bool begins_choice(const schema_section* section, int index) {
    for (int i = 0; i < index; ++i) {
        if (section->keys[i].choice == section->keys[index].choice) {
            return false;
        }
    }
    return section->keys[index].choice > 0;
}

// A choice is several keys of which one must be given, or one may.
static void write_choice(text* t, const schema_section* section, int first, bool is_needed) {
    text_append(t, "{\"oneOf\": [");
    const char* comma = "";
    for (int i = first; i < section->key_count; ++i) {
        if (section->keys[i].choice == section->keys[first].choice) {
            text_printf(t, "%s{\"required\": [\"%s\"]}", comma, section->keys[i].name);
            comma = ", ";
        }
    }
    if (!is_needed) {
        text_append(t, ", {\"not\": {\"anyOf\": [");
        comma = "";
        for (int i = first; i < section->key_count; ++i) {
            if (section->keys[i].choice == section->keys[first].choice) {
                text_printf(t, "%s{\"required\": [\"%s\"]}", comma, section->keys[i].name);
                comma = ", ";
            }
        }
        text_append(t, "]}}");
    }
    text_append(t, "]}");
}

// A key may have two spellings: one of them may be given, and one must be if the key is needed.
static void write_spellings(text* t, const schema_key* key, const char* other, bool is_needed) {
    text_append(t, is_needed ? "{\"oneOf\": [" : "{\"not\": {\"allOf\": [");
    text_printf(t, "{\"required\": [\"%s\"]}, {\"required\": [\"%s\"]}", key->name, other);
    text_append(t, is_needed ? "]}" : "]}}");
}

static void write_needed(text* t, const schema_form* form) {
    const schema_section* section = form->section;
    char other[SPELLING_MAX];
    int needed = 0, rules = 0;
    for (int i = 0; i < section->key_count && !form->is_part; ++i) {
        const schema_key* key = &section->keys[i];
        if ((key->flags & SCHEMA_REQUIRED) != 0 && key->choice == 0 &&
            !spelling_other(key->name, other)) {
            text_printf(t, "%s\"%s\"", needed == 0 ? ", \"required\": [" : ", ", key->name);
            needed += 1;
        }
    }
    text_append(t, needed > 0 ? "]" : "");
    for (int i = 0; i < section->key_count; ++i) {
        const schema_key* key = &section->keys[i];
        bool is_needed = (key->flags & SCHEMA_REQUIRED) != 0 && !form->is_part;
        bool is_choice = begins_choice(section, i);
        if (is_choice || spelling_other(key->name, other)) {
            text_append(t, rules++ == 0 ? ", \"allOf\": [" : ", ");
        }
        if (is_choice) {
            write_choice(t, section, i, is_needed);
        } else if (spelling_other(key->name, other)) {
            write_spellings(t, key, other, is_needed);
        }
    }
    text_append(t, rules > 0 ? "]" : "");
}

static bool has_needed(const schema_form* form) {
    bool is_any = false;
    for (int i = 0; i < form->section->key_count; ++i) {
        is_any = is_any || (form->section->keys[i].flags & SCHEMA_REQUIRED) != 0;
    }
    return is_any && !form->is_part;
}

static void write_object(writer* w, const schema_form* form) {
    const schema_section* section = form->section;
    text_append(w->out, "{\"type\": \"object\", \"additionalProperties\": false");
    write_needed(w->out, form);
    text_append(w->out, ", \"properties\": {");
    for (int i = 0; i < section->key_count; ++i) {
        text_append(w->out, i == 0 ? "" : ",");
        write_property(w, &section->keys[i], section->keys[i].name, form);
        char other[SPELLING_MAX];
        if (spelling_other(section->keys[i].name, other)) {
            text_append_char(w->out, ',');
            write_property(w, &section->keys[i], other, form);
        }
    }
    text_append(w->out, "}}");
}

// From the section's own init, or out of the defaults of what encloses it.
static bool fill_defaults(const writer* w, const schema_form* form, char out[SCHEMA_ITEM_MAX]) {
    TREACLE_ASSERT(form->section->bytes <= SCHEMA_ITEM_MAX);
    if (form->section->init != NULL) {
        form->section->init(out);
        return true;
    }
    if (form->parent < 0 || !fill_defaults(w, &w->found[form->parent], out)) {
        return false;
    }
    memmove(out, out + form->offset, form->section->bytes);
    return true;
}

// The object, or what may stand in place of it: nothing, or the value of one of its keys.
static void write_section(writer* w, schema_form form) {
    _Alignas(max_align_t) char defaults[SCHEMA_ITEM_MAX] = {0};
    form.defaults = fill_defaults(w, &form, defaults) ? defaults : NULL;
    text_append(w->out, "{\"description\": ");
    write_string(w->out, form.section->help);
    text_append(w->out, ", \"anyOf\": [");
    write_object(w, &form);
    for (int i = 0; i < form.section->key_count; ++i) {
        if ((form.section->keys[i].flags & SCHEMA_ALONE) != 0) {
            text_append(w->out, ", ");
            write_value(w, &form.section->keys[i], &form);
        }
    }
    text_append(w->out, has_needed(&form) ? "]}" : ", {\"type\": \"null\"}]}");
}

static void write_all(writer* w) {
    text_append(w->out,
                "{\"$schema\": \"http://json-schema.org/draft-07/schema#\",\n"
                "  \"title\": \"Treacle scene\",\n"
                "  \"if\": {\"type\": \"object\", \"required\": [\"include\"]},\n  \"then\": ");
    write_ref(w, &(schema_form){.section = &schema_root, .is_part = true, .parent = -1});
    text_append(w->out, ",\n  \"else\": ");
    write_ref(w, &(schema_form){.section = &schema_root, .parent = -1});
    text_append(w->out, ",\n  \"definitions\": {");
    for (int i = 0; i < w->count; ++i) {
        const schema_form form = w->found[i];
        text_printf(w->out, "%s\n    \"%s%s\": ", i == 0 ? "" : ",", form.section->name,
                    form.is_part ? "_part" : "");
        write_section(w, form);
    }
    text_append(w->out, "}}\n");
}

treacle_status treacle_scene_schema(treacle_context* ctx, char** out) {
    text t;
    scene_locale locale = {0};
    *out = NULL;
    TREACLE_TRY(scene_locale_begin(ctx, &locale));
    text_init(&t, ctx);
    writer w = {.out = &t};
    write_all(&w);
    scene_locale_end(&locale);
    treacle_status status = text_take(&t, out);
    text_finish(&t);
    return status;
}
