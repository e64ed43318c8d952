#include "treacle/export.h"

#include <inttypes.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/check.h"
#include "base/text.h"
#include "export/export_stream.h"
#include "export/export_usd.h"
#include "export/export_volume.h"

enum { PATH_CAPACITY = 4096, WHAT_COUNT = 3 };

struct treacle_exporter {
    treacle_context* ctx;
    treacle_export_def def;
    char *folder, *name; // copies; the def points to them
    char path[PATH_CAPACITY];
    export_usd* usd;
    text series; // of VTK files: a line each, with its time
    int64_t counts[2];
    int64_t last; // frame; 0 before the first
};

// What a format can hold, its ending for each, and its writer of points.
typedef struct format_info {
    const char* name;
    const char* endings[WHAT_COUNT]; // NULL: not possible
    export_write_fcn* write;
} format_info;

static const format_info formats[] = {
    [TREACLE_EXPORT_PLY] = {"ply", {"ply", "ply", NULL}, export_write_ply},
    [TREACLE_EXPORT_OBJ] = {"obj", {"obj", "obj", NULL}, export_write_obj},
    [TREACLE_EXPORT_VTK] = {"vtk", {"vtp", "vtp", "vti"}, export_write_vtp},
    [TREACLE_EXPORT_USD] = {"usd", {"usda", "usda", NULL}, NULL},
    [TREACLE_EXPORT_BGEO] = {"bgeo", {"bgeo", "bgeo", NULL}, export_write_bgeo},
    [TREACLE_EXPORT_GLB] = {"glb", {"glb", "glb", NULL}, export_write_glb},
    [TREACLE_EXPORT_VDB] = {"vdb", {NULL, "vdb", "vdb"}, export_write_vdb_points},
};
enum { FORMAT_COUNT = sizeof(formats) / sizeof(formats[0]) };

static const char* const what_names[WHAT_COUNT] = {"surface", "particles", "volume"};

treacle_export_def treacle_export_def_default(void) {
    return (treacle_export_def){
        .def_size = sizeof(treacle_export_def),
        .format = TREACLE_EXPORT_PLY,
        .what = TREACLE_EXPORT_SURFACE,
        .folder = ".",
        .mesh = treacle_mesh_def_default(),
    };
}

static treacle_status export_check_def(treacle_context* ctx, const treacle_export_def* def) {
    if (def == NULL || def->def_size != sizeof(*def)) {
        return check_fail(ctx, TREACLE_ERR_USAGE,
                          "the export def does not come from treacle_export_def_default()");
    }
    if ((unsigned)def->format >= FORMAT_COUNT || (unsigned)def->what >= WHAT_COUNT ||
        def->folder == NULL) {
        return check_fail(ctx, TREACLE_ERR_USAGE, "the export def has no format, or no folder");
    }
    const format_info* format = &formats[def->format];
    if (format->endings[def->what] == NULL) {
        return check_fail(ctx, TREACLE_ERR_USAGE, "%s files do not hold the %s: choose %s",
                          format->name, what_names[def->what],
                          def->what == TREACLE_EXPORT_VOLUME ? "vdb or vtk"
                                                             : "the volume, or another format");
    }
    if (def->is_z_up && def->format == TREACLE_EXPORT_GLB) {
        return check_fail(ctx, TREACLE_ERR_USAGE,
                          "glTF is always y up; programs where z is up turn it when they read it");
    }
    return TREACLE_OK;
}

static bool make_path(treacle_exporter* e, int64_t number) {
    const char* ending = formats[e->def.format].endings[e->def.what];
    int length = e->def.format == TREACLE_EXPORT_USD
                     ? snprintf(e->path, PATH_CAPACITY, "%s/%s.%s", e->folder, e->name, ending)
                     : snprintf(e->path, PATH_CAPACITY, "%s/%s_%04" PRId64 ".%s", e->folder,
                                e->name, number, ending);
    return length >= 0 && length < PATH_CAPACITY;
}

static treacle_status export_fill(treacle_exporter* e, const treacle_export_def* def) {
    e->def = *def;
    TREACLE_TRY(alloc_text(e->ctx, def->folder, &e->folder));
    TREACLE_TRY(
        alloc_text(e->ctx, def->name == NULL ? what_names[def->what] : def->name, &e->name));
    if (!make_path(e, 1)) {
        return check_fail(e->ctx, TREACLE_ERR_LIMIT, "the path %.60s... is too long", e->folder);
    }
    if (def->format == TREACLE_EXPORT_USD) {
        TREACLE_TRY(export_usd_create(e->ctx, e->path, &e->usd));
    }
    e->path[0] = '\0';
    return TREACLE_OK;
}

treacle_status treacle_exporter_create(treacle_context* ctx, const treacle_export_def* def,
                                       treacle_exporter** out) {
    void* block = NULL;
    *out = NULL;
    TREACLE_TRY(export_check_def(ctx, def));
    TREACLE_TRY(alloc_zero(ctx, 1, sizeof(treacle_exporter), "an export", &block));
    treacle_exporter* e = block;
    e->ctx = ctx;
    text_init(&e->series, ctx);
    treacle_status status = export_fill(e, def);
    if (status != TREACLE_OK) {
        treacle_exporter_destroy(e);
        return status;
    }
    *out = e;
    return TREACLE_OK;
}

void treacle_exporter_destroy(treacle_exporter* e) {
    if (e != NULL) {
        export_usd_destroy(e->usd);
        text_finish(&e->series);
        alloc_free_text(e->ctx, e->folder);
        alloc_free_text(e->ctx, e->name);
        alloc_free(e->ctx, e, sizeof(*e));
    }
}

const char* treacle_exporter_path(const treacle_exporter* e) {
    return e->path;
}

void treacle_exporter_counts(const treacle_exporter* e, int64_t out[2]) {
    out[0] = e->counts[0];
    out[1] = e->counts[1];
}

static treacle_status write_volume(treacle_exporter* e, const treacle_frame* frame,
                                   const export_geometry* surface,
                                   const export_geometry* particles) {
    const double resolution = e->def.mesh.resolution > 0.0 ? e->def.mesh.resolution : 2.0;
    export_volume volume;
    TREACLE_TRY(export_volume_create(frame, particles, surface, &volume));
    e->counts[0] = volume.tile_count * VOLUME_TILE_CELLS;
    e->counts[1] = surface->triangle_count;
    treacle_status status = e->def.format == TREACLE_EXPORT_VDB
                                ? export_write_vdb(&volume, frame->cell / resolution, e->path)
                                : export_write_vti(&volume, e->path);
    export_volume_destroy(&volume);
    return status;
}

static treacle_status add_volume(treacle_exporter* e, const treacle_frame* frame) {
    export_geometry surface, particles;
    TREACLE_TRY(export_geometry_of_mesh(e->ctx, frame, &e->def, &surface));
    treacle_status status = export_geometry_of_particles(e->ctx, frame, &e->def, &particles);
    if (status == TREACLE_OK) {
        status = write_volume(e, frame, &surface, &particles);
        export_geometry_destroy(&particles);
    }
    export_geometry_destroy(&surface);
    return status;
}

static treacle_status add_geometry(treacle_exporter* e, const treacle_frame* frame) {
    export_geometry g;
    TREACLE_TRY(e->def.what == TREACLE_EXPORT_SURFACE
                    ? export_geometry_of_mesh(e->ctx, frame, &e->def, &g)
                    : export_geometry_of_particles(e->ctx, frame, &e->def, &g));
    e->counts[0] = g.point_count;
    e->counts[1] = g.triangle_count;
    treacle_status status =
        e->usd != NULL ? export_usd_add(e->usd, &g) : formats[e->def.format].write(&g, e->path);
    export_geometry_destroy(&g);
    return status;
}

// Numbers have a decimal point, whatever the program's locale.
typedef struct c_numbers {
    locale_t c, before;
} c_numbers;

static c_numbers begin_c_numbers(void) {
    c_numbers out = {.c = newlocale(LC_ALL_MASK, "C", (locale_t)0)};
    out.before = out.c == (locale_t)0 ? (locale_t)0 : uselocale(out.c);
    return out;
}

static void end_c_numbers(c_numbers numbers) {
    if (numbers.c != (locale_t)0) {
        uselocale(numbers.before);
        freelocale(numbers.c);
    }
}

// Names in XML need some letters written otherwise.
static void append_name(text* t, const char* name) {
    for (const char* c = name; *c != '\0'; ++c) {
        switch (*c) {
        case '&':
            text_append(t, "&amp;");
            break;
        case '<':
            text_append(t, "&lt;");
            break;
        case '"':
            text_append(t, "&quot;");
            break;
        default:
            text_append_char(t, *c);
            break;
        }
    }
}

static treacle_status note_time(treacle_exporter* e, double time) {
    text_printf(&e->series, "<DataSet timestep=\"%.17g\" part=\"0\" file=\"", time);
    append_name(&e->series, strrchr(e->path, '/') + 1);
    text_append(&e->series, "\"/>\n");
    return text_status(&e->series);
}

treacle_status treacle_exporter_add(treacle_exporter* e, const treacle_frame* frame) {
    if (frame->number <= e->last || !make_path(e, frame->number)) {
        return check_fail(e->ctx, TREACLE_ERR_USAGE,
                          "frame %lld comes after frame %lld in an export, or its path is too long",
                          (long long)frame->number, (long long)e->last);
    }
    e->last = frame->number;
    c_numbers numbers = begin_c_numbers();
    treacle_status status =
        e->def.what == TREACLE_EXPORT_VOLUME ? add_volume(e, frame) : add_geometry(e, frame);
    if (status == TREACLE_OK && e->def.format == TREACLE_EXPORT_VTK) {
        status = note_time(e, frame->time);
    }
    end_c_numbers(numbers);
    return status;
}

// folder/name.pvd: which file shows what time.
static treacle_status write_series(treacle_exporter* e) {
    export_stream s;
    int length = snprintf(e->path, PATH_CAPACITY, "%s/%s.pvd", e->folder, e->name);
    if (length < 0 || length >= PATH_CAPACITY) {
        return check_fail(e->ctx, TREACLE_ERR_LIMIT, "the path %.60s... is too long", e->folder);
    }
    TREACLE_TRY(export_stream_open(e->ctx, e->path, &s));
    export_text(&s, "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"0.1\" "
                    "byte_order=\"LittleEndian\">\n<Collection>\n");
    export_bytes(&s, e->series.at, e->series.length);
    export_text(&s, "</Collection>\n</VTKFile>\n");
    return export_stream_close(&s);
}

treacle_status treacle_exporter_finish(treacle_exporter* e) {
    if (e->series.length > 0) {
        return write_series(e);
    }
    if (e->usd == NULL || e->last == 0) {
        return TREACLE_OK;
    }
    c_numbers numbers = begin_c_numbers();
    treacle_status status = export_usd_finish(e->usd);
    end_c_numbers(numbers);
    return status;
}

// A mesh that is there already.
treacle_status treacle_mesh_write(treacle_context* ctx, const treacle_mesh* mesh,
                                  const char* path) {
    size_t length = strlen(path);
    const char* ending = length > 4 ? path + length - 4 : "";
    bool is_ply = strcasecmp(ending, ".ply") == 0;
    if (!is_ply && strcasecmp(ending, ".obj") != 0) {
        return check_fail(ctx, TREACLE_ERR_USAGE, "%s: the ending must be .ply or .obj", path);
    }
    treacle_mesh_view view = treacle_mesh_get_view(mesh);
    export_geometry g = {.ctx = ctx};
    treacle_status status = export_geometry_take_mesh(&view, &g);
    if (status == TREACLE_OK) {
        c_numbers numbers = begin_c_numbers();
        status = is_ply ? export_write_ply(&g, path) : export_write_obj(&g, path);
        end_c_numbers(numbers);
    }
    export_geometry_destroy(&g);
    return status;
}
