// PLY 1.0: text, and binary of both byte orders. Of the element `vertex` x, y and z are taken, of
// `face` the list vertex_indices (or vertex_index); other elements and properties are passed over.
#include <string.h>

#include "base/bytes.h"
#include "geometry/mesh_input.h"

enum { ELEMENTS_MAX = 16, PROPERTIES_MAX = 64 };

typedef enum ply_format { PLY_TEXT, PLY_LITTLE, PLY_BIG, PLY_FORMATS } ply_format;

typedef enum ply_type {
    PLY_INT8,
    PLY_UINT8,
    PLY_INT16,
    PLY_UINT16,
    PLY_INT32,
    PLY_UINT32,
    PLY_FLOAT32,
    PLY_FLOAT64,
    PLY_TYPES,
} ply_type;
static const size_t type_bytes[PLY_TYPES] = {1, 1, 2, 2, 4, 4, 4, 8};

typedef enum ply_role { PLY_X, PLY_Y, PLY_Z, PLY_INDICES, PLY_OTHER } ply_role;
typedef struct ply_property {
    ply_role role;
    ply_type type; // of the items of a list
    bool is_list;
    ply_type count_type; // of a list
} ply_property;

typedef enum ply_kind { PLY_VERTICES, PLY_FACES, PLY_UNKNOWN } ply_kind;
typedef struct ply_element {
    ply_kind kind;
    int64_t count, line; // rows; where the header says so
    int property_count;
    ply_property property[PROPERTIES_MAX];
} ply_element;

typedef struct ply_file {
    const mesh_input* in;
    mesh_text text; // the header and, of a text file, the body
    mesh_span row;  // what is left of the line
    byte_reader bytes;
    bool has_format;
    ply_format format;
    int element_count;
    ply_element element[ELEMENTS_MAX];
    int64_t vertex_count; // as the header says
} ply_file;

static mesh_place mesh_ply_place_of(const ply_file* f) {
    bool is_text = f->format == PLY_TEXT;
    return (mesh_place){.line = is_text ? f->text.line : 0, .byte = f->bytes.at};
}

// The header --------------------------------------------------------------------------------------

static treacle_status fail_header(const ply_file* f, const char* expected, mesh_span got) {
    return mesh_fail(f->in, (mesh_place){.line = f->text.line}, "expected %s, got '%.*s'", expected,
                     mesh_span_length(got), got.begin);
}

static bool find_type(mesh_span word, ply_type* out) {
    static const char* const names[2][PLY_TYPES] = {
        {"char", "uchar", "short", "ushort", "int", "uint", "float", "double"},
        {"int8", "uint8", "int16", "uint16", "int32", "uint32", "float32", "float64"},
    };
    for (int i = 0; i < 2 * PLY_TYPES; ++i) {
        if (mesh_span_is(word, names[i / PLY_TYPES][i % PLY_TYPES])) {
            *out = (ply_type)(i % PLY_TYPES);
            return true;
        }
    }
    return false;
}

static treacle_status read_type(ply_file* f, bool is_whole, ply_type* out) {
    mesh_span word;
    mesh_span_word(&f->row, &word);
    if (!find_type(word, out) || (is_whole && *out >= PLY_FLOAT32)) {
        return fail_header(
            f, is_whole ? "a type of whole numbers such as int" : "a type such as float", word);
    }
    return TREACLE_OK;
}

static ply_role role_of(const ply_element* e, mesh_span name, bool is_list) {
    static const char* const axes[3] = {"x", "y", "z"};
    for (int a = 0; a < 3 && e->kind == PLY_VERTICES && !is_list; ++a) {
        if (mesh_span_is(name, axes[a])) {
            return (ply_role)(PLY_X + a);
        }
    }
    bool is_indices = mesh_span_is(name, "vertex_indices") || mesh_span_is(name, "vertex_index");
    return e->kind == PLY_FACES && is_list && is_indices ? PLY_INDICES : PLY_OTHER;
}

static treacle_status read_property(ply_file* f) {
    mesh_span word, rest = f->row;
    ply_property p = {0};
    if (f->element_count == 0) {
        return mesh_fail(f->in, (mesh_place){.line = f->text.line},
                         "a property before the first element");
    }
    ply_element* e = &f->element[f->element_count - 1];
    if (e->property_count == PROPERTIES_MAX) {
        return mesh_fail(f->in, (mesh_place){.line = f->text.line},
                         "an element has more than %d properties", PROPERTIES_MAX);
    }
    p.is_list = mesh_span_word(&rest, &word) && mesh_span_is(word, "list");
    if (p.is_list) {
        f->row = rest;
        TREACLE_TRY(read_type(f, true, &p.count_type));
    }
    TREACLE_TRY(read_type(f, false, &p.type));
    if (!mesh_span_word(&f->row, &word)) {
        return fail_header(f, "the name of the property", word);
    }
    p.role = role_of(e, word, p.is_list);
    if (p.role == PLY_INDICES && p.type >= PLY_FLOAT32) {
        return mesh_fail(f->in, (mesh_place){.line = f->text.line},
                         "the indices of faces must be whole numbers");
    }
    for (int i = 0; i < e->property_count && p.role != PLY_OTHER; ++i) {
        if (e->property[i].role == p.role) {
            return fail_header(f, "each property once", word);
        }
    }
    e->property[e->property_count] = p;
    e->property_count += 1;
    return TREACLE_OK;
}

static treacle_status read_element(ply_file* f) {
    mesh_span name, count;
    if (f->element_count == ELEMENTS_MAX) {
        return mesh_fail(f->in, (mesh_place){.line = f->text.line}, "more than %d elements",
                         ELEMENTS_MAX);
    }
    ply_element* e = &f->element[f->element_count];
    *e = (ply_element){.line = f->text.line};
    f->element_count += 1;
    mesh_span_word(&f->row, &name);
    mesh_span_word(&f->row, &count);
    if (!mesh_span_int(count, &e->count) || e->count < 0) {
        return fail_header(f, "a name and a count of rows after 'element'", count);
    }
    e->kind = mesh_span_is(name, "vertex") ? PLY_VERTICES
              : mesh_span_is(name, "face") ? PLY_FACES
                                           : PLY_UNKNOWN;
    for (int i = 0; i + 1 < f->element_count && e->kind != PLY_UNKNOWN; ++i) {
        if (f->element[i].kind == e->kind) {
            return fail_header(f, "each element once", name);
        }
    }
    f->vertex_count = e->kind == PLY_VERTICES ? e->count : f->vertex_count;
    return TREACLE_OK;
}

static treacle_status read_format(ply_file* f) {
    static const char* const names[PLY_FORMATS] = {"ascii", "binary_little_endian",
                                                   "binary_big_endian"};
    mesh_span name, version;
    mesh_span_word(&f->row, &name);
    mesh_span_word(&f->row, &version);
    for (int i = 0; i < PLY_FORMATS; ++i) {
        if (mesh_span_is(name, names[i]) && mesh_span_is(version, "1.0")) {
            f->format = (ply_format)i;
            f->has_format = true;
            return TREACLE_OK;
        }
    }
    return fail_header(f, "ascii, binary_little_endian or binary_big_endian, and 1.0", name);
}

static treacle_status read_header_line(ply_file* f, bool* is_end) {
    mesh_span word;
    if (!mesh_span_word(&f->row, &word) || mesh_span_is(word, "comment") ||
        mesh_span_is(word, "obj_info")) {
        return TREACLE_OK;
    }
    *is_end = mesh_span_is(word, "end_header");
    if (mesh_span_is(word, "format")) {
        return read_format(f);
    }
    if (mesh_span_is(word, "element")) {
        return read_element(f);
    }
    if (mesh_span_is(word, "property")) {
        return read_property(f);
    }
    return *is_end ? TREACLE_OK
                   : fail_header(f, "format, element, property, comment or end_header", word);
}

static treacle_status read_header(ply_file* f) {
    mesh_span word;
    bool is_end = false;
    if (!mesh_text_line(&f->text, &f->row) || !mesh_span_word(&f->row, &word) ||
        !mesh_span_is(word, "ply")) {
        return mesh_fail(f->in, (mesh_place){.line = 1},
                         "this is not a PLY file: it does not begin with 'ply'");
    }
    while (!is_end) {
        if (!mesh_text_line(&f->text, &f->row)) {
            return mesh_fail(f->in, (mesh_place){.line = f->text.line},
                             "the file is cut off: there is no 'end_header'");
        }
        TREACLE_TRY(read_header_line(f, &is_end));
    }
    if (!f->has_format) {
        return mesh_fail(f->in, (mesh_place){.line = f->text.line},
                         "the header has no line such as 'format ascii 1.0'");
    }
    bytes_reader_init(&f->bytes, f->in->data, f->in->size);
    bytes_seek(&f->bytes, (size_t)(f->text.at - (const char*)f->in->data));
    return TREACLE_OK;
}

// Checks of the header ----------------------------------------------------------------------------

// The fewest bytes that a row can have.
static int64_t row_bytes(const ply_file* f, const ply_element* e) {
    int64_t bytes = 0;
    for (int i = 0; i < e->property_count; ++i) {
        const ply_property* p = &e->property[i];
        bytes +=
            f->format == PLY_TEXT ? 2 : (int64_t)type_bytes[p->is_list ? p->count_type : p->type];
    }
    return bytes;
}

static treacle_status check_element(const ply_file* f, const ply_element* e) {
    unsigned roles = 0;
    for (int i = 0; i < e->property_count; ++i) {
        roles |= 1u << e->property[i].role;
    }
    mesh_place place = {.line = e->line};
    const unsigned position = 1u << PLY_X | 1u << PLY_Y | 1u << PLY_Z;
    if (e->kind == PLY_VERTICES && (roles & position) != position) {
        return mesh_fail(f->in, place, "vertices need the properties x, y and z");
    }
    if (e->kind == PLY_FACES && (roles & 1u << PLY_INDICES) == 0) {
        return mesh_fail(f->in, place, "faces need the list vertex_indices");
    }
    int64_t bytes = row_bytes(f, e), left = (int64_t)bytes_remaining(&f->bytes);
    if (bytes > 0 && e->count > (left + 1) / bytes) {
        return mesh_fail(f->in, place,
                         "there should be %lld rows of at least %lld bytes, but only %lld bytes "
                         "follow the header: the file is cut off",
                         (long long)e->count, (long long)bytes, (long long)left);
    }
    return TREACLE_OK;
}

// Rows --------------------------------------------------------------------------------------------

static uint64_t read_bits(ply_file* f, size_t size) {
    const uint8_t* span = bytes_read_span(&f->bytes, size);
    uint64_t bits = 0;
    for (size_t i = 0; span != NULL && i < size; ++i) {
        bits |= (uint64_t)span[i] << 8 * (f->format == PLY_BIG ? size - 1 - i : i);
    }
    return bits;
}

// Every type of PLY fits into a double.
static double read_binary(ply_file* f, ply_type type) {
    uint64_t bits = read_bits(f, type_bytes[type]);
    uint32_t low = (uint32_t)bits;
    float single;
    double value;
    switch (type) {
    case PLY_INT8:
    case PLY_INT16:
    case PLY_INT32: {
        double modulus = (double)(1ull << 8 * type_bytes[type]);
        return (double)bits >= 0.5 * modulus ? (double)bits - modulus : (double)bits;
    }
    case PLY_FLOAT32:
        memcpy(&single, &low, sizeof(single));
        return (double)single;
    case PLY_FLOAT64:
        memcpy(&value, &bits, sizeof(value));
        return value;
    default:
        return (double)bits;
    }
}

static treacle_status read_word(ply_file* f, ply_type type, double* out) {
    mesh_span word;
    int64_t whole = 0;
    if (!mesh_span_word(&f->row, &word)) {
        return mesh_fail(f->in, mesh_ply_place_of(f), "the line is too short: a number is missing");
    }
    bool is_right = mesh_span_real(word, out);
    if (is_right && type < PLY_FLOAT32) {
        is_right = mesh_span_int(word, &whole);
    }
    return is_right
               ? TREACLE_OK
               : mesh_fail(f->in, mesh_ply_place_of(f), "expected a%s number, got '%.*s'",
                           type < PLY_FLOAT32 ? " whole" : "", mesh_span_length(word), word.begin);
}

static treacle_status read_scalar(ply_file* f, ply_type type, double* out) {
    if (f->format == PLY_TEXT) {
        return read_word(f, type, out);
    }
    if (bytes_remaining(&f->bytes) < type_bytes[type]) {
        return mesh_fail(f->in, mesh_ply_place_of(f), "the file is cut off");
    }
    *out = read_binary(f, type);
    return TREACLE_OK;
}

static treacle_status read_index(ply_file* f, ply_type type, int32_t* out) {
    double index = 0.0;
    mesh_place place = mesh_ply_place_of(f);
    TREACLE_TRY(read_scalar(f, type, &index));
    if (!(index >= 0.0 && index < (double)f->vertex_count && index < (double)INT32_MAX)) {
        return mesh_fail(f->in, place, "a face names the vertex %.0f, but there are %lld, from 0",
                         index, (long long)f->vertex_count);
    }
    *out = (int32_t)index;
    return TREACLE_OK;
}

static treacle_status read_list(ply_file* f, const ply_property* p, mesh_builder* out) {
    double count = 0.0, ignored = 0.0;
    mesh_fan fan = {0};
    mesh_place place = mesh_ply_place_of(f);
    TREACLE_TRY(read_scalar(f, p->count_type, &count));
    if (!(count >= (p->role == PLY_INDICES ? 3.0 : 0.0))) {
        return mesh_fail(f->in, place, "%s has %.0f items; at least %d are expected",
                         p->role == PLY_INDICES ? "a face" : "a list", count,
                         p->role == PLY_INDICES ? 3 : 0);
    }
    if (p->role == PLY_INDICES && count > MESH_CORNERS_MAX) {
        return mesh_fail(f->in, place,
                         "a face has %.0f corners; cut it into triangles, at most %d "
                         "are expected",
                         count, MESH_CORNERS_MAX);
    }
    for (double i = 0.0; i < count; i += 1.0) {
        int32_t index = 0;
        if (p->role == PLY_INDICES) {
            TREACLE_TRY(read_index(f, p->type, &index));
            TREACLE_TRY(mesh_fan_add(&fan, out, index));
        } else {
            TREACLE_TRY(read_scalar(f, p->type, &ignored));
        }
    }
    return TREACLE_OK;
}

static treacle_status read_row(ply_file* f, const ply_element* e, mesh_builder* out) {
    double value[PLY_OTHER + 1] = {0};
    mesh_place place = mesh_ply_place_of(f);
    for (int i = 0; i < e->property_count; ++i) {
        const ply_property* p = &e->property[i];
        TREACLE_TRY(p->is_list ? read_list(f, p, out) : read_scalar(f, p->type, &value[p->role]));
    }
    if (e->kind == PLY_VERTICES) {
        vec3 x = vec3_from(value);
        TREACLE_TRY(mesh_check_vertex(f->in, place, x));
        return mesh_builder_add_vertex(out, x);
    }
    return TREACLE_OK;
}

static treacle_status next_line(ply_file* f, int64_t row, const ply_element* e) {
    mesh_span rest, word;
    bool is_blank = true;
    while (f->format == PLY_TEXT && is_blank) {
        if (!mesh_text_line(&f->text, &f->row)) {
            return mesh_fail(f->in, mesh_ply_place_of(f),
                             "the file is cut off: row %lld of %lld is missing", (long long)row + 1,
                             (long long)e->count);
        }
        rest = f->row;
        is_blank = !mesh_span_word(&rest, &word);
    }
    return TREACLE_OK;
}

static treacle_status read_rows(ply_file* f, const ply_element* e, mesh_builder* out) {
    if (e->kind == PLY_VERTICES) {
        TREACLE_TRY(mesh_builder_reserve(out, (size_t)e->count));
    }
    for (int64_t i = 0; i < e->count && e->property_count > 0; ++i) {
        TREACLE_TRY(next_line(f, i, e));
        TREACLE_TRY(read_row(f, e, out));
    }
    return TREACLE_OK;
}

treacle_status mesh_ply_read(const mesh_input* in, mesh_builder* out) {
    ply_file f = {.in = in};
    mesh_text_init(&f.text, in);
    TREACLE_TRY(read_header(&f));
    for (int i = 0; i < f.element_count; ++i) {
        TREACLE_TRY(check_element(&f, &f.element[i]));
    }
    for (int i = 0; i < f.element_count; ++i) {
        TREACLE_TRY(read_rows(&f, &f.element[i], out));
    }
    return TREACLE_OK;
}
