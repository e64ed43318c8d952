#include "defs/def_check.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/check.h"
#include "defs/schema.h"
#include "math/curve.h"

_Static_assert(offsetof(scene_root, sim) == 0, "the root's keys lead into a treacle_sim_def, too");

typedef struct walk {
    treacle_context* ctx;
    const treacle_sim_def* def;
} walk;

// A value to check: its row, its place, the struct that holds it and one with the defaults.
typedef struct slot {
    const schema_key* key;
    const schema_path* at;
    const char* item;
    const char* defaults;
} slot;

// --- numbers -------------------------------------------------------------------------------------

static treacle_status refuse_number(const walk* w, const slot* s, double value) {
    const unit_kind_info* kind = unit_kind_get(s->key->unit);
    const char* space = kind->si[0] == '\0' ? "" : " ";
    char path[SCHEMA_PATH_MAX], expected[SCHEMA_RANGE_TEXT_MAX], most[32];
    schema_path_print(s->at, path);
    schema_range_text(&s->key->range, s->key->unit, expected);
    unit_print_number(kind->most, most);
    return schema_range_has(&s->key->range, value) || isnan(value)
               ? check_fail(w->ctx, TREACLE_ERR_SCENE,
                            "%s is %g%s%s: expected a size of at most %s", path, value, space,
                            kind->si, most)
               : check_fail(w->ctx, TREACLE_ERR_SCENE, "%s is %g%s%s: must be %s", path, value,
                            space, kind->si, expected);
}

// What is the default is right, such as a time that never comes.
static treacle_status check_number(const walk* w, const slot* s, double value, double by_default) {
    bool is_default = value == by_default || (isnan(value) && isnan(by_default));
    bool is_endless = s->key->infinite != NULL && value == (double)INFINITY;
    bool is_right = is_default || is_endless ||
                    (schema_range_has(&s->key->range, value) &&
                     fabs(value) <= unit_kind_get(s->key->unit)->most);
    return is_right ? TREACLE_OK : refuse_number(w, s, value);
}

static treacle_status check_numbers(const walk* w, const slot* s, size_t offset, int count) {
    for (int i = 0; i < count; ++i) {
        double value, by_default;
        memcpy(&value, s->item + offset + (size_t)i * sizeof(value), sizeof(value));
        memcpy(&by_default, s->defaults + offset + (size_t)i * sizeof(value), sizeof(value));
        TREACLE_TRY(check_number(w, s, value, by_default));
    }
    return TREACLE_OK;
}

static treacle_status check_int(const walk* w, const slot* s) {
    int value, by_default;
    memcpy(&value, s->item + s->key->offset, sizeof(value));
    memcpy(&by_default, s->defaults + s->key->offset, sizeof(value));
    return check_number(w, s, value, by_default);
}

// --- words and references ------------------------------------------------------------------------

static treacle_status refuse_int(const walk* w, const schema_path* at, int value, int count,
                                 const char* what) {
    char path[SCHEMA_PATH_MAX];
    schema_path_print(at, path);
    return check_fail(w->ctx, TREACLE_ERR_SCENE, "%s is %d: there are %d %s, counted from 0", path,
                      value, count, what);
}

static treacle_status check_enum(const walk* w, const slot* s) {
    int count = 0;
    while (s->key->words[count] != NULL) {
        count += 1;
    }
    for (int i = 0; i < (s->key->spread > 0 ? s->key->spread : 1); ++i) {
        int value;
        memcpy(&value, s->item + s->key->offset + (size_t)i * sizeof(value), sizeof(value));
        if (value < 0 || value >= count) {
            return refuse_int(w, s->at, value, count, "choices");
        }
    }
    return TREACLE_OK;
}

static treacle_status check_material(const walk* w, const slot* s) {
    int value;
    memcpy(&value, s->item + s->key->offset, sizeof(value));
    bool is_there = value >= 0 && value < w->def->material_count;
    return is_there ? TREACLE_OK : refuse_int(w, s->at, value, w->def->material_count, "materials");
}

static treacle_status check_rule(const walk* w, const schema_section* section,
                                 const schema_path* at, const void* item) {
    schema_fault fault;
    if (section->rule == NULL || section->rule(item, &fault)) {
        return TREACLE_OK;
    }
    char path[SCHEMA_PATH_MAX];
    schema_path_print(at, path);
    return check_fail(w->ctx, TREACLE_ERR_SCENE, "%s%s%s", path, path[0] == '\0' ? "" : ": ",
                      fault.text);
}

// --- curves and fields ---------------------------------------------------------------------------

static treacle_status check_curve(const walk* w, const slot* s, int components) {
    treacle_curve curve;
    memcpy(&curve, s->item + s->key->offset, sizeof(curve));
    if (curve.count == 0) {
        return TREACLE_OK; // not given
    }
    char path[SCHEMA_PATH_MAX];
    schema_path_print(s->at, path);
    TREACLE_TRY(curve_check(w->ctx, &curve, path));
    for (int i = 0; i < components * curve.count; ++i) {
        double value = curve.keys[i / components].value[i % components];
        TREACLE_TRY(check_number(w, s, value, 0.0));
    }
    return TREACLE_OK;
}

static treacle_status check_field(const walk* w, const slot* s, int components) {
    treacle_field field;
    memcpy(&field, s->item + s->key->offset, sizeof(field));
    bool is_ramp = field.kind == TREACLE_FIELD_RAMP;
    if (field.kind == TREACLE_FIELD_CONSTANT || is_ramp) {
        size_t offset = s->key->offset + offsetof(treacle_field, value_a);
        TREACLE_TRY(check_numbers(w, s, offset, components));
    }
    if (is_ramp) {
        size_t offset = s->key->offset + offsetof(treacle_field, value_b);
        TREACLE_TRY(check_numbers(w, s, offset, components));
    }
    return is_ramp ? check_rule(w, &schema_ramp, s->at, &field) : TREACLE_OK;
}

// --- sections ------------------------------------------------------------------------------------

static treacle_status check_section(const walk* w, const schema_section* section, const slot* s);

static treacle_status check_items(const walk* w, const slot* s) {
    const schema_section* of = s->key->of;
    const char* items;
    int count;
    _Alignas(max_align_t) char defaults[SCHEMA_ITEM_MAX] = {0};
    memcpy(&items, s->item + s->key->offset, sizeof(items));
    memcpy(&count, s->item + s->key->count_offset, sizeof(count));
    if (count == 0) {
        return TREACLE_OK;
    }
    if (count < 0 || items == NULL || (s->key->range.has_max && count > s->key->range.max)) {
        char path[SCHEMA_PATH_MAX];
        schema_path_print(s->at, path);
        return check_fail(w->ctx, TREACLE_ERR_SCENE,
                          "%s: %d are given%s, at most %.0f are possible", path, count,
                          items == NULL ? " but none is there" : "", s->key->range.max);
    }
    of->init(defaults);
    for (int i = 0; i < count; ++i) {
        schema_path at = {.up = s->at, .index = i};
        slot inner = {.at = &at, .item = items + (size_t)i * of->bytes, .defaults = defaults};
        TREACLE_TRY(check_section(w, of, &inner));
    }
    return TREACLE_OK;
}

static treacle_status check_value(const walk* w, const slot* s) {
    size_t offset = s->key->offset;
    switch (s->key->type) {
    case SCHEMA_INT:
        return check_int(w, s);
    case SCHEMA_REAL:
        return check_numbers(w, s, offset, 1);
    case SCHEMA_VEC3:
    case SCHEMA_COLOUR:
        return check_numbers(w, s, offset, 3);
    case SCHEMA_ENUM:
        return check_enum(w, s);
    case SCHEMA_CURVE:
        return check_curve(w, s, 1);
    case SCHEMA_CURVE3:
        return check_curve(w, s, 3);
    case SCHEMA_FIELD:
        return check_field(w, s, 1);
    case SCHEMA_FIELD3:
        return check_field(w, s, 3);
    case SCHEMA_RELEASE:
        return check_numbers(w, s, offset + offsetof(treacle_separation, adhesion), 1);
    case SCHEMA_MATERIAL:
        return check_material(w, s);
    case SCHEMA_LIST:
    case SCHEMA_MAP:
        return check_items(w, s);
    case SCHEMA_SECTION: {
        slot inner = {.at = s->at, .item = s->item + offset, .defaults = s->defaults + offset};
        return check_section(w, s->key->of, &inner);
    }
    case SCHEMA_BOOL:
    case SCHEMA_INT64:
    case SCHEMA_NAME:
    case SCHEMA_FILE:
    case SCHEMA_MESH:
    case SCHEMA_SHAPE:
    case SCHEMA_SHAPES:
    case SCHEMA_PRESET:
    case SCHEMA_INCLUDE:
    case SCHEMA_TYPE_COUNT:
        break;
    }
    return TREACLE_OK;
}

static treacle_status check_section(const walk* w, const schema_section* section, const slot* s) {
    bool is_root = section == &schema_root;
    if (section->is_idle != NULL && section->is_idle(s->item)) {
        return TREACLE_OK;
    }
    for (int i = 0; i < section->key_count; ++i) {
        const schema_key* key = &section->keys[i];
        schema_path at = {.up = s->at, .name = key->name};
        slot inner = {.key = key, .at = &at, .item = s->item, .defaults = s->defaults};
        if (!is_root || key->offset < sizeof(treacle_sim_def)) {
            TREACLE_TRY(check_value(w, &inner));
        }
    }
    return check_rule(w, section, s->at, s->item);
}

treacle_status def_check(treacle_context* ctx, const treacle_sim_def* def) {
    _Alignas(max_align_t) char defaults[SCHEMA_ITEM_MAX] = {0};
    schema_root.init(defaults);
    const walk w = {.ctx = ctx, .def = def};
    slot s = {.item = (const char*)def, .defaults = defaults};
    return check_section(&w, &schema_root, &s);
}
