// Values over time and over space.
//
//     curve:  3 m/s   |   {keys: {0 s: 1 m/s, 2 s: 3 m/s}}   |   [[0 s, 1 m/s], [2 s, 3 m/s]]
//     field:  [1, 0, 0]   |   [2*y, "min(x, 1)", 0]   |   {ramp: {from, to, a, b}}
#include <ctype.h>
#include <string.h>

#include "math/expr.h"
#include "scene/bind.h"

static const schema_key time_key = {.name = "time", .type = SCHEMA_REAL, .unit = UNIT_TIME};
static const schema_key temperature_key = {
    .name = "temperature", .type = SCHEMA_REAL, .unit = UNIT_TEMPERATURE};

// Curves ---------------------------------------------------------------------

typedef struct curve_work {
    const bind_slot* slot; // of the whole curve
    int components;
    treacle_key* keys;
    int count;
} curve_work;

static treacle_status read_value(binder* b, const curve_work* work, const scene_node* node,
                                 const schema_path* path, double out[3]) {
    bind_slot part = {.key = work->slot->key, .node = node, .item = work->slot->item, .path = path};
    return work->components == 1 ? bind_number(b, &part, &out[0]) : bind_vector(b, &part, out);
}

static treacle_status add_key(binder* b, curve_work* work, const scene_node* time,
                              const scene_node* value) {
    treacle_key* key = &work->keys[work->count];
    schema_path path = {.up = work->slot->path, .index = work->count};
    const int errors = b->diags->errors;
    bool is_of_time = (work->slot->key->flags & SCHEMA_BY_TEMPERATURE) == 0;
    bind_slot when = {.key = is_of_time ? &time_key : &temperature_key,
                      .node = time,
                      .item = work->slot->item,
                      .path = &path};
    TREACLE_TRY(bind_number(b, &when, &key->time));
    bool is_late = b->diags->errors != errors || work->count == 0 ||
                   key->time > work->keys[work->count - 1].time;
    if (!is_late) {
        char quote[BIND_QUOTE_MAX];
        bind_quote(time, quote);
        TREACLE_TRY(bind_error(b, time->place, &path,
                               "%s must increase, and %s is not after the key before it",
                               is_of_time ? "times" : "temperatures", quote));
    }
    work->count += 1;
    return read_value(b, work, value, &path, key->value);
}

static treacle_status take_keys(binder* b, curve_work* work, const scene_node* node) {
    void* block = NULL;
    TREACLE_TRY(scene_pool_take(b->pool, (size_t)node->count, sizeof(treacle_key), &block));
    work->keys = block;
    return TREACLE_OK;
}

static treacle_status read_key_map(binder* b, curve_work* work) {
    const scene_node* node = work->slot->node;
    const scene_node* keys = scene_node_find(node, "keys");
    if (keys == NULL || node->count != 1) {
        return bind_error(b, node->place, work->slot->path,
                          "expected a value, or keys over time such as {keys: {0 s: ..., 1 s: "
                          "...}}");
    }
    if (keys->kind != NODE_MAP || keys->count == 0) {
        return bind_error(b, keys->place, work->slot->path,
                          "expected times with values, such as {0 s: ..., 1 s: ...}");
    }
    TREACLE_TRY(take_keys(b, work, keys));
    for (const scene_node* n = keys->first; n != NULL; n = n->next) {
        scene_node time = {.kind = NODE_SCALAR, .place = n->key_place, .text = n->key};
        TREACLE_TRY(add_key(b, work, &time, n));
    }
    return TREACLE_OK;
}

static treacle_status read_key_list(binder* b, curve_work* work) {
    TREACLE_TRY(take_keys(b, work, work->slot->node));
    for (const scene_node* n = work->slot->node->first; n != NULL; n = n->next) {
        if (n->kind != NODE_LIST || n->count != 2) {
            return bind_error(b, n->place, work->slot->path, "expected a key [time, value]");
        }
        TREACLE_TRY(add_key(b, work, n->first, n->last));
    }
    return TREACLE_OK;
}

static treacle_status read_constant(binder* b, curve_work* work) {
    void* block = NULL;
    TREACLE_TRY(scene_pool_take(b->pool, 1, sizeof(treacle_key), &block));
    work->keys = block;
    work->count = 1;
    return read_value(b, work, work->slot->node, work->slot->path, work->keys[0].value);
}

static treacle_status bind_curve_of(binder* b, const bind_slot* slot, int components) {
    const int errors = b->diags->errors;
    const scene_node* node = slot->node;
    curve_work work = {.slot = slot, .components = components};
    bool is_key_list =
        node->kind == NODE_LIST && node->first != NULL && node->first->kind == NODE_LIST;
    if (node->kind == NODE_MAP) {
        TREACLE_TRY(read_key_map(b, &work));
    } else if (is_key_list) {
        TREACLE_TRY(read_key_list(b, &work));
    } else {
        TREACLE_TRY(read_constant(b, &work));
    }
    if (b->diags->errors == errors) {
        treacle_curve curve = {.count = work.count, .keys = work.keys};
        memcpy(slot->item + slot->key->offset, &curve, sizeof(curve));
    }
    return TREACLE_OK;
}

treacle_status bind_curve(binder* b, const bind_slot* slot) {
    return bind_curve_of(b, slot, 1);
}

treacle_status bind_curve3(binder* b, const bind_slot* slot) {
    return bind_curve_of(b, slot, 3);
}

// Fields ---------------------------------------------------------------------

// Whether a text is meant as an expression: it names something, and is not a number with a unit,
// not even with one that is spelt wrong.
static bool is_expression(const scene_node* node) {
    unit_quantity quantity;
    unit_error error;
    if (node->kind != NODE_SCALAR || scene_node_is_null(node) ||
        unit_parse(node->text, &quantity, &error)) {
        return false;
    }
    const char* after = node->text + strspn(node->text, "+-0123456789. ");
    bool begins_with_digit = isdigit((unsigned char)node->text[0]) || node->text[0] == '.';
    return !(begins_with_digit && isalpha((unsigned char)*after));
}

static treacle_status check_expression(binder* b, const bind_slot* slot) {
    expr* e = NULL;
    expr_error error = {0};
    treacle_status status = expr_create(b->ctx, slot->node->text, &error, &e);
    expr_destroy(e);
    if (status != TREACLE_ERR_SCENE && status != TREACLE_ERR_LIMIT) {
        return status;
    }
    scene_place place = slot->node->place;
    place.column += error.column - 1 + (slot->node->is_quoted ? 1 : 0);
    return bind_error(b, place, slot->path, "in the expression: %s", error.text);
}

static treacle_status bind_component(binder* b, const bind_slot* slot, treacle_field* field,
                                     int a) {
    if (is_expression(slot->node)) {
        field->expression[a] = slot->node->text;
        return check_expression(b, slot);
    }
    return bind_number(b, slot, &field->value_a[a]);
}

// Components that are numbers become texts, once one of them is an expression.
static treacle_status write_numbers(binder* b, treacle_field* field, int components) {
    field->kind = TREACLE_FIELD_EXPRESSION;
    for (int a = 0; a < components; ++a) {
        if (field->expression[a] == NULL) {
            char number[32];
            unit_print_number(field->value_a[a], number);
            TREACLE_TRY(scene_pool_text(b->pool, number, strlen(number), &field->expression[a]));
        }
        field->value_a[a] = 0.0;
    }
    return TREACLE_OK;
}

static treacle_status read_components(binder* b, const bind_slot* slot, treacle_field* field) {
    bool has_expression = false;
    int a = 0;
    for (const scene_node* n = slot->node->first; n != NULL; n = n->next, ++a) {
        schema_path path = {.up = slot->path, .index = a};
        bind_slot part = {.key = slot->key, .node = n, .item = slot->item, .path = &path};
        has_expression = has_expression || is_expression(n);
        TREACLE_TRY(bind_component(b, &part, field, a));
    }
    return has_expression ? write_numbers(b, field, 3) : TREACLE_OK;
}

// The keys `a` and `b` have the unit, range and number of components of the field.
static treacle_status read_ramp(binder* b, const bind_slot* slot, int components,
                                treacle_field* field) {
    const scene_node* ramp = scene_node_find(slot->node, "ramp");
    if (ramp == NULL || slot->node->count != 1) {
        return bind_error(b, slot->node->place, slot->path,
                          "expected %s or {ramp: {from, to, a, b}}",
                          components == 1 ? "a value" : "three components [x, y, z]");
    }
    schema_key keys[4];
    TREACLE_ASSERT(schema_ramp.key_count == 4);
    memcpy(keys, schema_ramp.keys, sizeof(keys));
    for (int i = 2; i < 4; ++i) {
        keys[i].type = components == 1 ? SCHEMA_REAL : SCHEMA_VEC3;
        keys[i].unit = slot->key->unit;
        keys[i].range = slot->key->range;
    }
    schema_section section = schema_ramp;
    section.keys = keys;
    field->kind = TREACLE_FIELD_RAMP;
    schema_path path = {.up = slot->path, .name = "ramp"};
    return bind_section(b, &section, ramp, field, &path);
}

static treacle_status read_values(binder* b, const bind_slot* slot, int components,
                                  treacle_field* field) {
    if (components == 1) {
        TREACLE_TRY(bind_component(b, slot, field, 0));
        return is_expression(slot->node) ? write_numbers(b, field, 1) : TREACLE_OK;
    }
    int count = slot->node->kind == NODE_LIST ? slot->node->count : 0;
    bool is_vector = count == 3 || (count == 2 && b->flat_axis == 2);
    return is_vector ? read_components(b, slot, field) : bind_vector(b, slot, field->value_a);
}

static treacle_status bind_field_of(binder* b, const bind_slot* slot, int components) {
    const int errors = b->diags->errors;
    treacle_field field = {.kind = TREACLE_FIELD_CONSTANT};
    TREACLE_TRY(slot->node->kind == NODE_MAP ? read_ramp(b, slot, components, &field)
                                             : read_values(b, slot, components, &field));
    if (b->diags->errors == errors) {
        memcpy(slot->item + slot->key->offset, &field, sizeof(field));
    }
    return TREACLE_OK;
}

treacle_status bind_field(binder* b, const bind_slot* slot) {
    return bind_field_of(b, slot, 1);
}

treacle_status bind_field3(binder* b, const bind_slot* slot) {
    return bind_field_of(b, slot, 3);
}
