// Scenes that know their schema. An input is read as the choices that draw a scene from the table
// of keys: most of what it says has the right name, kind and unit, so that checks of whole sections
// are reached. It loads or is refused; what loads loads again from its canonical text, to the same
// hash, has an estimate, and, where it is small, a simulation.
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "defs/schema.h"
#include "fuzz.h"
#include "treacle/treacle.h"

enum { TEXT_MAX = 16384, DEPTH_MAX = 6, SMALL_CELLS = 4096, SMALL_PARTICLES = 20000 };

typedef struct writer {
    fuzz_choices choices;
    char text[TEXT_MAX];
    size_t length;
} writer;

static void put(writer* w, const char* format, ...) TREACLE_PRINTF(2, 3);
static void put(writer* w, const char* format, ...) {
    va_list args;
    va_start(args, format);
    int written = vsnprintf(w->text + w->length, TEXT_MAX - w->length, format, args);
    va_end(args);
    w->length += written > 0 && w->length + (size_t)written < TEXT_MAX ? (size_t)written : 0;
    w->text[w->length] = '\0';
}

static int pick(writer* w, int count) {
    return fuzz_pick(&w->choices, count);
}

// Values ------------------------------------------------------------------------------------------

static double draw_number(writer* w, const schema_range* range) {
    static const double plain[] = {0.0,  1.0, 0.5,   2.0,  -1.0,  0.1,  10.0,  1000.0,
                                   1e-6, 1e6, 300.0, 0.01, -0.25, 1e12, 1e300, 3.0};
    double low = range->has_min ? range->min : -1.0, high = range->has_max ? range->max : 10.0;
    switch (pick(w, 6)) {
    case 0:
        return low;
    case 1:
        return high;
    case 2:
    case 3:
        return low + (high - low) * pick(w, 255) / 254.0;
    default:
        return plain[pick(w, 16)];
    }
}

static void put_number(writer* w, const schema_key* key) {
    double value = draw_number(w, &key->range);
    unit_kind unit =
        key->other_unit != UNIT_NUMBER && pick(w, 4) == 0 ? key->other_unit : key->unit;
    const char* si = unit_kind_get(unit)->si;
    if (key->infinite != NULL && pick(w, 8) == 0) {
        put(w, "%s", key->infinite);
    } else if (key->type == SCHEMA_INT || key->type == SCHEMA_INT64) {
        put(w, "%.0f", value);
    } else if (si != NULL && si[0] != '\0' && pick(w, 2) == 0) {
        put(w, "%.6g %s", value, si);
    } else {
        put(w, "%.17g", value);
    }
}

static void put_vector(writer* w, const schema_key* key) {
    int count = (key->flags & SCHEMA_PAIR) != 0 && pick(w, 3) == 0 ? 2 : 3;
    put(w, "[");
    for (int i = 0; i < count; ++i) {
        put(w, "%s", i == 0 ? "" : ", ");
        put_number(w, key);
    }
    put(w, "]");
}

static void put_value(writer* w, const schema_key* key, bool is_vector) {
    is_vector ? put_vector(w, key) : put_number(w, key);
}

static void put_curve(writer* w, const schema_key* key, bool is_vector) {
    if (pick(w, 3) == 0) {
        put(w, "{keys: {");
        for (int i = 0, time = 0; i < 3; ++i) {
            put(w, "%s%d: ", i == 0 ? "" : ", ", time += pick(w, 4));
            put_value(w, key, is_vector);
        }
        put(w, "}}");
    } else {
        put_value(w, key, is_vector);
    }
}

static void put_field(writer* w, const schema_key* key, bool is_vector) {
    static const char* const formulas[] = {"x",       "2*y",       "sin(t)",  "1/z",
                                           "x^2 - y", "min(x, 1)", "log(-1)", "(x < 0.5) * 3"};
    int way = pick(w, 4);
    if (way == 0) {
        put(w, is_vector ? "[\"%s\", 0, \"%s\"]" : "\"%s\"", formulas[pick(w, 8)],
            formulas[pick(w, 8)]);
    } else if (way == 1) {
        put(w, "{ramp: {from: [0, 0, 0], to: [0, 1, 0], a: ");
        put_value(w, key, is_vector);
        put(w, ", b: ");
        put_value(w, key, is_vector);
        put(w, "}}");
    } else {
        put_value(w, key, is_vector);
    }
}

static void put_word(writer* w, const schema_key* key) {
    int count = 0;
    while (key->words[count] != NULL) {
        count += 1;
    }
    put(w, "%s", key->words[pick(w, count)]);
}

// Sections ----------------------------------------------------------------------------------------

static void put_section(writer* w, const schema_section* section, int depth);

static const char* const names[] = {"honey", "wax", "a", "b"};

// A shape is one kind with its keys, and where it is.
static void put_shape(writer* w, int depth) {
    const schema_key* kind = &schema_shape.keys[pick(w, SCHEMA_SHAPE_KINDS)];
    put(w, "{%s: ", kind->name);
    if (kind->type == SCHEMA_SHAPES) {
        put(w, "[{sphere: {radius: 0.3, centre: [0.5, 0.5, 0.5]}}, ");
        if (depth < DEPTH_MAX) {
            put_shape(w, depth + 2);
        } else {
            put(w, "{box: {min: [0, 0, 0], max: [0.5, 0.5, 0.5]}}");
        }
        put(w, "]");
    } else if (kind->of != NULL) {
        put_section(w, kind->of, depth);
    } else {
        put(w, "{}");
    }
    for (int i = SCHEMA_SHAPE_KINDS; i < schema_shape.key_count && depth < DEPTH_MAX; ++i) {
        if (pick(w, 6) == 0 && schema_shape.keys[i].type == SCHEMA_VEC3) {
            put(w, ", %s: ", schema_shape.keys[i].name);
            put_vector(w, &schema_shape.keys[i]);
        }
    }
    put(w, "}");
}

static void put_items(writer* w, const schema_key* key, int depth) {
    bool is_map = key->type == SCHEMA_MAP;
    int count = 1 + pick(w, 3);
    put(w, is_map ? "{" : "[");
    for (int i = 0; i < count; ++i) {
        put(w, "%s", i == 0 ? "" : ", ");
        if (is_map) {
            put(w, "%s: ", names[(i + pick(w, 2)) % 4]);
        }
        put_section(w, key->of, depth + 1);
    }
    put(w, is_map ? "}" : "]");
}

static void put_plain(writer* w, const schema_key* key) {
    switch (key->type) {
    case SCHEMA_BOOL:
        put(w, pick(w, 2) == 0 ? "true" : "false");
        break;
    case SCHEMA_COLOUR:
        pick(w, 2) == 0 ? put(w, "\"#%02x40c0\"", pick(w, 256)) : put_vector(w, key);
        break;
    case SCHEMA_VEC3:
        put_vector(w, key);
        break;
    case SCHEMA_ENUM:
        put_word(w, key);
        break;
    case SCHEMA_NAME:
    case SCHEMA_MATERIAL:
        put(w, "%s", names[pick(w, 4)]);
        break;
    case SCHEMA_RELEASE:
        put(w, "%s", pick(w, 2) == 0 ? "on" : "off");
        break;
    case SCHEMA_PRESET:
        put(w, "%s", pick(w, 2) == 0 ? "honey" : "lava");
        break;
    default:
        put_number(w, key);
        break;
    }
}

static void put_key(writer* w, const schema_key* key, int depth) {
    bool is_vector = key->type == SCHEMA_CURVE3 || key->type == SCHEMA_FIELD3;
    put(w, "%s: ", key->name);
    switch (key->type) {
    case SCHEMA_CURVE:
    case SCHEMA_CURVE3:
        put_curve(w, key, is_vector);
        break;
    case SCHEMA_FIELD:
    case SCHEMA_FIELD3:
        put_field(w, key, is_vector);
        break;
    case SCHEMA_SHAPE:
        put_shape(w, depth + 1);
        break;
    case SCHEMA_SHAPES:
        put(w, "[");
        put_shape(w, depth + 1);
        put(w, "]");
        break;
    case SCHEMA_SECTION:
        put_section(w, key->of, depth + 1);
        break;
    case SCHEMA_LIST:
    case SCHEMA_MAP:
        put_items(w, key, depth);
        break;
    default:
        put_plain(w, key);
        break;
    }
}

// Files would be looked for on the disk.
static bool is_drawn(writer* w, const schema_key* key, int depth) {
    bool is_file =
        key->type == SCHEMA_FILE || key->type == SCHEMA_MESH || key->type == SCHEMA_INCLUDE;
    bool is_needed = (key->flags & SCHEMA_REQUIRED) != 0;
    return !is_file && depth < DEPTH_MAX + 2 && (is_needed || pick(w, depth == 0 ? 4 : 3) == 1);
}

static void put_section(writer* w, const schema_section* section, int depth) {
    int count = 0;
    put(w, "{");
    for (int i = 0; i < section->key_count; ++i) {
        if (is_drawn(w, &section->keys[i], depth)) {
            put(w, "%s", count++ == 0 ? "" : ", ");
            put_key(w, &section->keys[i], depth);
        }
    }
    put(w, "}");
}

// What a scene cannot do without is there, most of the time.
static void put_scene(writer* w) {
    put(w, "{");
    bool has_domain = pick(w, 8) != 7;
    if (has_domain) {
        put(w, "domain: {size: [1, 1, %s], cell: 0.125}", pick(w, 2) == 0 ? "1" : "0");
    }
    bool is_first = !has_domain;
    for (int i = 0; i < schema_root.key_count; ++i) {
        const schema_key* key = &schema_root.keys[i];
        if (strcmp(key->name, "domain") == 0 && has_domain) {
            continue;
        }
        if (is_drawn(w, key, 0)) {
            put(w, "%s", is_first ? "" : ",\n");
            put_key(w, key, 0);
            is_first = false;
        }
    }
    put(w, "}\n");
}

// Checks ------------------------------------------------------------------------------------------

static void check_round_trip(treacle_context* ctx, const treacle_scene* scene) {
    const char* text = treacle_scene_text(scene);
    treacle_scene* again = NULL;
    fuzz_check(treacle_scene_parse(ctx, "again", text, strlen(text), 0, NULL, &again) ==
               TREACLE_OK);
    fuzz_check(treacle_scene_hash(again) == treacle_scene_hash(scene));
    treacle_scene_destroy(again);
}

static void check_use(treacle_context* ctx, const treacle_scene* scene) {
    treacle_estimate estimate;
    treacle_sim* sim = NULL;
    treacle_status status = treacle_scene_estimate(scene, &estimate);
    if (status != TREACLE_OK) {
        return;
    }
    fuzz_check(estimate.particles >= 0 && estimate.memory >= 0.0 && estimate.seconds >= 0.0);
    bool is_small =
        (double)estimate.cells[0] * estimate.cells[1] * estimate.cells[2] <= SMALL_CELLS;
    if (is_small && estimate.particles <= SMALL_PARTICLES) {
        status = treacle_sim_create(ctx, treacle_scene_sim(scene), &sim);
        fuzz_check((status == TREACLE_OK) == (sim != NULL));
        treacle_sim_destroy(sim);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    static writer w;
    w.choices = (fuzz_choices){data, size};
    w.length = 0;
    put_scene(&w);
    treacle_context* ctx = fuzz_context();
    treacle_scene* scene = NULL;
    treacle_status status = treacle_scene_parse(ctx, "drawn", w.text, w.length, 0, NULL, &scene);
    if (getenv("FUZZ_SHOW") != NULL) { // what the choices of an input have drawn
        fprintf(stderr, "%s%s", w.text,
                scene == NULL ? treacle_context_error(ctx) : treacle_scene_report(scene));
    }
    fuzz_check(scene != NULL && (status == TREACLE_OK || status == TREACLE_ERR_SCENE));
    if (status == TREACLE_OK) {
        check_round_trip(ctx, scene);
        check_use(ctx, scene);
    }
    treacle_scene_destroy(scene);
    fuzz_context_end(ctx);
    return 0;
}
