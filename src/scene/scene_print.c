// The canonical text: every value that differs from its default, in the order of the schema, in SI
// without units, each number as the shortest text that reads back the same.
#include <math.h>
#include <string.h>

#include "scene/scene_internal.h"

typedef struct printer {
    text* out;
    const scene_root* root; // for the names of materials
    int indent;
    bool has_paths;
} printer;

static void print_section(printer* p, const schema_section* section, const char* item,
                          const char* defaults);

static void new_line(printer* p) {
    text_append_char(p->out, '\n');
    for (int i = 0; i < p->indent; ++i) {
        text_append(p->out, "  ");
    }
}

static void print_number(text* t, double value) {
    char number[32];
    unit_print_number(value, number);
    text_append(t, number);
}

static void print_numbers(text* t, const double* value, int count) {
    text_append_char(t, '[');
    for (int i = 0; i < count; ++i) {
        text_append(t, i == 0 ? "" : ", ");
        print_number(t, value[i]);
    }
    text_append_char(t, ']');
}

// In double quotes, so that nothing in it means something to YAML.
static void print_quoted(text* t, const char* chars) {
    text_append_char(t, '"');
    for (const char* c = chars; *c != '\0'; ++c) {
        if (*c == '\n' || *c == '\t') {
            text_append(t, *c == '\n' ? "\\n" : "\\t");
        } else {
            text_append(t, *c == '"' || *c == '\\' ? "\\" : "");
            text_append_char(t, *c);
        }
    }
    text_append_char(t, '"');
}

static void print_components(text* t, const double* value, int components) {
    if (components == 1) {
        print_number(t, value[0]);
    } else {
        print_numbers(t, value, components);
    }
}

static void print_curve(text* t, const treacle_curve* curve, int components) {
    bool is_constant = curve->count == 1 && curve->keys[0].time == 0.0;
    text_append(t, is_constant ? "" : "[");
    for (int i = 0; i < curve->count; ++i) {
        const treacle_key* key = &curve->keys[i];
        text_append(t, i == 0 ? "" : ", ");
        if (!is_constant) {
            text_append_char(t, '[');
            print_number(t, key->time);
            text_append(t, ", ");
        }
        print_components(t, key->value, components);
        text_append(t, is_constant ? "" : "]");
    }
    text_append(t, is_constant ? "" : "]");
}

static void print_ramp(text* t, const treacle_field* field, int components) {
    text_append(t, "{ramp: {from: ");
    print_numbers(t, field->from, 3);
    text_append(t, ", to: ");
    print_numbers(t, field->to, 3);
    text_append(t, ", a: ");
    print_components(t, field->value_a, components);
    text_append(t, ", b: ");
    print_components(t, field->value_b, components);
    text_append(t, "}}");
}

static void print_expressions(text* t, const treacle_field* field, int components) {
    text_append(t, components == 1 ? "" : "[");
    for (int a = 0; a < components; ++a) {
        text_append(t, a == 0 ? "" : ", ");
        print_quoted(t, field->expression[a]);
    }
    text_append(t, components == 1 ? "" : "]");
}

static void print_field(text* t, const treacle_field* field, int components) {
    switch (field->kind) {
    case TREACLE_FIELD_CONSTANT:
        print_components(t, field->value_a, components);
        break;
    case TREACLE_FIELD_RAMP:
        print_ramp(t, field, components);
        break;
    case TREACLE_FIELD_EXPRESSION:
        print_expressions(t, field, components);
        break;
    }
}

static double get_double(const char* at) {
    double value;
    memcpy(&value, at, sizeof(value));
    return value;
}

static int get_int(const char* at) {
    int value;
    memcpy(&value, at, sizeof(value));
    return value;
}

static int64_t get_int64(const char* at) {
    int64_t value;
    memcpy(&value, at, sizeof(value));
    return value;
}

static const void* get_pointer(const char* at) {
    const void* value;
    memcpy(&value, at, sizeof(value));
    return value;
}

static treacle_separation get_separation(const char* at) {
    treacle_separation value;
    memcpy(&value, at, sizeof(value));
    return value;
}

static void print_separation(text* t, treacle_separation value) {
    if (value.is_on && value.adhesion > 0.0) {
        print_number(t, value.adhesion);
    } else {
        text_append(t, value.is_on ? "on" : "off");
    }
}

void scene_print_value(text* t, const schema_key* key, const void* item) {
    TREACLE_ASSERT(key != NULL && item != NULL);
    const char* at = (const char*)item + key->offset;
    switch (key->type) {
    case SCHEMA_BOOL:
        text_append(t, *at ? "true" : "false");
        break;
    case SCHEMA_INT:
        text_printf(t, "%d", get_int(at));
        break;
    case SCHEMA_INT64:
        text_printf(t, "%lld", (long long)get_int64(at));
        break;
    case SCHEMA_REAL:
        if (isinf(get_double(at)) && key->infinite != NULL) {
            text_append(t, key->infinite);
        } else {
            print_number(t, get_double(at));
        }
        break;
    case SCHEMA_VEC3:
    case SCHEMA_COLOUR:
        print_numbers(t, (const double*)(const void*)at, 3);
        break;
    case SCHEMA_ENUM:
        text_append(t, key->words[get_int(at)]);
        break;
    case SCHEMA_NAME:
        print_quoted(t, get_pointer(at));
        break;
    case SCHEMA_RELEASE:
        print_separation(t, get_separation(at));
        break;
    case SCHEMA_CURVE:
    case SCHEMA_CURVE3:
        print_curve(t, (const treacle_curve*)(const void*)at, key->type == SCHEMA_CURVE ? 1 : 3);
        break;
    case SCHEMA_FIELD:
    case SCHEMA_FIELD3:
        print_field(t, (const treacle_field*)(const void*)at, key->type == SCHEMA_FIELD ? 1 : 3);
        break;
    default:
        break;
    }
}

// Bytes of a value that has no pointers in it; 0 for others.
static size_t plain_bytes(schema_type type) {
    switch (type) {
    case SCHEMA_BOOL:
        return sizeof(bool);
    case SCHEMA_INT:
    case SCHEMA_ENUM:
    case SCHEMA_MATERIAL:
        return sizeof(int);
    case SCHEMA_INT64:
        return sizeof(int64_t);
    case SCHEMA_REAL:
        return sizeof(double);
    case SCHEMA_VEC3:
    case SCHEMA_COLOUR:
        return sizeof(double[3]);
    default:
        return 0;
    }
}

static bool is_same_curve(const char* a, const char* b) {
    treacle_curve left, right;
    memcpy(&left, a, sizeof(left));
    memcpy(&right, b, sizeof(right));
    return left.count == right.count &&
           (left.count == 0 ||
            memcmp(left.keys, right.keys, (size_t)left.count * sizeof(treacle_key)) == 0);
}

static bool is_same_constant(const char* a, const char* b) {
    treacle_field left, right;
    memcpy(&left, a, sizeof(left));
    memcpy(&right, b, sizeof(right));
    bool is_same = left.kind == TREACLE_FIELD_CONSTANT && right.kind == TREACLE_FIELD_CONSTANT;
    for (int i = 0; i < 3; ++i) {
        is_same = is_same && left.value_a[i] == right.value_a[i];
    }
    return is_same;
}

static bool is_same_separation(treacle_separation a, treacle_separation b) {
    return a.is_on == b.is_on && a.adhesion == b.adhesion;
}

static bool is_default(const schema_key* key, const char* item, const char* defaults) {
    const char *at = item + key->offset, *other = defaults + key->offset;
    switch (key->type) {
    case SCHEMA_CURVE:
    case SCHEMA_CURVE3:
        return is_same_curve(at, other);
    case SCHEMA_FIELD:
    case SCHEMA_FIELD3:
        return is_same_constant(at, other);
    case SCHEMA_RELEASE:
        return is_same_separation(get_separation(at), get_separation(other));
    case SCHEMA_SHAPES:
    case SCHEMA_LIST:
    case SCHEMA_MAP:
        return get_int(item + key->count_offset) == 0;
    case SCHEMA_SHAPE:
    case SCHEMA_NAME:
    case SCHEMA_FILE:
    case SCHEMA_MESH:
        return get_pointer(at) == NULL;
    default:
        return memcmp(at, other, plain_bytes(key->type)) == 0;
    }
}

static bool is_printed(const schema_section* section, const schema_key* key, const char* item,
                       const char* defaults) {
    if ((key->flags & SCHEMA_INPUT_ONLY) != 0) {
        return false;
    }
    bool is_forced = (key->flags & (SCHEMA_REQUIRED | SCHEMA_ALWAYS)) != 0 && key->choice == 0;
    is_forced = is_forced || (section->needs != NULL && section->needs(item, key->name));
    return is_forced || !is_default(key, item, defaults);
}

static void print_shape(printer* p, const treacle_shape* shape_def) {
    shape_spec spec, defaults;
    schema_shape_spec(shape_def, &spec);
    schema_shape.init(&defaults);
    const schema_key* kind = &schema_shape.keys[shape_def->kind];
    new_line(p);
    text_printf(p->out, "%s:", kind->name);
    p->indent += 1;
    if (kind->type == SCHEMA_SECTION) {
        size_t length = p->out->length;
        print_section(p, kind->of, (const char*)&spec, (const char*)&defaults);
        text_append(p->out, p->out->length == length ? " {}" : "");
    }
    for (int i = 0; i < shape_def->child_count; ++i) {
        new_line(p);
        text_append_char(p->out, '-');
        p->indent += 1;
        print_shape(p, &shape_def->children[i]);
        p->indent -= 1;
    }
    p->indent -= 1;
    schema_section placement = schema_shape;
    placement.keys += SCHEMA_SHAPE_KINDS;
    placement.key_count -= SCHEMA_SHAPE_KINDS;
    print_section(p, &placement, (const char*)&spec, (const char*)&defaults);
}

static void print_items(printer* p, const schema_key* key, const char* item) {
    const char* items = get_pointer(item + key->offset);
    int count = get_int(item + key->count_offset);
    _Alignas(max_align_t) char defaults[SCHEMA_ITEM_MAX];
    TREACLE_ASSERT(key->of->bytes <= SCHEMA_ITEM_MAX);
    key->of->init(defaults);
    p->indent += 1;
    for (int i = 0; i < count; ++i) {
        const char* one = items + (size_t)i * key->of->bytes;
        new_line(p);
        if (key->type == SCHEMA_MAP) {
            print_quoted(p->out, get_pointer(one + key->of->name_offset));
            text_append_char(p->out, ':');
        } else {
            text_append_char(p->out, '-');
        }
        size_t length = p->out->length;
        p->indent += 1;
        print_section(p, key->of, one, defaults);
        p->indent -= 1;
        text_append(p->out, p->out->length == length ? " {}" : "");
    }
    p->indent -= 1;
}

static void print_inner(printer* p, const schema_key* key, const char* item, const char* defaults) {
    text* t = p->out;
    size_t before = t->length;
    new_line(p);
    text_printf(t, "%s:", key->name);
    size_t head = t->length;
    p->indent += 1;
    print_section(p, key->of, item + key->offset, defaults + key->offset);
    p->indent -= 1;
    if (t->length == head && t->length > 0) {
        t->length = before; // nothing in it differs from its default
        t->at[before] = '\0';
    }
}

static void print_key(printer* p, const schema_key* key, const char* item) {
    new_line(p);
    text_printf(p->out, "%s:", key->name);
    switch (key->type) {
    case SCHEMA_SHAPE:
        p->indent += 1;
        print_shape(p, get_pointer(item + key->offset));
        p->indent -= 1;
        break;
    case SCHEMA_LIST:
    case SCHEMA_MAP:
        print_items(p, key, item);
        break;
    case SCHEMA_MATERIAL:
        text_append_char(p->out, ' ');
        print_quoted(p->out, p->root->sim.materials[get_int(item + key->offset)].name);
        break;
    case SCHEMA_FILE:
    case SCHEMA_MESH:
        text_append_char(p->out, ' ');
        print_quoted(p->out, p->has_paths ? get_pointer(item + key->offset) : "");
        break;
    default:
        text_append_char(p->out, ' ');
        scene_print_value(p->out, key, item);
        break;
    }
}

static void print_section(printer* p, const schema_section* section, const char* item,
                          const char* defaults) {
    for (int i = 0; i < section->key_count; ++i) {
        const schema_key* key = &section->keys[i];
        if (key->type == SCHEMA_SECTION) {
            print_inner(p, key, item, defaults);
        } else if (is_printed(section, key, item, defaults)) {
            print_key(p, key, item);
        }
    }
}

void scene_print(text* t, const scene_root* root, bool has_paths) {
    scene_root defaults;
    schema_root.init(&defaults);
    printer p = {.out = t, .root = root, .has_paths = has_paths};
    text_append(t, "# The effective scene: all values that differ from their defaults, in SI.");
    print_section(&p, &schema_root, (const char*)root, (const char*)&defaults);
    text_append_char(t, '\n');
}
