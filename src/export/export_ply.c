// Stanford PLY, binary, with every attribute.
#include <string.h>

#include "export/export_geometry.h"
#include "export/export_stream.h"
#include "math/elementary.h"

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
    if (g->value[EXPORT_COLOUR] != NULL) { // what Blender, MeshLab and VTK look for
        export_text(s, "property uchar red\nproperty uchar green\nproperty uchar blue\n");
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

// A linear fraction of light as sRGB (IEC 61966-2-1) has it, in a byte; 0 for what is no number.
static uint8_t srgb_byte(float linear) {
    double x = !(linear > 0.0F) ? 0.0 : linear > 1.0F ? 1.0 : (double)linear;
    double coded = x <= 0.0031308 ? 12.92 * x : 1.055 * elementary_pow(x, 1.0 / 2.4) - 0.055;
    return (uint8_t)(255.0 * coded + 0.5);
}

static void put_point(export_stream* s, const export_geometry* g, int64_t i) {
    for (int a = 0; a < EXPORT_ATTRIBUTE_COUNT; ++a) {
        int components = export_attributes[a].components;
        if (g->value[a] != NULL) {
            export_f32(s, g->value[a] + components * i, components);
        }
    }
    const float* colour = g->value[EXPORT_COLOUR];
    for (int c = 0; colour != NULL && c < 3; ++c) {
        bytes_write_u8(&s->bytes, srgb_byte(colour[3 * i + c]));
    }
    if (g->material != NULL) {
        bytes_write_u8(&s->bytes, (uint8_t)g->material[i]);
    }
    if (g->id != NULL) {
        bytes_write_u64(&s->bytes, (uint64_t)g->id[i]);
    }
}

treacle_status export_write_ply(const export_geometry* g, const char* path) {
    TREACLE_ASSERT(g->point_count == 0 || g->value[EXPORT_POSITION] != NULL);
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
