// Wavefront OBJ: positions, colours behind them as many programs read them, normals, faces or
// points.
#include "export/export_geometry.h"
#include "export/export_stream.h"

static void put_point(export_stream* s, const export_geometry* g, int64_t i) {
    const float* x = g->value[EXPORT_POSITION] + 3 * i;
    export_printf(s, "v %.9g %.9g %.9g", (double)x[0], (double)x[1], (double)x[2]);
    if (g->value[EXPORT_COLOUR] != NULL) {
        const float* c = g->value[EXPORT_COLOUR] + 3 * i;
        export_printf(s, " %.6g %.6g %.6g", (double)c[0], (double)c[1], (double)c[2]);
    }
    export_text(s, "\n");
    if (g->value[EXPORT_NORMAL] != NULL) {
        const float* n = g->value[EXPORT_NORMAL] + 3 * i;
        export_printf(s, "vn %.6g %.6g %.6g\n", (double)n[0], (double)n[1], (double)n[2]);
    }
}

treacle_status export_write_obj(const export_geometry* g, const char* path) {
    TREACLE_ASSERT(g->point_count == 0 || g->value[EXPORT_POSITION] != NULL);
    export_stream s;
    TREACLE_TRY(export_stream_open(g->ctx, path, &s));
    for (int64_t i = 0; i < g->point_count && s.status == TREACLE_OK; ++i) {
        put_point(&s, g, i);
    }
    for (int64_t t = 0; t < g->triangle_count && s.status == TREACLE_OK; ++t) {
        int a = g->triangles[3 * t] + 1, b = g->triangles[3 * t + 1] + 1,
            c = g->triangles[3 * t + 2] + 1;
        export_printf(&s, "f %d//%d %d//%d %d//%d\n", a, a, b, b, c, c);
    }
    for (int64_t i = 0; i < g->point_count && g->triangles == NULL; ++i) {
        export_printf(&s, "p %lld\n", (long long)i + 1);
    }
    return export_stream_close(&s);
}
