// The volume as VTK's image data: one dense box of cells around the liquid.
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "export/export_volume.h"
#include "export/export_vtk.h"
#include "geometry/mesh_tree.h"

enum { AXIS_COUNT = 3 };

// The box in cells.
typedef struct vti_box {
    int64_t low[3], size[3];
    int64_t count;
} vti_box;

static vti_box box_of(const export_volume* v) {
    vti_box box = {.count = 1};
    for (int k = 0; k < AXIS_COUNT; ++k) {
        box.low[k] = (int64_t)VOLUME_TILE_WIDTH * v->low[k];
        box.size[k] = (int64_t)VOLUME_TILE_WIDTH * v->size[k];
        box.count *= box.size[k];
    }
    return box;
}

// The field at a cell of the box; 0 where nothing came.
static float value_at(const export_volume* v, int f, const int32_t cell[3]) {
    int32_t tile[3];
    int inside = 0;
    for (int k = AXIS_COUNT - 1; k >= 0; --k) {
        int32_t at = cell[k] - VOLUME_TILE_WIDTH * v->low[k];
        tile[k] = v->low[k] + at / VOLUME_TILE_WIDTH;
        inside = inside * VOLUME_TILE_WIDTH + at % VOLUME_TILE_WIDTH;
    }
    int32_t number = export_volume_find(v, tile);
    return number < 0 ? 0.0f : v->value[f][(int64_t)number * VOLUME_TILE_CELLS + inside];
}

// The mean of both faces of the cell along the axis.
static float velocity_at(const export_volume* v, int axis, const int32_t cell[3]) {
    int32_t next[3] = {cell[0], cell[1], cell[2]};
    next[axis] += 1;
    bool is_inside = next[axis] < VOLUME_TILE_WIDTH * (v->low[axis] + v->size[axis]);
    float low = value_at(v, axis, cell);
    return 0.5f * (low + (is_inside ? value_at(v, axis, next) : 0.0f));
}

static treacle_status make_tree(const export_geometry* g, mesh_tree** out) {
    void *vertices = NULL, *triangles = NULL;
    size_t points = (size_t)g->point_count, count = (size_t)g->triangle_count;
    TREACLE_TRY(alloc_array(g->ctx, points, sizeof(vec3), "a surface", &vertices));
    treacle_status status =
        alloc_array(g->ctx, count, sizeof(mesh_triangle), "a surface", &triangles);
    if (status == TREACLE_OK) {
        triangle_mesh mesh = {.ctx = g->ctx,
                              .vertex_count = (int32_t)points,
                              .triangle_count = (int32_t)count,
                              .vertices = vertices,
                              .triangles = triangles};
        for (size_t i = 0; i < 3 * points; ++i) {
            mesh.vertices[i / 3].at[i % 3] = (double)g->value[EXPORT_POSITION][i];
        }
        memcpy(triangles, g->triangles, count * sizeof(mesh_triangle));
        status = mesh_tree_create(&mesh, out);
        alloc_free(g->ctx, triangles, count * sizeof(mesh_triangle));
    }
    alloc_free(g->ctx, vertices, points * sizeof(vec3));
    return status;
}

static void put_head(vtk_writer* w, const export_volume* v, const vti_box* box) {
    char extent[160];
    snprintf(extent, sizeof(extent), "0 %lld 0 %lld 0 %lld", (long long)box->size[0],
             (long long)box->size[1], (long long)box->size[2]);
    vtk_begin(w, "ImageData");
    export_printf(w->stream, " WholeExtent=\"%s\" Origin=\"%.17g %.17g %.17g\"", extent,
                  v->origin[0] + v->cell * (double)box->low[0],
                  v->origin[1] + v->cell * (double)box->low[1],
                  v->origin[2] + v->cell * (double)box->low[2]);
    export_printf(w->stream, " Spacing=\"%.17g %.17g %.17g\">\n<Piece Extent=\"%s\">\n<CellData>\n",
                  v->cell, v->cell, v->cell, extent);
    uint64_t bytes = (uint64_t)box->count * sizeof(float);
    if (v->value[VOLUME_VELOCITY_X] != NULL) {
        vtk_put_array(w, "Float32", "vel", AXIS_COUNT, AXIS_COUNT * bytes);
    }
    vtk_put_array(w, "Float32", "density", 1, bytes);
    if (v->value[VOLUME_TEMPERATURE] != NULL) {
        vtk_put_array(w, "Float32", "temperature", 1, bytes);
    }
    if (v->surface->triangle_count > 0) {
        vtk_put_array(w, "Float32", "surface", 1, bytes);
    }
    export_text(w->stream, "</CellData>\n");
    vtk_begin_data(w, "ImageData");
}

// What is written of a cell: the velocity, a field, or the distance to the surface.
typedef struct vti_column {
    const export_volume* v;
    int field;             // VOLUME_VELOCITY_X: all three components
    const mesh_tree* tree; // not NULL: the distance
} vti_column;

static void put_cell(export_stream* s, const vti_column* c, const int32_t cell[3]) {
    float values[3] = {0};
    int count = 1;
    if (c->tree != NULL) {
        vec3 x;
        for (int k = 0; k < AXIS_COUNT; ++k) {
            x.at[k] = c->v->origin[k] + c->v->cell * (cell[k] + 0.5);
        }
        values[0] = (float)mesh_tree_distance(c->tree, x);
    } else if (c->field == VOLUME_VELOCITY_X) {
        count = AXIS_COUNT;
        for (int k = 0; k < AXIS_COUNT; ++k) {
            values[k] = velocity_at(c->v, k, cell);
        }
    } else {
        values[0] = value_at(c->v, c->field, cell);
    }
    export_f32(s, values, count);
}

static void put_column(export_stream* s, const vti_column* c, const vti_box* box) {
    bool is_vector = c->tree == NULL && c->field == VOLUME_VELOCITY_X;
    export_u64(s, (uint64_t)box->count * sizeof(float) * (is_vector ? AXIS_COUNT : 1));
    for (int64_t i = 0; i < box->count && s->status == TREACLE_OK; ++i) {
        int64_t row = i / box->size[0];
        const int32_t cell[3] = {(int32_t)(box->low[0] + i % box->size[0]),
                                 (int32_t)(box->low[1] + row % box->size[1]),
                                 (int32_t)(box->low[2] + row / box->size[1])};
        put_cell(s, c, cell);
    }
}

treacle_status export_write_vti(const export_volume* v, const char* path) {
    TREACLE_ASSERT(v->surface != NULL);
    vti_box box = box_of(v);
    mesh_tree* tree = NULL;
    export_stream s;
    if (v->surface->triangle_count > 0) {
        TREACLE_TRY(make_tree(v->surface, &tree));
    }
    treacle_status status = export_stream_open(v->ctx, path, &s);
    if (status == TREACLE_OK) {
        vtk_writer w = {.stream = &s};
        put_head(&w, v, &box);
        const int fields[] = {VOLUME_VELOCITY_X, VOLUME_DENSITY, VOLUME_TEMPERATURE};
        for (int f = 0; f < 3; ++f) {
            if (v->value[fields[f]] != NULL) {
                put_column(&s, &(vti_column){v, fields[f], NULL}, &box);
            }
        }
        if (tree != NULL) {
            put_column(&s, &(vti_column){v, 0, tree}, &box);
        }
        vtk_end(&w);
        status = export_stream_close(&s);
    }
    mesh_tree_destroy(tree);
    return status;
}
