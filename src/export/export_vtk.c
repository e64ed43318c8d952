#include "export/export_vtk.h"

#include "export/export_geometry.h"

void vtk_begin(vtk_writer* w, const char* kind) {
    export_printf(w->stream,
                  "<?xml version=\"1.0\"?>\n<VTKFile type=\"%s\" version=\"1.0\" "
                  "byte_order=\"LittleEndian\" header_type=\"UInt64\">\n<%s",
                  kind, kind);
}

void vtk_put_array(vtk_writer* w, const char* type, const char* name, int components,
                   uint64_t bytes) {
    TREACLE_ASSERT(components > 0 && type != NULL);
    export_printf(w->stream, "<DataArray type=\"%s\" ", type);
    if (name != NULL) {
        export_printf(w->stream, "Name=\"%s\" ", name);
    }
    export_printf(w->stream, "NumberOfComponents=\"%d\" format=\"appended\" offset=\"%llu\"/>\n",
                  components, (unsigned long long)w->offset);
    w->offset += sizeof(uint64_t) + bytes;
}

void vtk_begin_data(vtk_writer* w, const char* kind) {
    export_printf(w->stream, "</Piece>\n</%s>\n<AppendedData encoding=\"raw\">\n_", kind);
}

void vtk_end(vtk_writer* w) {
    export_text(w->stream, "\n</AppendedData>\n</VTKFile>\n");
}

// Surfaces and particles --------------------------------------------------------------------------

static uint64_t float_bytes(const export_geometry* g, int a) {
    return (uint64_t)g->point_count * (uint64_t)export_attributes[a].components * sizeof(float);
}

// Cells: triangles, or one vertex a particle.
typedef struct poly_cells {
    const char* tag;
    int64_t count;
    int corners;
} poly_cells;

static poly_cells cells_of(const export_geometry* g) {
    return g->triangles == NULL ? (poly_cells){"Verts", g->point_count, 1}
                                : (poly_cells){"Polys", g->triangle_count, 3};
}

static void put_head(vtk_writer* w, const export_geometry* g) {
    poly_cells cells = cells_of(g);
    vtk_begin(w, "PolyData");
    export_printf(w->stream, ">\n<Piece NumberOfPoints=\"%lld\" NumberOf%s=\"%lld\">\n<Points>\n",
                  (long long)g->point_count, cells.tag, (long long)cells.count);
    vtk_put_array(w, "Float32", "Points", 3, float_bytes(g, EXPORT_POSITION));
    export_text(w->stream, "</Points>\n<PointData>\n");
    for (int a = EXPORT_POSITION + 1; a < EXPORT_ATTRIBUTE_COUNT; ++a) {
        if (g->value[a] != NULL) {
            vtk_put_array(w, "Float32", export_attributes[a].vtk, export_attributes[a].components,
                          float_bytes(g, a));
        }
    }
    if (g->material != NULL) {
        vtk_put_array(w, "Int32", "material", 1, (uint64_t)g->point_count * sizeof(int32_t));
    }
    if (g->id != NULL) {
        vtk_put_array(w, "Int64", "id", 1, (uint64_t)g->point_count * sizeof(int64_t));
    }
    export_printf(w->stream, "</PointData>\n<%s>\n", cells.tag);
    vtk_put_array(w, "Int32", "connectivity", 1,
                  (uint64_t)(cells.count * cells.corners) * sizeof(int32_t));
    vtk_put_array(w, "Int64", "offsets", 1, (uint64_t)cells.count * sizeof(int64_t));
    export_printf(w->stream, "</%s>\n", cells.tag);
}

static void put_cells(export_stream* s, const export_geometry* g) {
    poly_cells cells = cells_of(g);
    int64_t corners = cells.count * cells.corners;
    export_u64(s, (uint64_t)corners * sizeof(int32_t));
    for (int64_t i = 0; i < corners; ++i) {
        int32_t at = g->triangles == NULL ? (int32_t)i : g->triangles[i];
        export_i32(s, &at, 1);
    }
    export_u64(s, (uint64_t)cells.count * sizeof(int64_t));
    for (int64_t i = 1; i <= cells.count; ++i) {
        export_u64(s, (uint64_t)(i * cells.corners));
        export_flush(s);
    }
}

static void put_data(export_stream* s, const export_geometry* g) {
    for (int a = 0; a < EXPORT_ATTRIBUTE_COUNT; ++a) {
        if (g->value[a] != NULL) {
            export_u64(s, float_bytes(g, a));
            export_f32(s, g->value[a], g->point_count * export_attributes[a].components);
        }
    }
    if (g->material != NULL) {
        export_u64(s, (uint64_t)g->point_count * sizeof(int32_t));
        export_i32(s, g->material, g->point_count);
    }
    if (g->id != NULL) {
        export_u64(s, (uint64_t)g->point_count * sizeof(int64_t));
        for (int64_t i = 0; i < g->point_count; ++i) {
            export_u64(s, (uint64_t)g->id[i]);
            export_flush(s);
        }
    }
    put_cells(s, g);
}

treacle_status export_write_vtp(const export_geometry* g, const char* path) {
    TREACLE_ASSERT(g->point_count == 0 || g->value[EXPORT_POSITION] != NULL);
    export_stream s;
    TREACLE_TRY(export_stream_open(g->ctx, path, &s));
    vtk_writer w = {.stream = &s};
    put_head(&w, g);
    vtk_begin_data(&w, "PolyData");
    put_data(&s, g);
    vtk_end(&w);
    return export_stream_close(&s);
}
