// Houdini geometry: the JSON form of 18.5 and later in its binary encoding (.bgeo).
//
// A binary JSON value is a byte that tells its kind, then its data, little endian. A file begins
// with the magic. Arrays of numbers of one kind are "uniform": kind, length, bare numbers.
#include <string.h>

#include "export/export_geometry.h"
#include "export/export_stream.h"

enum {
    BJSON_MAGIC = 0x7f,
    BJSON_MAP_BEGIN = 0x7b,
    BJSON_MAP_END = 0x7d,
    BJSON_ARRAY_BEGIN = 0x5b,
    BJSON_ARRAY_END = 0x5d,
    BJSON_INT32 = 0x13,
    BJSON_INT64 = 0x14,
    BJSON_REAL32 = 0x19,
    BJSON_STRING = 0x27,
    BJSON_FALSE = 0x30,
    BJSON_UNIFORM = 0x40,
    LENGTH_SHORT = 0xf1, // below it a length is one byte; these tell how many bytes follow
    LENGTH_U16 = 0xf2,
    LENGTH_U32 = 0xf4,
    LENGTH_U64 = 0xf8,
    PAGE_SIZE = 1024,
};

static void put_kind(export_stream* s, int kind) {
    bytes_write_u8(&s->bytes, (uint8_t)kind);
}

static void put_length(export_stream* s, uint64_t length) {
    if (length < LENGTH_SHORT) {
        put_kind(s, (int)length);
    } else if (length <= UINT16_MAX) {
        put_kind(s, LENGTH_U16);
        bytes_write_u16(&s->bytes, (uint16_t)length);
    } else if (length <= UINT32_MAX) {
        put_kind(s, LENGTH_U32);
        bytes_write_u32(&s->bytes, (uint32_t)length);
    } else {
        put_kind(s, LENGTH_U64);
        bytes_write_u64(&s->bytes, length);
    }
}

static void put_string(export_stream* s, const char* chars) {
    put_kind(s, BJSON_STRING);
    put_length(s, strlen(chars));
    export_text(s, chars);
}

static void put_int(export_stream* s, int64_t value) {
    put_kind(s, BJSON_INT64);
    bytes_write_i64(&s->bytes, value);
}

static void put_key_int(export_stream* s, const char* key, int64_t value) {
    put_string(s, key);
    put_int(s, value);
}

static void put_key_string(export_stream* s, const char* key, const char* value) {
    put_string(s, key);
    put_string(s, value);
}

static void put_key_begin(export_stream* s, const char* key) {
    put_string(s, key);
    put_kind(s, BJSON_ARRAY_BEGIN);
}

static void put_end(export_stream* s) {
    put_kind(s, BJSON_ARRAY_END);
}

static void put_uniform(export_stream* s, int kind, int64_t length) {
    put_kind(s, BJSON_UNIFORM);
    put_kind(s, kind);
    put_length(s, (uint64_t)length);
}

// One numeric attribute of points.
typedef struct bgeo_attribute {
    const char* name;
    const char* storage; // fpreal32, int32, int64
    const char* meaning; // what Houdini turns with the axes: point, vector, normal, color; NULL
    int components;
    int kind;
    const void* data;
} bgeo_attribute;

static void put_data(export_stream* s, const bgeo_attribute* a, int64_t count) {
    int64_t numbers = count * a->components;
    put_uniform(s, a->kind, numbers);
    if (a->kind == BJSON_REAL32) {
        export_f32(s, a->data, numbers);
    } else if (a->kind == BJSON_INT32) {
        export_i32(s, a->data, numbers);
    } else {
        for (int64_t i = 0; i < numbers; ++i) {
            export_u64(s, (uint64_t)((const int64_t*)a->data)[i]);
            export_flush(s);
        }
    }
}

static void put_definition(export_stream* s, const bgeo_attribute* a) {
    put_kind(s, BJSON_ARRAY_BEGIN);
    put_key_string(s, "scope", "public");
    put_key_string(s, "type", "numeric");
    put_key_string(s, "name", a->name);
    put_string(s, "options");
    put_kind(s, BJSON_MAP_BEGIN);
    if (a->meaning != NULL) {
        put_string(s, "type");
        put_kind(s, BJSON_MAP_BEGIN);
        put_key_string(s, "type", "string");
        put_key_string(s, "value", a->meaning);
        put_kind(s, BJSON_MAP_END);
    }
    put_kind(s, BJSON_MAP_END);
    put_end(s);
}

// Pages that hold the components of a point together are, one after the other, simply all points.
static void put_attribute(export_stream* s, const bgeo_attribute* a, int64_t count) {
    const int32_t packing = a->components;
    put_kind(s, BJSON_ARRAY_BEGIN);
    put_definition(s, a);
    put_kind(s, BJSON_ARRAY_BEGIN);
    put_key_int(s, "size", a->components);
    put_key_string(s, "storage", a->storage);
    put_key_begin(s, "defaults");
    put_key_int(s, "size", 1);
    put_key_string(s, "storage", a->storage);
    put_string(s, "values");
    put_uniform(s, BJSON_INT32, 1);
    export_i32(s, &(int32_t){0}, 1);
    put_end(s);
    put_key_begin(s, "values");
    put_key_int(s, "size", a->components);
    put_key_string(s, "storage", a->storage);
    put_key_int(s, "pagesize", PAGE_SIZE);
    put_string(s, "packing");
    put_uniform(s, BJSON_INT32, 1);
    export_i32(s, &packing, 1);
    put_string(s, "rawpagedata");
    put_data(s, a, count);
    put_end(s);
    put_end(s);
    put_end(s);
}

static const char* meaning_of(int attribute) {
    switch (attribute) {
    case EXPORT_POSITION:
        return "point";
    case EXPORT_REST:
        return "point";
    case EXPORT_NORMAL:
        return "normal";
    case EXPORT_VELOCITY:
        return "vector";
    case EXPORT_COLOUR:
        return "color";
    default:
        return NULL;
    }
}

static void put_attributes(export_stream* s, const export_geometry* g) {
    put_key_begin(s, "attributes");
    put_key_begin(s, "pointattributes");
    for (int a = 0; a < EXPORT_ATTRIBUTE_COUNT; ++a) {
        const export_attribute_info* info = &export_attributes[a];
        bgeo_attribute one = {info->bgeo,       "fpreal32",   meaning_of(a),
                              info->components, BJSON_REAL32, g->value[a]};
        if (g->value[a] != NULL) {
            put_attribute(s, &one, g->point_count);
        }
    }
    bgeo_attribute material = {"material", "int32", NULL, 1, BJSON_INT32, g->material};
    if (g->material != NULL) {
        put_attribute(s, &material, g->point_count);
    }
    bgeo_attribute id = {"id", "int64", NULL, 1, BJSON_INT64, g->id};
    if (g->id != NULL) {
        put_attribute(s, &id, g->point_count);
    }
    put_end(s);
    put_end(s);
}

// Houdini's polygons run clockwise seen from outside.
static void put_vertices(export_stream* s, const export_geometry* g) {
    put_key_begin(s, "topology");
    put_key_begin(s, "pointref");
    put_string(s, "indices");
    put_uniform(s, BJSON_INT32, 3 * g->triangle_count);
    for (int64_t t = 0; t < g->triangle_count; ++t) {
        const int32_t* v = g->triangles + 3 * t;
        const int32_t turned[3] = {v[0], v[2], v[1]};
        export_i32(s, turned, 3);
    }
    put_end(s);
    put_end(s);
}

// One run of closed triangles.
static void put_primitives(export_stream* s, const export_geometry* g) {
    put_key_begin(s, "primitives");
    if (g->triangle_count > 0) {
        const int32_t run[2] = {3, (int32_t)g->triangle_count};
        put_kind(s, BJSON_ARRAY_BEGIN);
        put_kind(s, BJSON_ARRAY_BEGIN);
        put_key_string(s, "type", "Polygon_run");
        put_end(s);
        put_kind(s, BJSON_ARRAY_BEGIN);
        put_key_int(s, "startvertex", 0);
        put_key_int(s, "nprimitives", g->triangle_count);
        put_string(s, "nvertices_rle");
        put_uniform(s, BJSON_INT32, 2);
        export_i32(s, run, 2);
        put_end(s);
        put_end(s);
    }
    put_end(s);
}

treacle_status export_write_bgeo(const export_geometry* g, const char* path) {
    TREACLE_ASSERT(g->point_count == 0 || g->value[EXPORT_POSITION] != NULL);
    export_stream s;
    TREACLE_TRY(export_stream_open(g->ctx, path, &s));
    put_kind(&s, BJSON_MAGIC);
    export_text(&s, "NSJb");
    put_kind(&s, BJSON_ARRAY_BEGIN);
    put_key_string(&s, "fileversion", "18.5.351");
    put_string(&s, "hasindex");
    put_kind(&s, BJSON_FALSE);
    put_key_int(&s, "pointcount", g->point_count);
    put_key_int(&s, "vertexcount", 3 * g->triangle_count);
    put_key_int(&s, "primitivecount", g->triangle_count);
    put_string(&s, "info");
    put_kind(&s, BJSON_MAP_BEGIN);
    put_key_string(&s, "software", "Treacle");
    put_kind(&s, BJSON_MAP_END);
    put_vertices(&s, g);
    put_attributes(&s, g);
    put_primitives(&s, g);
    put_end(&s);
    return export_stream_close(&s);
}
