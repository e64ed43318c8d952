#include "export/export_usd.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "export/export_stream.h"

enum { COPY_BYTES = 1 << 16 };

// What a sample of a property is made of.
typedef enum usd_kind {
    USD_FLOATS,    // one number a point
    USD_VECTORS,   // three
    USD_DIAMETERS, // one number, doubled
    USD_COUNTS,    // 3 for each triangle
    USD_INDICES,
    USD_MATERIALS,
    USD_IDS,
    USD_EXTENT,
} usd_kind;

// Properties of the prim, in the order of the file.
typedef struct usd_property {
    const char* declaration;
    usd_kind kind;
    int attribute;       // whose values; -1 for what is none
    const char* primvar; // interpolation of it, or NULL
    int mesh, points;    // which of the two have it
} usd_property;

static const usd_property properties[] = {
    {"int[] faceVertexCounts", USD_COUNTS, -1, NULL, 1, 0},
    {"int[] faceVertexIndices", USD_INDICES, -1, NULL, 1, 0},
    {"float3[] extent", USD_EXTENT, -1, NULL, 1, 1},
    {"point3f[] points", USD_VECTORS, EXPORT_POSITION, NULL, 1, 1},
    {"normal3f[] normals", USD_VECTORS, EXPORT_NORMAL, "vertex", 1, 0},
    {"vector3f[] velocities", USD_VECTORS, EXPORT_VELOCITY, NULL, 1, 1},
    {"float[] widths", USD_DIAMETERS, EXPORT_PSCALE, "vertex", 0, 1},
    {"int64[] ids", USD_IDS, -1, NULL, 0, 1},
    {"color3f[] primvars:displayColor", USD_VECTORS, EXPORT_COLOUR, "vertex", 1, 1},
    {"float[] primvars:temperature", USD_FLOATS, EXPORT_TEMPERATURE, "vertex", 1, 1},
    {"float[] primvars:viscosity", USD_FLOATS, EXPORT_VISCOSITY, "vertex", 1, 1},
    {"float[] primvars:density", USD_FLOATS, EXPORT_DENSITY, "vertex", 1, 1},
    {"float[] primvars:age", USD_FLOATS, EXPORT_AGE, "vertex", 0, 1},
    {"point3f[] primvars:rest", USD_VECTORS, EXPORT_REST, "vertex", 1, 1},
    {"int[] primvars:material", USD_MATERIALS, -1, "vertex", 1, 1},
};
enum { PROPERTY_COUNT = sizeof(properties) / sizeof(properties[0]) };

struct export_usd {
    treacle_context* ctx;
    char* path;
    FILE* spool[PROPERTY_COUNT]; // NULL before its first sample
    int64_t first, last;         // frames; 0 before the first
    double fps;
    bool is_z_up, is_mesh;
};

treacle_status export_usd_create(treacle_context* ctx, const char* path, export_usd** out) {
    void* block = NULL;
    TREACLE_TRY(alloc_zero(ctx, 1, sizeof(export_usd), "an export", &block));
    export_usd* usd = block;
    usd->ctx = ctx;
    treacle_status status = alloc_text(ctx, path, &usd->path);
    if (status != TREACLE_OK) {
        export_usd_destroy(usd);
        return status;
    }
    *out = usd;
    return TREACLE_OK;
}

void export_usd_destroy(export_usd* usd) {
    if (usd == NULL) {
        return;
    }
    for (int k = 0; k < PROPERTY_COUNT; ++k) {
        if (usd->spool[k] != NULL) {
            fclose(usd->spool[k]);
        }
    }
    alloc_free_text(usd->ctx, usd->path);
    alloc_free(usd->ctx, usd, sizeof(*usd));
}

static treacle_status spool_failed(const export_usd* usd) {
    return check_fail(usd->ctx, TREACLE_ERR_IO, "cannot write beside %s: %s", usd->path,
                      strerror(errno));
}

// Opened beside the file, where there is room for it, and without a name from then on.
static treacle_status open_spool(export_usd* usd, int k) {
    char name[4096];
    int length = snprintf(name, sizeof(name), "%s.%d%s", usd->path, k, ATOMIC_FILE_SUFFIX);
    if (length < 0 || (size_t)length >= sizeof(name)) {
        return check_fail(usd->ctx, TREACLE_ERR_LIMIT, "the path %.60s... is too long", usd->path);
    }
    usd->spool[k] = fopen(name, "w+");
    if (usd->spool[k] == NULL) {
        return spool_failed(usd);
    }
    unlink(name);
    return TREACLE_OK;
}

// A sample as it is in the file.
typedef struct usd_sample {
    FILE* file;
    const export_geometry* g;
    const float* values;
} usd_sample;

static int64_t item_count(const usd_property* p, const export_geometry* g) {
    return p->kind == USD_COUNTS    ? g->triangle_count
           : p->kind == USD_INDICES ? 3 * g->triangle_count
           : p->kind == USD_EXTENT  ? 2
                                    : g->point_count;
}

static void put_item(const usd_sample* s, usd_kind kind, int64_t i) {
    const export_geometry* g = s->g;
    const float* v = NULL;
    switch (kind) {
    case USD_FLOATS:
        fprintf(s->file, "%.9g", (double)s->values[i]);
        break;
    case USD_DIAMETERS:
        fprintf(s->file, "%.9g", 2.0 * (double)s->values[i]);
        break;
    case USD_VECTORS:
    case USD_EXTENT:
        v = kind == USD_VECTORS ? s->values + 3 * i : i == 0 ? g->low : g->high;
        fprintf(s->file, "(%.9g, %.9g, %.9g)", (double)v[0], (double)v[1], (double)v[2]);
        break;
    case USD_COUNTS:
        fputs("3", s->file);
        break;
    case USD_INDICES:
        fprintf(s->file, "%d", (int)g->triangles[i]);
        break;
    case USD_MATERIALS:
        fprintf(s->file, "%d", (int)g->material[i]);
        break;
    case USD_IDS:
        fprintf(s->file, "%lld", (long long)g->id[i]);
        break;
    }
}

static bool is_there(const usd_property* p, const export_geometry* g) {
    bool is_used = g->triangles != NULL ? p->mesh != 0 : p->points != 0;
    bool has_values = p->attribute < 0 || g->value[p->attribute] != NULL;
    bool has_material = p->kind != USD_MATERIALS || g->material != NULL;
    return is_used && has_values && has_material;
}

static treacle_status add_sample(export_usd* usd, int k, const export_geometry* g) {
    const usd_property* p = &properties[k];
    if (usd->spool[k] == NULL) {
        TREACLE_TRY(open_spool(usd, k));
    }
    usd_sample s = {usd->spool[k], g, p->attribute < 0 ? NULL : g->value[p->attribute]};
    fprintf(s.file, "            %lld: [", (long long)g->number);
    int64_t count = item_count(p, g);
    for (int64_t i = 0; i < count; ++i) {
        fputs(i == 0 ? "" : ", ", s.file);
        put_item(&s, p->kind, i);
    }
    fputs("],\n", s.file);
    return ferror(s.file) != 0 ? spool_failed(usd) : TREACLE_OK;
}

treacle_status export_usd_add(export_usd* usd, const export_geometry* g) {
    TREACLE_ASSERT(g->number > usd->last);
    usd->first = usd->first == 0 ? g->number : usd->first;
    usd->last = g->number;
    usd->fps = g->fps;
    usd->is_z_up = g->is_z_up;
    usd->is_mesh = g->triangles != NULL;
    for (int k = 0; k < PROPERTY_COUNT; ++k) {
        if (is_there(&properties[k], g)) {
            TREACLE_TRY(add_sample(usd, k, g));
        }
    }
    return TREACLE_OK;
}

static void put_head(const export_usd* usd, export_stream* s) {
    export_printf(s,
                  "#usda 1.0\n(\n    defaultPrim = \"liquid\"\n    metersPerUnit = 1\n"
                  "    upAxis = \"%s\"\n    startTimeCode = %lld\n    endTimeCode = %lld\n",
                  usd->is_z_up ? "Z" : "Y", (long long)usd->first, (long long)usd->last);
    export_printf(s, "    timeCodesPerSecond = %.9g\n    framesPerSecond = %.9g\n)\n\n", usd->fps,
                  usd->fps);
    export_text(s, "def Xform \"liquid\"\n{\n");
    if (usd->is_mesh) {
        export_text(s, "    def Mesh \"surface\"\n    {\n"
                       "        uniform token subdivisionScheme = \"none\"\n"
                       "        uniform token orientation = \"rightHanded\"\n");
    } else {
        export_text(s, "    def Points \"particles\"\n    {\n");
    }
}

static treacle_status copy_spool(const export_usd* usd, int k, export_stream* s) {
    char block[COPY_BYTES];
    FILE* file = usd->spool[k];
    if (fflush(file) != 0 || fseek(file, 0, SEEK_SET) != 0) {
        return spool_failed(usd);
    }
    for (size_t got; (got = fread(block, 1, sizeof(block), file)) > 0;) {
        export_bytes(s, block, got);
    }
    return ferror(file) != 0 ? spool_failed(usd) : TREACLE_OK;
}

static treacle_status put_properties(const export_usd* usd, export_stream* s) {
    for (int k = 0; k < PROPERTY_COUNT; ++k) {
        const usd_property* p = &properties[k];
        if (usd->spool[k] == NULL) {
            continue;
        }
        if (p->primvar != NULL) {
            export_printf(s, "        %s (\n            interpolation = \"%s\"\n        )\n",
                          p->declaration, p->primvar);
        }
        export_printf(s, "        %s.timeSamples = {\n", p->declaration);
        TREACLE_TRY(copy_spool(usd, k, s));
        export_text(s, "        }\n");
    }
    export_text(s, "    }\n}\n");
    return TREACLE_OK;
}

treacle_status export_usd_finish(export_usd* usd) {
    TREACLE_ASSERT(usd->first > 0 && usd->first <= usd->last);
    export_stream s;
    TREACLE_TRY(export_stream_open(usd->ctx, usd->path, &s));
    put_head(usd, &s);
    treacle_status status = put_properties(usd, &s);
    if (status != TREACLE_OK) {
        s.status = status;
    }
    return export_stream_close(&s);
}
