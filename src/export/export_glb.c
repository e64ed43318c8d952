// Binary glTF 2.0 of one frame: a JSON chunk that describes, a binary chunk that holds.
#include <string.h>

#include "base/text.h"
#include "export/export_geometry.h"
#include "export/export_stream.h"

enum {
    GLB_MAGIC = 0x46546C67,
    GLB_VERSION = 2,
    GLB_JSON = 0x4E4F534A,
    GLB_BIN = 0x004E4942,
    GLB_HEAD_BYTES = 12,
    GLB_CHUNK_HEAD_BYTES = 8,
    TYPE_FLOAT = 5126,
    TYPE_UINT = 5125,
    TARGET_VERTICES = 34962,
    TARGET_INDICES = 34963,
    MODE_POINTS = 0,
    MODE_TRIANGLES = 4,
};

typedef struct glb_parts {
    text views, accessors, attributes;
    uint64_t bytes; // of the binary chunk so far
    int count;      // of views and of accessors
} glb_parts;

static void add_view(glb_parts* p, uint64_t bytes, int target) {
    text_printf(&p->views, "%s{\"buffer\":0,\"byteOffset\":%llu,\"byteLength\":%llu,\"target\":%d}",
                p->count == 0 ? "" : ",", (unsigned long long)p->bytes, (unsigned long long)bytes,
                target);
    p->bytes += bytes;
}

static void add_attribute(glb_parts* p, const export_geometry* g, int a) {
    const export_attribute_info* info = &export_attributes[a];
    text_printf(&p->attributes, "%s\"%s\":%d", p->count == 0 ? "" : ",", info->glb, p->count);
    text_printf(&p->accessors,
                "%s{\"bufferView\":%d,\"componentType\":%d,\"count\":%lld,\"type\":\"%s\"",
                p->count == 0 ? "" : ",", p->count, TYPE_FLOAT, (long long)g->point_count,
                info->components == 1 ? "SCALAR" : "VEC3");
    if (a == EXPORT_POSITION) {
        text_printf(&p->accessors, ",\"min\":[%.9g,%.9g,%.9g],\"max\":[%.9g,%.9g,%.9g]",
                    (double)g->low[0], (double)g->low[1], (double)g->low[2], (double)g->high[0],
                    (double)g->high[1], (double)g->high[2]);
    }
    text_append(&p->accessors, "}");
    add_view(p, (uint64_t)g->point_count * (uint64_t)info->components * sizeof(float),
             TARGET_VERTICES);
    p->count += 1;
}

static void describe(const export_geometry* g, glb_parts* p) {
    for (int a = 0; a < EXPORT_ATTRIBUTE_COUNT; ++a) {
        if (g->value[a] != NULL) {
            add_attribute(p, g, a);
        }
    }
    if (g->triangles != NULL) {
        text_printf(&p->accessors,
                    ",{\"bufferView\":%d,\"componentType\":%d,\"count\":%lld,\"type\":\"SCALAR\"}",
                    p->count, TYPE_UINT, 3 * (long long)g->triangle_count);
        add_view(p, (uint64_t)g->triangle_count * 3 * sizeof(int32_t), TARGET_INDICES);
    }
}

static void compose(const export_geometry* g, const glb_parts* p, text* out) {
    text_printf(out,
                "{\"asset\":{\"version\":\"2.0\",\"generator\":\"Treacle %s\"},"
                "\"scene\":0,\"scenes\":[{\"nodes\":%s}]",
                treacle_version(), g->point_count > 0 ? "[0]" : "[]");
    if (g->point_count == 0) { // a mesh must not be empty; a scene may
        text_append(out, "}");
        return;
    }
    text_printf(out,
                ",\"nodes\":[{\"name\":\"liquid\",\"mesh\":0}],\"meshes\":[{\"name\":\"liquid\","
                "\"primitives\":[{\"mode\":%d,\"attributes\":{%s}",
                g->triangles == NULL ? MODE_POINTS : MODE_TRIANGLES, p->attributes.at);
    if (g->triangles != NULL) {
        text_printf(out, ",\"indices\":%d", p->count);
    }
    // White, so that COLOR_0 is the colour; smooth as liquid is, and no metal.
    text_append(out, ",\"material\":0}]}],\"materials\":[{\"name\":\"liquid\","
                     "\"pbrMetallicRoughness\":{\"baseColorFactor\":[1,1,1,1],"
                     "\"metallicFactor\":0,\"roughnessFactor\":0.2}}]");
    text_printf(out,
                ",\"accessors\":[%s],\"bufferViews\":[%s],\"buffers\":[{\"byteLength\":%llu}]}",
                p->accessors.at, p->views.at, (unsigned long long)p->bytes);
    while (out->length % 4 != 0 && text_status(out) == TREACLE_OK) {
        text_append_char(out, ' ');
    }
}

static void put_glb(export_stream* s, const export_geometry* g, const glb_parts* p,
                    const text* json) {
    bool has_data = g->point_count > 0;
    uint64_t total = GLB_HEAD_BYTES + GLB_CHUNK_HEAD_BYTES + json->length +
                     (has_data ? GLB_CHUNK_HEAD_BYTES + p->bytes : 0);
    bytes_write_u32(&s->bytes, GLB_MAGIC);
    bytes_write_u32(&s->bytes, GLB_VERSION);
    bytes_write_u32(&s->bytes, (uint32_t)total);
    bytes_write_u32(&s->bytes, (uint32_t)json->length);
    bytes_write_u32(&s->bytes, GLB_JSON);
    export_bytes(s, json->at, json->length);
    if (!has_data) {
        return;
    }
    bytes_write_u32(&s->bytes, (uint32_t)p->bytes);
    bytes_write_u32(&s->bytes, GLB_BIN);
    for (int a = 0; a < EXPORT_ATTRIBUTE_COUNT; ++a) {
        if (g->value[a] != NULL) {
            export_f32(s, g->value[a], g->point_count * export_attributes[a].components);
        }
    }
    export_i32(s, g->triangles, 3 * g->triangle_count);
}

static treacle_status write_parts(const export_geometry* g, const char* path, glb_parts* p,
                                  text* json) {
    describe(g, p);
    TREACLE_TRY(text_status(&p->views));
    TREACLE_TRY(text_status(&p->accessors));
    TREACLE_TRY(text_status(&p->attributes));
    compose(g, p, json);
    TREACLE_TRY(text_status(json));
    if (p->bytes + json->length > (uint64_t)UINT32_MAX - 64) {
        return check_fail(g->ctx, TREACLE_ERR_LIMIT,
                          "%s: a .glb file holds at most 4 GB; choose another format", path);
    }
    export_stream s;
    TREACLE_TRY(export_stream_open(g->ctx, path, &s));
    put_glb(&s, g, p, json);
    return export_stream_close(&s);
}

treacle_status export_write_glb(const export_geometry* g, const char* path) {
    TREACLE_ASSERT(g->point_count == 0 || g->value[EXPORT_POSITION] != NULL);
    glb_parts p = {0};
    text json;
    text_init(&p.views, g->ctx);
    text_init(&p.accessors, g->ctx);
    text_init(&p.attributes, g->ctx);
    text_init(&json, g->ctx);
    treacle_status status = write_parts(g, path, &p, &json);
    text_finish(&p.views);
    text_finish(&p.accessors);
    text_finish(&p.attributes);
    text_finish(&json);
    return status;
}
