// Single values: numbers, vectors, words, colours, references.
#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "defs/spelling.h"
#include "math/elementary.h"
#include "math/suggest.h"
#include "scene/bind.h"
#include "treacle/materials.h"

enum {
    NAME_LENGTH_MAX = 64,
    WORDS_MAX = 300,
};

void bind_quote(const scene_node* node, char out[BIND_QUOTE_MAX]) {
    if (node->kind != NODE_SCALAR || scene_node_is_null(node)) {
        snprintf(out, BIND_QUOTE_MAX, "%s", scene_node_kind_text(node));
        return;
    }
    size_t shown = strcspn(node->text, "\n");
    bool is_whole = node->text[shown] == '\0' && shown <= 40;
    if (shown > 40) {
        shown = 40;
        while (((unsigned char)node->text[shown] & 0xc0) == 0x80) {
            shown -= 1; // not inside a UTF-8 character
        }
    }
    snprintf(out, BIND_QUOTE_MAX, "'%.*s%s'", (int)shown, node->text, is_whole ? "" : "...");
}

// Numbers --------------------------------------------------------------------

static treacle_status check_range(binder* b, const bind_slot* slot, double value) {
    if (schema_range_has(&slot->key->range, value)) {
        return TREACLE_OK;
    }
    char expected[SCHEMA_RANGE_TEXT_MAX], quote[BIND_QUOTE_MAX];
    schema_range_text(&slot->key->range, slot->key->unit, expected);
    bind_quote(slot->node, quote);
    return bind_error(b, slot->node->place, slot->path, "must be %s, got %s", expected, quote);
}

// What no key of the kind takes, whatever its own range says.
static treacle_status check_size(binder* b, const bind_slot* slot, double value) {
    const unit_kind_info* kind = unit_kind_get(slot->key->unit);
    if (fabs(value) <= kind->most) {
        return TREACLE_OK;
    }
    char most[32], quote[BIND_QUOTE_MAX];
    unit_print_number(kind->most, most);
    bind_quote(slot->node, quote);
    return bind_error(b, slot->node->place, slot->path,
                      "%s of %s is beyond all that can be simulated: expected at most %s%s%s",
                      kind->name, quote, most, kind->si[0] == '\0' ? "" : " ", kind->si);
}

static treacle_status report_not_a_number(binder* b, const bind_slot* slot,
                                          const unit_error* error) {
    const unit_kind_info* kind = unit_kind_get(slot->key->unit);
    char quote[BIND_QUOTE_MAX];
    bind_quote(slot->node, quote);
    if (error == NULL || error->is_not_a_number) {
        return bind_error(b, slot->node->place, slot->path, "expected %s such as %s, got %s",
                          kind->name, kind->example, quote);
    }
    scene_place place = slot->node->place;
    place.column += error->column - 1 + (slot->node->is_quoted ? 1 : 0);
    bool has_advice = strstr(error->text, "did you mean") != NULL;
    return has_advice ? bind_error(b, place, slot->path, "%s", error->text)
                      : bind_error(b, place, slot->path, "%s; expected %s such as %s", error->text,
                                   kind->name, kind->example);
}

static treacle_status report_wrong_unit(binder* b, const bind_slot* slot, unit_dim dim) {
    const unit_kind_info* kind = unit_kind_get(slot->key->unit);
    char got[96], quote[BIND_QUOTE_MAX];
    unit_dim_describe(dim, got, sizeof(got));
    bind_quote(slot->node, quote);
    return bind_error(b, slot->node->place, slot->path, "expected %s such as %s, got %s (%s)",
                      kind->name, kind->example, got, quote);
}

treacle_status bind_number(binder* b, const bind_slot* slot, double* out) {
    TREACLE_ASSERT(slot->key != NULL && slot->node != NULL && out != NULL);
    unit_quantity quantity;
    unit_error error;
    if (slot->node->kind != NODE_SCALAR || scene_node_is_null(slot->node)) {
        return report_not_a_number(b, slot, NULL);
    }
    if (!unit_parse(slot->node->text, &quantity, &error)) {
        return report_not_a_number(b, slot, &error);
    }
    const schema_key* key = slot->key;
    bool is_other = key->other_unit != UNIT_NUMBER && quantity.has_unit &&
                    unit_dim_equal(quantity.dim, unit_kind_get(key->other_unit)->dim);
    if (is_other) {
        double factor;
        memcpy(&factor, slot->item + key->other_factor, sizeof(factor));
        quantity.value *= factor;
    } else if (quantity.has_unit && !unit_dim_equal(quantity.dim, unit_kind_get(key->unit)->dim)) {
        return report_wrong_unit(b, slot, quantity.dim);
    }
    int errors = b->diags->errors;
    TREACLE_TRY(check_range(b, slot, quantity.value));
    if (b->diags->errors == errors) {
        TREACLE_TRY(check_size(b, slot, quantity.value));
    }
    *out = quantity.value + 0.0; // -0 is 0
    return TREACLE_OK;
}

treacle_status bind_real(binder* b, const bind_slot* slot) {
    double value = 0.0;
    const int errors = b->diags->errors;
    if (slot->key->infinite != NULL && slot->node->kind == NODE_SCALAR &&
        strcmp(slot->node->text, slot->key->infinite) == 0) {
        value = INFINITY;
    } else {
        TREACLE_TRY(bind_number(b, slot, &value));
    }
    int spread = slot->key->spread == 0 ? 1 : slot->key->spread;
    for (int i = 0; i < spread && b->diags->errors == errors; ++i) {
        char* at = slot->item + slot->key->offset + (size_t)i * sizeof(value);
        memcpy(at, &value, sizeof(value));
    }
    return TREACLE_OK;
}

static treacle_status report_not_three(binder* b, const bind_slot* slot) {
    const unit_kind_info* kind = unit_kind_get(slot->key->unit);
    const char* hint = "";
    for (const scene_node* n = slot->node->first; n != NULL; n = n->next) {
        bool is_cut =
            n->kind == NODE_SCALAR && strchr(n->text, '(') != NULL && strchr(n->text, ')') == NULL;
        hint = is_cut ? "; put an expression that has a comma in quotes" : hint;
    }
    if (slot->node->kind == NODE_LIST) {
        return bind_error(b, slot->node->place, slot->path,
                          "expected three components [x, y, z], got %d%s", slot->node->count, hint);
    }
    char quote[BIND_QUOTE_MAX];
    bind_quote(slot->node, quote);
    return bind_error(b, slot->node->place, slot->path,
                      "expected three components [x, y, z], each %s such as %s; got %s", kind->name,
                      kind->example, quote);
}

treacle_status bind_vector(binder* b, const bind_slot* slot, double out[3]) {
    TREACLE_ASSERT(slot->key != NULL && slot->node != NULL);
    bool takes_two = (slot->key->flags & SCHEMA_PAIR) != 0 || b->flat_axis == 2;
    bool is_list = slot->node->kind == NODE_LIST;
    if (!is_list || !(slot->node->count == 3 || (takes_two && slot->node->count == 2))) {
        return report_not_three(b, slot);
    }
    int a = 0;
    out[2] = 0.0;
    for (const scene_node* n = slot->node->first; n != NULL; n = n->next, ++a) {
        schema_path path = {.up = slot->path, .index = a};
        bind_slot part = {.key = slot->key, .node = n, .item = slot->item, .path = &path};
        TREACLE_TRY(bind_number(b, &part, &out[a]));
    }
    return TREACLE_OK;
}

treacle_status bind_vec3(binder* b, const bind_slot* slot) {
    double value[3] = {0};
    const int errors = b->diags->errors;
    TREACLE_TRY(bind_vector(b, slot, value));
    if (b->diags->errors == errors) {
        memcpy(slot->item + slot->key->offset, value, sizeof(value));
    }
    return TREACLE_OK;
}

static treacle_status bind_whole(binder* b, const bind_slot* slot, int64_t limit, int64_t* out) {
    char quote[BIND_QUOTE_MAX];
    bind_quote(slot->node, quote);
    const scene_node* node = slot->node;
    bool is_whole = node->kind == NODE_SCALAR && unit_parse_whole(node->text, out);
    if (!is_whole) {
        unit_quantity quantity;
        unit_error error;
        if (node->kind == NODE_SCALAR && node->text[0] != '\0' &&
            strspn(node->text, "0123456789") == strlen(node->text)) {
            return bind_error(b, node->place, slot->path, "the number %s is too large", quote);
        }
        bool is_unit = node->kind == NODE_SCALAR && unit_parse(node->text, &quantity, &error) &&
                       quantity.has_unit;
        return bind_error(b, node->place, slot->path, "expected a whole number%s, got %s",
                          is_unit ? " without a unit" : " such as 100", quote);
    }
    TREACLE_TRY(check_range(b, slot, (double)*out));
    if (*out > limit || *out < -limit) {
        return bind_error(b, node->place, slot->path, "the number %s is too large", quote);
    }
    return TREACLE_OK;
}

treacle_status bind_int(binder* b, const bind_slot* slot) {
    int64_t wide = 0;
    const int errors = b->diags->errors;
    TREACLE_TRY(bind_whole(b, slot, INT_MAX, &wide));
    if (b->diags->errors == errors) {
        int value = (int)wide;
        memcpy(slot->item + slot->key->offset, &value, sizeof(value));
    }
    return TREACLE_OK;
}

treacle_status bind_int64(binder* b, const bind_slot* slot) {
    int64_t value = 0;
    const int errors = b->diags->errors;
    TREACLE_TRY(bind_whole(b, slot, INT64_MAX, &value));
    if (b->diags->errors == errors) {
        memcpy(slot->item + slot->key->offset, &value, sizeof(value));
    }
    return TREACLE_OK;
}

// Words ----------------------------------------------------------------------

// Equal but for '_' and '-', which people mix up.
static bool is_same_word(const char* a, const char* b) {
    while (*a != '\0' && (*a == *b || (*a == '_' && *b == '-'))) {
        a += 1;
        b += 1;
    }
    return *a == *b;
}

// In either spelling.
static int find_word(const scene_node* node, const char* const* words, int count) {
    char other[SPELLING_MAX];
    for (int i = 0; i < count && node->kind == NODE_SCALAR; ++i) {
        if (is_same_word(node->text, words[i]) ||
            (spelling_other(words[i], other) && is_same_word(node->text, other))) {
            return i;
        }
    }
    return -1;
}

typedef struct word_list {
    const char* intro; // "expected"
    const char* const* words;
    int count;
} word_list;

// "expected one of slip, open; got 'opne'; did you mean 'open'?"
static treacle_status report_word(binder* b, const bind_slot* slot, const word_list* list) {
    char quote[BIND_QUOTE_MAX];
    bind_quote(slot->node, quote);
    text t;
    text_init(&t, b->ctx);
    text_append(&t, list->intro);
    for (int i = 0; i < list->count; ++i) {
        text_printf(&t, "%s%s",
                    i == 0                 ? " "
                    : i + 1 == list->count ? " or "
                                           : ", ",
                    list->words[i]);
    }
    text_printf(&t, ", got %s", quote);
    const char* near = slot->node->kind == NODE_SCALAR
                           ? suggest_word(slot->node->text, list->words, list->count)
                           : NULL;
    if (near != NULL) {
        text_printf(&t, "; did you mean '%s'?", near);
    }
    treacle_status status = text_status(&t);
    if (status == TREACLE_OK) {
        status = bind_error(b, slot->node->place, slot->path, "%s", t.at);
    }
    text_finish(&t);
    return status;
}

treacle_status bind_enum(binder* b, const bind_slot* slot) {
    TREACLE_ASSERT(slot->key->words != NULL);
    int count = 0;
    while (slot->key->words[count] != NULL) {
        count += 1;
    }
    int value = find_word(slot->node, slot->key->words, count);
    if (value < 0) {
        return report_word(b, slot, &(word_list){"expected", slot->key->words, count});
    }
    int spread = slot->key->spread == 0 ? 1 : slot->key->spread;
    for (int i = 0; i < spread; ++i) {
        memcpy(slot->item + slot->key->offset + (size_t)i * sizeof(int), &value, sizeof(value));
    }
    return TREACLE_OK;
}

treacle_status bind_bool(binder* b, const bind_slot* slot) {
    static const char* const words[] = {"false", "true", "no", "yes", "off", "on"};
    int index = find_word(slot->node, words, 6);
    if (index < 0) {
        return report_word(b, slot,
                           &(word_list){"expected", (const char* const[]){"true", "false"}, 2});
    }
    bool value = index % 2 == 1;
    memcpy(slot->item + slot->key->offset, &value, sizeof(value));
    return TREACLE_OK;
}

// `off`, `on`, or the pressure that a wall bears.
treacle_status bind_release(binder* b, const bind_slot* slot) {
    static const char* const words[] = {"off", "on"};
    int index = find_word(slot->node, words, 2);
    bool is_word = slot->node->kind == NODE_SCALAR && isalpha((unsigned char)slot->node->text[0]);
    if (index < 0 && is_word) {
        return report_word(b, slot,
                           &(word_list){"expected a pressure such as 50 Pa, or", words, 2});
    }
    treacle_separation value = {.is_on = index != 0};
    const int errors = b->diags->errors;
    if (index < 0) {
        TREACLE_TRY(bind_number(b, slot, &value.adhesion));
    }
    int spread = slot->key->spread == 0 ? 1 : slot->key->spread;
    for (int i = 0; i < spread && b->diags->errors == errors; ++i) {
        char* at = slot->item + slot->key->offset + (size_t)i * sizeof(value);
        memcpy(at, &value, sizeof(value));
    }
    return TREACLE_OK;
}

treacle_status bind_name(binder* b, const bind_slot* slot) {
    char quote[BIND_QUOTE_MAX];
    bind_quote(slot->node, quote);
    const scene_node* node = slot->node;
    if (node->kind != NODE_SCALAR || node->text[0] == '\0' || scene_node_is_null(node)) {
        return bind_error(b, node->place, slot->path, "expected a name, got %s", quote);
    }
    bool is_safe = isalnum((unsigned char)node->text[0]) || node->text[0] == '_';
    for (const char* c = node->text; *c != '\0'; ++c) {
        is_safe = is_safe && (isalnum((unsigned char)*c) || strchr("_-.", *c) != NULL);
    }
    if (!is_safe || strlen(node->text) > NAME_LENGTH_MAX) {
        return bind_error(b, node->place, slot->path,
                          "expected at most %d letters, digits, '_', '-' and '.' (it becomes part "
                          "of file names), got %s",
                          NAME_LENGTH_MAX, quote);
    }
    memcpy(slot->item + slot->key->offset, &node->text, sizeof(node->text));
    return TREACLE_OK;
}

// "there is no material 'hony'; did you mean 'honey'?"
static treacle_status report_no_material(binder* b, const bind_slot* slot, const word_list* list) {
    char quote[BIND_QUOTE_MAX];
    bind_quote(slot->node, quote);
    if (slot->node->kind != NODE_SCALAR || scene_node_is_null(slot->node)) {
        return bind_error(b, slot->node->place, slot->path,
                          "expected the name of a material, got %s", quote);
    }
    const char* near = suggest_word(slot->node->text, list->words, list->count);
    near = near == NULL ? treacle_material_preset_suggest(slot->node->text) : near;
    if (near != NULL) {
        return bind_error(b, slot->node->place, slot->path,
                          "there is no material %s; did you mean '%s'?", quote, near);
    }
    text t;
    text_init(&t, b->ctx);
    for (int i = 0; i < list->count; ++i) {
        text_printf(&t, "%s%s", i == 0 ? "" : ", ", list->words[i]);
    }
    treacle_status status = text_status(&t);
    if (status == TREACLE_OK) {
        status =
            bind_error(b, slot->node->place, slot->path,
                       "there is no material %s; the scene has %s, and 'treacle materials' lists "
                       "presets",
                       quote, t.at);
    }
    text_finish(&t);
    return status;
}

treacle_status bind_material(binder* b, const bind_slot* slot) {
    const char* names[WORDS_MAX] = {treacle_material_def_default().name};
    int added = -1;
    int count = b->root->sim.material_count;
    count = count < WORDS_MAX ? count : WORDS_MAX;
    for (int i = 0; i < count; ++i) {
        names[i] = b->root->sim.materials[i].name;
    }
    for (int i = 0; i < count; ++i) {
        if (slot->node->kind == NODE_SCALAR && strcmp(slot->node->text, names[i]) == 0) {
            memcpy(slot->item + slot->key->offset, &i, sizeof(i));
            return TREACLE_OK;
        }
    }
    TREACLE_TRY(bind_add_preset(b, slot->node, &added));
    if (added >= 0) {
        memcpy(slot->item + slot->key->offset, &added, sizeof(added));
        return TREACLE_OK;
    }
    return report_no_material(b, slot, &(word_list){"", names, count == 0 ? 1 : count});
}

// Colours --------------------------------------------------------------------

// sRGB's curve, IEC 61966-2-1.
static double linear_of_srgb(double s) {
    return s <= 0.04045 ? s / 12.92 : elementary_pow((s + 0.055) / 1.055, 2.4);
}

static bool read_hex_colour(const char* chars, double out[3]) {
    if (chars[0] != '#' || strlen(chars) != 7 || strspn(chars + 1, "0123456789abcdefABCDEF") != 6) {
        return false;
    }
    unsigned long bits = strtoul(chars + 1, NULL, 16);
    for (int i = 0; i < 3; ++i) {
        out[i] = linear_of_srgb((double)(bits >> (16 - 8 * i) & 0xff) / 255.0);
    }
    return true;
}

treacle_status bind_colour(binder* b, const bind_slot* slot) {
    double value[3] = {0};
    const int errors = b->diags->errors;
    const scene_node* node = slot->node;
    if (node->kind == NODE_LIST && node->count == 3) {
        schema_key key = *slot->key;
        key.range = (schema_range){.has_min = true, .has_max = true, .min = 0.0, .max = 1.0};
        bind_slot inner = {.key = &key, .node = node, .item = slot->item, .path = slot->path};
        TREACLE_TRY(bind_vector(b, &inner, value));
    } else if (node->kind != NODE_SCALAR || !read_hex_colour(node->text, value)) {
        char quote[BIND_QUOTE_MAX];
        bind_quote(node, quote);
        return bind_error(b, node->place, slot->path,
                          "expected red, green and blue from 0 to 1, such as [0.8, 0.5, 0.1], or "
                          "\"#d9a441\" in quotes; got %s",
                          quote);
    }
    if (b->diags->errors == errors) {
        memcpy(slot->item + slot->key->offset, value, sizeof(value));
    }
    return TREACLE_OK;
}
