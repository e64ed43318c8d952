// The manual's reference of all keys, made from the schema.
#include <string.h>

#include "base/alloc.h"
#include "scene/scene_internal.h"

enum { SECTIONS_MAX = 64 };

// What is written, and which sections are done.
typedef struct writer {
    text* out;
    int count;
    const schema_section* done[SECTIONS_MAX];
} writer;

static const char head[] =
    "# Scene reference\n"
    "\n"
    "All keys of a scene file. This page is made from the program's own table\n"
    "(`src/defs/schema*.c`); [scenes.md](scenes.md) is a guide to writing scenes.\n"
    "\n"
    "## Values\n"
    "\n"
    "- **Quantities** may carry a unit: `3 mm`, `10 Pa.s`, `1.4 g/cm^3`. Without one they are in "
    "the\n"
    "  SI unit that the tables show. Units multiply and divide from left to right, `W/(m.K)`,\n"
    "  with whole exponents, `m/s^2`. A quantity of the wrong kind is an error.\n"
    "- **Vectors** are lists `[x, y, z]` with a quantity each. In a flat scene (2D) along z, two\n"
    "  components are enough.\n"
    "- **Values over time** are a value, or keys: `{keys: {0 s: 1 m/s, 2 s: 3 m/s}}` or\n"
    "  `[[0 s, 1 m/s], [2 s, 3 m/s]]`. Between keys the value changes linearly; before the first "
    "and\n"
    "  after the last it is constant.\n"
    "- **Fields** (values over space) are a vector, a ramp `{ramp: {from: ..., to: ..., a: ..., "
    "b:\n"
    "  ...}}`, or an expression for each component: `[\"-2*pi*y\", \"2*pi*x\", 0]`, in SI. "
    "Expressions\n"
    "  know `x y z` (m), `t` (s), `pi`, `e`, `+ - * / ^`, comparisons, `sin cos tan exp log sqrt "
    "abs\n"
    "  floor tanh min max pow step clamp smoothstep`. Put an expression with a comma in quotes.\n"
    "- **Angles** without a unit are in radians: write `90 deg`.\n"
    "- **Spelling.** `color`, `center` and `gray` are read as `colour`, `centre` and `grey`, in "
    "keys\n"
    "  and in values, and printed so. Names that you give yourself stay as they are.\n"
    "- **Anchors and aliases** of YAML (`&name`, `*name`) work; tags and merge keys do not.\n"
    "- In a scene that lies on top of another (`include`, `--set`), sections and named maps are "
    "merged\n"
    "  key by key, everything else replaces what is below, and `null` takes a key away.\n";

// The largest size of the numbers of each kind.
static void write_limits(text* t) {
    text_append(t, "- **Limits.** Beyond the ranges of the tables no number may be larger than "
                   "what anything needs:");
    for (int k = 0; k < UNIT_KIND_COUNT; ++k) {
        const unit_kind_info* kind = unit_kind_get((unit_kind)k);
        char most[32];
        unit_print_number(kind->most, most);
        text_printf(t, "%s\n  %s %s%s%s", k == 0 ? "" : ",", kind->name, most,
                    kind->si[0] == '\0' ? "" : " ", kind->si);
    }
    text_append(t, ".\n");
}

static const char* type_text(const schema_key* key) {
    static const char* const texts[SCHEMA_TYPE_COUNT] = {
        [SCHEMA_BOOL] = "true or false",
        [SCHEMA_INT] = "whole number",
        [SCHEMA_INT64] = "whole number",
        [SCHEMA_REAL] = "number",
        [SCHEMA_VEC3] = "vector",
        [SCHEMA_COLOUR] = "colour",
        [SCHEMA_NAME] = "text",
        [SCHEMA_FILE] = "path",
        [SCHEMA_MESH] = "path",
        [SCHEMA_CURVE] = "number over time",
        [SCHEMA_CURVE3] = "vector over time",
        [SCHEMA_FIELD] = "field",
        [SCHEMA_FIELD3] = "vector field",
        [SCHEMA_SHAPE] = "[shape](#shape)",
        [SCHEMA_SHAPES] = "list of [shapes](#shape)",
        [SCHEMA_MATERIAL] = "name",
        [SCHEMA_RELEASE] = "`off`, `on`, or a pressure",
        [SCHEMA_PRESET] = "[preset](materials.md)",
        [SCHEMA_INCLUDE] = "path or list of paths"};
    bool is_of_temperature = (key->flags & SCHEMA_BY_TEMPERATURE) != 0;
    return is_of_temperature ? "number over temperature" : texts[key->type];
}

void scene_reference_type(text* t, const schema_key* key) {
    switch (key->type) {
    case SCHEMA_ENUM:
        for (int i = 0; key->words[i] != NULL; ++i) {
            text_printf(t, "%s`%s`", i == 0 ? "" : ", ", key->words[i]);
        }
        break;
    case SCHEMA_SECTION:
        text_printf(t, "[%s](#%s)", key->of->name, key->of->name);
        break;
    case SCHEMA_LIST:
        text_printf(t, "list of [%s](#%s)", key->of->name, key->of->name);
        break;
    case SCHEMA_MAP:
        text_printf(t, "names with [%s](#%s)", key->of->name, key->of->name);
        break;
    default:
        text_append(t, type_text(key));
        break;
    }
}

void scene_reference_range(text* t, const schema_key* key) {
    const schema_range* range = &key->range;
    char low[32], high[32];
    unit_print_number(range->min, low);
    unit_print_number(range->max, high);
    bool is_count = key->type == SCHEMA_LIST || key->type == SCHEMA_MAP;
    if (range->has_min && range->has_max && !is_count) {
        text_printf(t, range->is_min_open ? "> %s, <= %s" : "%s to %s", low, high);
    } else if (range->has_max) {
        text_printf(t, "at most %s", high);
    } else if (range->has_min) {
        text_printf(t, "%s %s", range->is_min_open ? ">" : ">=", low);
    }
}

void scene_reference_default(text* t, const schema_key* key, const char* defaults) {
    if ((key->flags & SCHEMA_REQUIRED) != 0) {
        text_append(t, key->choice > 0 ? "one is needed" : "needed");
    } else if (key->default_text != NULL) {
        text_append(t, key->default_text);
    } else if (key->type != SCHEMA_SECTION && defaults != NULL) {
        scene_print_value(t, key, defaults);
    }
}

static void write_row(text* t, const schema_key* key, const char* defaults) {
    text_printf(t, "| `%s` | ", key->name);
    scene_reference_type(t, key);
    text_printf(t, " | %s | ", unit_kind_get(key->unit)->si);
    scene_reference_range(t, key);
    text_append(t, " | ");
    scene_reference_default(t, key, defaults);
    text_printf(t, " | %s |\n", key->help);
}

static bool is_done(const writer* w, const schema_section* section) {
    bool is_found = w->count >= SECTIONS_MAX;
    for (int i = 0; i < w->count; ++i) {
        is_found = is_found || w->done[i] == section;
    }
    return is_found;
}

static const schema_section* section_of(const schema_key* key) {
    switch (key->type) {
    case SCHEMA_SHAPE:
        return &schema_shape;
    case SCHEMA_FIELD:
    case SCHEMA_FIELD3:
        return &schema_ramp;
    default:
        return key->of;
    }
}

// A section and, after it, those that its rows name. `defaults` is the struct with its defaults;
// NULL: its own init makes them.
static void write_section(writer* w, const schema_section* section, const char* defaults) {
    _Alignas(max_align_t) char own[SCHEMA_ITEM_MAX];
    if (is_done(w, section)) {
        return;
    }
    w->done[w->count++] = section;
    TREACLE_ASSERT(section->bytes <= SCHEMA_ITEM_MAX);
    if (section->init != NULL) {
        section->init(own);
        defaults = own;
    }
    text_printf(w->out, "\n## %s\n\n%s\n\n", section->name, section->help);
    text_append(w->out, "| key | type | unit | range | default | meaning |\n");
    text_append(w->out, "|---|---|---|---|---|---|\n");
    for (int i = 0; i < section->key_count; ++i) {
        write_row(w->out, &section->keys[i], defaults);
    }
    for (int i = 0; i < section->key_count; ++i) {
        const schema_key* key = &section->keys[i];
        bool is_inside = key->type == SCHEMA_SECTION && defaults != NULL;
        if (section_of(key) != NULL) {
            write_section(w, section_of(key), is_inside ? defaults + key->offset : NULL);
        }
    }
}

static void write_units(text* t) {
    text_append(t, "\n## Units\n\n| quantity | SI | units |\n|---|---|---|\n");
    for (int k = 0; k < UNIT_KIND_COUNT; ++k) {
        const unit_kind_info* kind = unit_kind_get((unit_kind)k);
        bool is_first = true;
        for (int i = 0; i < unit_count(); ++i) {
            const unit_info* unit = unit_get(i);
            if (!unit_dim_equal(unit->dim, kind->dim)) {
                continue;
            }
            if (is_first) {
                text_printf(t, "| %s | %s | ", strchr(kind->name, ' ') + 1, kind->si);
            }
            text_printf(t, "%s`%s`", is_first ? "" : " ", unit->name);
            is_first = false;
        }
        text_append(t, is_first ? "" : " |\n");
    }
    text_append(t, "\nThe signs \u00b0C, \u00b0, \u00b5m, m\u00b2, m\u00b3 and Pa\u00b7s are "
                   "understood too.\n");
}

static void write_all(text* t) {
    writer w = {.out = t};
    text_append(t, head);
    write_limits(t);
    write_section(&w, &schema_root, NULL);
    write_units(t);
}

treacle_status treacle_scene_reference(treacle_context* ctx, char** out) {
    text t;
    scene_locale locale = {0};
    *out = NULL;
    TREACLE_TRY(scene_locale_begin(ctx, &locale));
    text_init(&t, ctx);
    write_all(&t);
    scene_locale_end(&locale);
    treacle_status status = text_take(&t, out);
    text_finish(&t);
    return status;
}

void treacle_text_free(treacle_context* ctx, char* chars) {
    if (chars != NULL) {
        alloc_free_text(ctx, chars);
    }
}
