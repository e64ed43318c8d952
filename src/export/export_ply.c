// Stanford PLY, binary, with every attribute.
#include <string.h>

#include "export/export_geometry.h"
#include "export/export_stream.h"

// The names of an attribute's components, one property each.
static void put_properties(export_stream* s, const char* names) {
    for (const char* at = names; at != NULL;) {
        const char* end = strchr(at, ' ');
        int length = end == NULL ? (int)strlen(at) : (int)(end - at);
        export_printf(s, "property float %.*s\n", length, at);
        at = end == NULL ? NULL : end + 1;
    }
}

static void put_head(export_stream* s, const export_geometry* g) {
    export_text(s, "ply\nformat binary_little_endian 1.0\n");
    export_printf(s, "element vertex %lld\n", (long long)g->point_count);
    for (int a = 0; a < EXPORT_ATTRIBUTE_COUNT; ++a) {
        if (g->value[a] != NULL) {
            put_properties(s, export_attributes[a].ply);
        }
    }
    if (g->material != NULL) {
        export_text(s, "property uchar material\n");
    }
    if (g->id != NULL) {
        export_text(s, "property uint id_low\nproperty uint id_high\n");
    }
    if (g->triangles != NULL) {
        export_printf(s, "element face %lld\nproperty list uchar int vertex_indices\n",
                      (long long)g->triangle_count);
    }
    export_text(s, "end_header\n");
}

static void put_point(export_stream* s, const export_geometry* g, int64_t i) {
    for (int a = 0; a < EXPORT_ATTRIBUTE_COUNT; ++a) {
        int components = export_attributes[a].components;
        if (g->value[a] != NULL) {
            export_f32(s, g->value[a] + components * i, components);
        }
    }
    if (g->material != NULL) {
        bytes_write_u8(&s->bytes, (uint8_t)g->material[i]);
    }
    if (g->id != NULL) {
        bytes_write_u64(&s->bytes, (uint64_t)g->id[i]);
    }
}

treacle_status export_write_ply(const export_geometry* g, const char* path) {
    export_stream s;
    TREACLE_TRY(export_stream_open(g->ctx, path, &s));
    put_head(&s, g);
    for (int64_t i = 0; i < g->point_count && s.status == TREACLE_OK; ++i) {
        put_point(&s, g, i);
        export_flush(&s);
    }
    for (int64_t t = 0; t < g->triangle_count && s.status == TREACLE_OK; ++t) {
        bytes_write_u8(&s.bytes, 3);
        export_i32(&s, g->triangles + 3 * t, 3);
    }
    return export_stream_close(&s);
}
