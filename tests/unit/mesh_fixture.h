// Meshes made by rule, and as files of every format in memory.
//
// A soup has three vertices of its own for each triangle; they are floats, so that every format
// holds the same.
#pragma once

#include <stdio.h>
#include <stdlib.h>

#include "geometry/triangle_mesh.h"
#include "unit.h"

typedef struct mesh_soup {
    int triangles;
    vec3* corners; // 3 a triangle
} mesh_soup;

// volatile: gcc 12 takes (double)(float)x for x where it vectorises.
static inline vec3 mesh_soup_rounded(vec3 x) {
    for (int a = 0; a < 3; ++a) {
        volatile float single = (float)x.at[a];
        x.at[a] = (double)single;
    }
    return x;
}

static inline mesh_soup mesh_soup_of(int triangles, const double (*x)[3], const int (*index)[3]) {
    mesh_soup s = {triangles, calloc(3 * (size_t)triangles, sizeof(vec3))};
    for (int i = 0; i < 3 * triangles; ++i) {
        s.corners[i] = mesh_soup_rounded(vec3_from(x[index[i / 3][i % 3]]));
    }
    return s;
}

static inline mesh_soup mesh_soup_tetrahedron(void) {
    static const double x[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    static const int index[4][3] = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};
    return mesh_soup_of(4, x, index);
}

/// The unit cube around the origin; `sides` 5: without the lid at y = 1/2.
static inline mesh_soup mesh_soup_cube(int sides) {
    static const double x[8][3] = {{-0.5, -0.5, -0.5}, {0.5, -0.5, -0.5}, {-0.5, 0.5, -0.5},
                                   {0.5, 0.5, -0.5},   {-0.5, -0.5, 0.5}, {0.5, -0.5, 0.5},
                                   {-0.5, 0.5, 0.5},   {0.5, 0.5, 0.5}};
    static const int index[12][3] = {{0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5},
                                     {0, 1, 5}, {0, 5, 4}, {0, 2, 3}, {0, 3, 1},
                                     {4, 5, 7}, {4, 7, 6}, {2, 6, 7}, {2, 7, 3}};
    return mesh_soup_of(2 * sides, x, index);
}

/// The unit sphere: an octahedron, each triangle cut into four `cuts` times.
static inline mesh_soup mesh_soup_sphere(int cuts) {
    static const double x[6][3] = {{1, 0, 0},  {-1, 0, 0}, {0, 1, 0},
                                   {0, -1, 0}, {0, 0, 1},  {0, 0, -1}};
    static const int index[8][3] = {{0, 2, 4}, {2, 1, 4}, {1, 3, 4}, {3, 0, 4},
                                    {2, 0, 5}, {1, 2, 5}, {3, 1, 5}, {0, 3, 5}};
    mesh_soup s = mesh_soup_of(8, x, index);
    for (int cut = 0; cut < cuts; ++cut) {
        mesh_soup fine = {4 * s.triangles, calloc(12 * (size_t)s.triangles, sizeof(vec3))};
        for (int i = 0; i < s.triangles; ++i) {
            const vec3* c = &s.corners[3 * i];
            vec3 m[3];
            for (int k = 0; k < 3; ++k) {
                m[k] = mesh_soup_rounded(vec3_normalise(vec3_add(c[k], c[(k + 1) % 3])));
            }
            const vec3 four[12] = {c[0], m[0], m[2], m[0], c[1], m[1],
                                   m[2], m[1], c[2], m[0], m[1], m[2]};
            memcpy(&fine.corners[12 * i], four, sizeof(four));
        }
        free(s.corners);
        s = fine;
    }
    return s;
}

typedef enum mesh_format {
    MESH_PLY_TEXT,
    MESH_PLY_LITTLE,
    MESH_PLY_BIG,
    MESH_OBJ,
    MESH_STL_TEXT,
    MESH_STL_BINARY,
    MESH_FORMATS,
} mesh_format;
static mesh_read_fcn* const mesh_readers[MESH_FORMATS] = {
    mesh_ply_read, mesh_ply_read, mesh_ply_read, mesh_obj_read, mesh_stl_read, mesh_stl_read};

static inline void mesh_put(FILE* f, const void* bytes, size_t size, bool is_big) {
    for (size_t i = 0; i < size; ++i) {
        fputc(((const unsigned char*)bytes)[is_big ? size - 1 - i : i], f);
    }
}

static inline void mesh_put_point(FILE* f, vec3 x, bool is_big) {
    for (int a = 0; a < 3; ++a) {
        float value = (float)x.at[a];
        mesh_put(f, &value, sizeof(value), is_big);
    }
}

static inline void mesh_put_text(FILE* f, const char* before, vec3 x) {
    fprintf(f, "%s%.17g %.17g %.17g\n", before, x.at[0], x.at[1], x.at[2]);
}

static inline void mesh_put_ply(FILE* f, const mesh_soup* s, mesh_format format) {
    static const char* const names[] = {"ascii", "binary_little_endian", "binary_big_endian"};
    bool is_big = format == MESH_PLY_BIG;
    fprintf(f, "ply\nformat %s 1.0\ncomment by rule\nelement vertex %d\n", names[format],
            3 * s->triangles);
    fprintf(f, "property float x\nproperty float y\nproperty float z\nelement face %d\n",
            s->triangles);
    fprintf(f, "property list uchar int vertex_indices\nend_header\n");
    for (int i = 0; i < 3 * s->triangles; ++i) {
        if (format == MESH_PLY_TEXT) {
            mesh_put_text(f, "", s->corners[i]);
        } else {
            mesh_put_point(f, s->corners[i], is_big);
        }
    }
    for (int i = 0; i < s->triangles; ++i) {
        if (format == MESH_PLY_TEXT) {
            fprintf(f, "3 %d %d %d\n", 3 * i, 3 * i + 1, 3 * i + 2);
            continue;
        }
        fputc(3, f);
        for (int32_t k = 3 * i; k < 3 * i + 3; ++k) {
            mesh_put(f, &k, sizeof(k), is_big);
        }
    }
}

static inline void mesh_put_obj(FILE* f, const mesh_soup* s) {
    fprintf(f, "# by rule\no soup\nvn 0 0 1\n");
    for (int i = 0; i < s->triangles; ++i) {
        for (int k = 0; k < 3; ++k) {
            mesh_put_text(f, "v ", s->corners[3 * i + k]);
        }
        fprintf(f, i % 2 == 0 ? "f %d//1 %d//1 %d//1\n" : "f -3 -2 -1\n", 3 * i + 1, 3 * i + 2,
                3 * i + 3);
    }
}

static inline void mesh_put_stl(FILE* f, const mesh_soup* s, bool is_text) {
    const char head[80] = "solid in name only";
    const uint32_t count = (uint32_t)s->triangles;
    if (is_text) {
        fprintf(f, "solid by rule\n");
    } else {
        fwrite(head, 1, sizeof(head), f);
        mesh_put(f, &count, sizeof(count), false);
    }
    for (int i = 0; i < s->triangles; ++i) {
        if (is_text) {
            fprintf(f, "  facet normal 0 0 0\n    outer loop\n");
        } else {
            mesh_put_point(f, vec3_make(0, 0, 0), false);
        }
        for (int k = 0; k < 3; ++k) {
            if (is_text) {
                mesh_put_text(f, "      vertex ", s->corners[3 * i + k]);
            } else {
                mesh_put_point(f, s->corners[3 * i + k], false);
            }
        }
        fprintf(f, "%s", is_text ? "    endloop\n  endfacet\n" : "");
        fwrite("\0\0", 1, is_text ? 0 : 2, f);
    }
    fprintf(f, "%s", is_text ? "endsolid by rule\n" : "");
}

static inline void mesh_put_soup(FILE* f, const mesh_soup* s, mesh_format format) {
    if (format <= MESH_PLY_BIG) {
        mesh_put_ply(f, s, format);
    } else if (format == MESH_OBJ) {
        mesh_put_obj(f, s);
    } else {
        mesh_put_stl(f, s, format == MESH_STL_TEXT);
    }
}

/// The soup as a file in memory; free data.
static inline mesh_input mesh_soup_file(treacle_context* ctx, const mesh_soup* s,
                                        mesh_format format) {
    char* data = NULL;
    size_t size = 0;
    FILE* f = open_memstream(&data, &size);
    mesh_put_soup(f, s, format);
    fclose(f);
    return (mesh_input){.ctx = ctx, .name = "soup", .data = (uint8_t*)data, .size = size};
}

/// The soup through a file in memory; it is freed.
static inline triangle_mesh* mesh_soup_read(treacle_context* ctx, mesh_soup s, mesh_format format) {
    triangle_mesh* mesh = NULL;
    mesh_input in = mesh_soup_file(ctx, &s, format);
    treacle_status status = triangle_mesh_read(&in, mesh_readers[format], &mesh);
    if (status != TREACLE_OK) {
        print_error("format %d: %s\n", (int)format, treacle_context_error(ctx));
    }
    assert_int_equal(status, TREACLE_OK);
    free((void*)(uintptr_t)in.data);
    free(s.corners);
    return mesh;
}
