// Meshes as files: binary PLY with every attribute, OBJ with what it can hold.
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/atomic_file.h"
#include "base/bytes.h"
#include "base/text.h"
#include "treacle/mesh.h"

enum { FLUSH_BYTES = 1 << 20, LINE_MAX_BYTES = 256 };

// The vertex properties of a PLY file, in order: names of the components, and where they come from.
typedef struct ply_column {
    const char* names[3];
    int components;
    const float* values;
} ply_column;
enum { PLY_COLUMNS = 6 };

static void list_columns(const treacle_mesh_view* view, ply_column out[PLY_COLUMNS]) {
    const ply_column columns[PLY_COLUMNS] = {
        {{"x", "y", "z"}, 3, view->position},
        {{"nx", "ny", "nz"}, 3, view->normal},
        {{"vx", "vy", "vz"}, 3, view->velocity},
        {{"r", "g", "b"}, 3, view->colour},
        {{"temperature", NULL, NULL}, 1, view->temperature},
        {{"restx", "resty", "restz"}, 3, view->rest},
    };
    memcpy(out, columns, sizeof(columns));
}

// Bytes on their way into a file.
typedef struct mesh_stream {
    atomic_file file;
    byte_writer bytes;
    treacle_status status;
} mesh_stream;

static void flush(mesh_stream* s, size_t at_least) {
    if (s->status == TREACLE_OK) {
        s->status = bytes_status(&s->bytes);
    }
    if (s->status == TREACLE_OK && s->bytes.size >= at_least && s->bytes.size > 0) {
        s->status = atomic_file_append(&s->file, s->bytes.data, s->bytes.size);
        s->bytes.size = 0;
    }
}

static void put_text(mesh_stream* s, const char* chars) {
    bytes_write(&s->bytes, chars, strlen(chars));
}

static void put_ply_head(mesh_stream* s, const treacle_mesh_view* view,
                         const ply_column columns[PLY_COLUMNS]) {
    char line[LINE_MAX_BYTES];
    put_text(s, "ply\nformat binary_little_endian 1.0\n");
    snprintf(line, sizeof(line), "element vertex %lld\n", (long long)view->vertex_count);
    put_text(s, line);
    for (int c = 0; c < PLY_COLUMNS; ++c) {
        for (int k = 0; k < columns[c].components && columns[c].values != NULL; ++k) {
            snprintf(line, sizeof(line), "property float %s\n", columns[c].names[k]);
            put_text(s, line);
        }
    }
    if (view->material != NULL) {
        put_text(s, "property uchar material\n");
    }
    snprintf(line, sizeof(line),
             "element face %lld\nproperty list uchar int vertex_indices\nend_header\n",
             (long long)view->triangle_count);
    put_text(s, line);
}

static void put_ply(mesh_stream* s, const treacle_mesh_view* view) {
    ply_column columns[PLY_COLUMNS];
    list_columns(view, columns);
    put_ply_head(s, view, columns);
    for (int64_t v = 0; v < view->vertex_count && s->status == TREACLE_OK; ++v) {
        for (int c = 0; c < PLY_COLUMNS; ++c) {
            for (int k = 0; k < columns[c].components && columns[c].values != NULL; ++k) {
                bytes_write_f32(&s->bytes, columns[c].values[v * columns[c].components + k]);
            }
        }
        if (view->material != NULL) {
            bytes_write_u8(&s->bytes, view->material[v]);
        }
        flush(s, FLUSH_BYTES);
    }
    for (int64_t t = 0; t < view->triangle_count && s->status == TREACLE_OK; ++t) {
        bytes_write_u8(&s->bytes, 3);
        for (int c = 0; c < 3; ++c) {
            bytes_write_i32(&s->bytes, view->triangles[3 * t + c]);
        }
        flush(s, FLUSH_BYTES);
    }
}

static void put_obj_vertex(mesh_stream* s, const treacle_mesh_view* view, int64_t v) {
    char line[LINE_MAX_BYTES];
    const float* x = view->position + 3 * v;
    const float* n = view->normal + 3 * v;
    const float* c = view->colour == NULL ? NULL : view->colour + 3 * v;
    snprintf(line, sizeof(line), "v %.9g %.9g %.9g", (double)x[0], (double)x[1], (double)x[2]);
    put_text(s, line);
    if (c != NULL) {
        snprintf(line, sizeof(line), " %.6g %.6g %.6g", (double)c[0], (double)c[1], (double)c[2]);
        put_text(s, line);
    }
    snprintf(line, sizeof(line), "\nvn %.6g %.6g %.6g\n", (double)n[0], (double)n[1], (double)n[2]);
    put_text(s, line);
}

static void put_obj(mesh_stream* s, const treacle_mesh_view* view) {
    for (int64_t v = 0; v < view->vertex_count && s->status == TREACLE_OK; ++v) {
        put_obj_vertex(s, view, v);
        flush(s, FLUSH_BYTES);
    }
    for (int64_t t = 0; t < view->triangle_count && s->status == TREACLE_OK; ++t) {
        char line[LINE_MAX_BYTES];
        int a = view->triangles[3 * t] + 1, b = view->triangles[3 * t + 1] + 1,
            c = view->triangles[3 * t + 2] + 1;
        snprintf(line, sizeof(line), "f %d//%d %d//%d %d//%d\n", a, a, b, b, c, c);
        put_text(s, line);
        flush(s, FLUSH_BYTES);
    }
}

typedef void put_fcn(mesh_stream* s, const treacle_mesh_view* view);

static put_fcn* choose_format(const char* path) {
    size_t length = strlen(path);
    const char* ending = length > 4 ? path + length - 4 : "";
    return strcasecmp(ending, ".ply") == 0   ? put_ply
           : strcasecmp(ending, ".obj") == 0 ? put_obj
                                             : NULL;
}

treacle_status treacle_mesh_write(treacle_context* ctx, const treacle_mesh* mesh,
                                  const char* path) {
    put_fcn* put = choose_format(path);
    if (put == NULL) {
        return check_fail(ctx, TREACLE_ERR_USAGE, "%s: the ending must be .ply or .obj", path);
    }
    treacle_mesh_view view = treacle_mesh_get_view(mesh);
    mesh_stream s = {.status = TREACLE_OK};
    TREACLE_TRY(atomic_file_open(ctx, path, &s.file));
    bytes_writer_init(&s.bytes, ctx);
    // Numbers have a decimal point, whatever the program's locale.
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    locale_t before = c_locale == (locale_t)0 ? (locale_t)0 : uselocale(c_locale);
    put(&s, &view);
    if (c_locale != (locale_t)0) {
        uselocale(before);
        freelocale(c_locale);
    }
    flush(&s, 0);
    bytes_writer_finish(&s.bytes);
    if (s.status != TREACLE_OK) {
        atomic_file_discard(&s.file);
        return s.status;
    }
    return atomic_file_commit(&s.file);
}
