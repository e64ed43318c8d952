#include "geometry/triangle_mesh.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/hash.h"

// Welding -----------------------------------------------------------------------------------------

static size_t table_size(size_t items) {
    size_t size = 16;
    while (size < 2 * items) {
        size *= 2;
    }
    return size;
}

// Where a vertex stands in the table, or the free slot where it belongs.
static size_t find_vertex(const mesh_builder* b, const int32_t* table, size_t mask, vec3 x) {
    size_t slot = (size_t)hash_bytes(&x, sizeof(x), 0) & mask;
    while (table[slot] >= 0 && memcmp(&b->vertices[table[slot]], &x, sizeof(x)) != 0) {
        slot = (slot + 1) & mask;
    }
    return slot;
}

static void remap(mesh_builder* b, const int32_t* map) {
    size_t kept = 0;
    for (size_t i = 0; i < b->triangle_count; ++i) {
        mesh_triangle t = b->triangles[i];
        for (int k = 0; k < 3; ++k) {
            t.at[k] = map[t.at[k]];
        }
        if (t.at[0] != t.at[1] && t.at[1] != t.at[2] && t.at[2] != t.at[0]) {
            b->triangles[kept] = t;
            kept += 1;
        }
    }
    b->triangle_count = kept;
}

// The first vertex of each place stays, in the file's order.
static void weld_into(mesh_builder* b, int32_t* table, size_t size, int32_t* map) {
    size_t kept = 0;
    for (size_t i = 0; i < b->vertex_count; ++i) {
        vec3 x = b->vertices[i];
        for (int a = 0; a < 3; ++a) {
            x.at[a] += 0.0; // -0 is 0
        }
        size_t slot = find_vertex(b, table, size - 1, x);
        if (table[slot] < 0) {
            table[slot] = (int32_t)kept;
            b->vertices[kept] = x;
            kept += 1;
        }
        map[i] = table[slot];
    }
    b->vertex_count = kept;
    remap(b, map);
}

static treacle_status weld(mesh_builder* b) {
    static const char what[] = "joining the vertices of a mesh";
    size_t size = table_size(b->vertex_count), count = b->vertex_count;
    void *table = NULL, *map = NULL;
    TREACLE_TRY(alloc_array(b->ctx, size, sizeof(int32_t), what, &table));
    treacle_status status = alloc_array(b->ctx, count, sizeof(int32_t), what, &map);
    if (status == TREACLE_OK) {
        memset(table, 0xff, size * sizeof(int32_t));
        weld_into(b, table, size, map);
        alloc_free(b->ctx, map, count * sizeof(int32_t));
    }
    alloc_free(b->ctx, table, size * sizeof(int32_t));
    return status;
}

// Edges -------------------------------------------------------------------------------------------

typedef struct edge {
    int32_t low, high;
    int32_t up, down; // triangles that run along it from low to high, and back; free if both 0
} edge;

static edge* find_edge(edge* table, size_t mask, int32_t low, int32_t high) {
    size_t slot = (size_t)hash_combine((uint64_t)low, (uint64_t)high) & mask;
    while (table[slot].up + table[slot].down > 0 &&
           (table[slot].low != low || table[slot].high != high)) {
        slot = (slot + 1) & mask;
    }
    return &table[slot];
}

static void count_edges(const triangle_mesh* mesh, edge* table, size_t size) {
    for (int32_t i = 0; i < mesh->triangle_count; ++i) {
        for (int k = 0; k < 3; ++k) {
            int32_t from = mesh->triangles[i].at[k], to = mesh->triangles[i].at[(k + 1) % 3];
            bool is_up = from < to;
            edge* e = find_edge(table, size - 1, is_up ? from : to, is_up ? to : from);
            e->low = is_up ? from : to;
            e->high = is_up ? to : from;
            e->up += is_up ? 1 : 0;
            e->down += is_up ? 0 : 1;
        }
    }
}

static treacle_status find_bad_edges(triangle_mesh* mesh) {
    size_t size = table_size(3 * (size_t)mesh->triangle_count);
    void* block = NULL;
    TREACLE_TRY(alloc_zero(mesh->ctx, size, sizeof(edge), "the edges of a mesh", &block));
    edge* table = block;
    count_edges(mesh, table, size);
    for (size_t i = 0; i < size; ++i) {
        bool is_used = table[i].up + table[i].down > 0;
        mesh->bad_edges += is_used && (table[i].up != 1 || table[i].down != 1) ? 1 : 0;
    }
    alloc_free(mesh->ctx, table, size * sizeof(edge));
    return TREACLE_OK;
}

// Size --------------------------------------------------------------------------------------------

static void find_bounds(triangle_mesh* mesh) {
    mesh->bounds.low = mesh->bounds.high = triangle_mesh_corner(mesh, 0, 0);
    for (int32_t i = 0; i < mesh->triangle_count; ++i) {
        for (int k = 0; k < 3; ++k) {
            vec3 x = triangle_mesh_corner(mesh, i, k);
            mesh->bounds.low = vec3_min(mesh->bounds.low, x);
            mesh->bounds.high = vec3_max(mesh->bounds.high, x);
        }
    }
}

// By the divergence theorem: each triangle and the middle span a tetrahedron.
static void find_size(triangle_mesh* mesh) {
    vec3 middle = vec3_scale(0.5, vec3_add(mesh->bounds.low, mesh->bounds.high));
    for (int32_t i = 0; i < mesh->triangle_count; ++i) {
        vec3 a = vec3_sub(triangle_mesh_corner(mesh, i, 0), middle);
        vec3 b = vec3_sub(triangle_mesh_corner(mesh, i, 1), middle);
        vec3 c = vec3_sub(triangle_mesh_corner(mesh, i, 2), middle);
        vec3 normal = vec3_cross(vec3_sub(b, a), vec3_sub(c, a));
        mesh->area += 0.5 * vec3_length(normal);
        mesh->volume += vec3_dot(a, normal) / 6.0;
    }
}

static void turn_inside_out(triangle_mesh* mesh) {
    mesh->was_inside_out = true;
    mesh->volume = -mesh->volume;
    for (int32_t i = 0; i < mesh->triangle_count; ++i) {
        mesh_triangle* t = &mesh->triangles[i];
        *t = (mesh_triangle){{t->at[0], t->at[2], t->at[1]}};
    }
}

// Making ------------------------------------------------------------------------------------------

// The mesh takes over the builder's arrays.
static treacle_status take_over(mesh_builder* b, triangle_mesh** out) {
    void* block = NULL;
    TREACLE_TRY(alloc_zero(b->ctx, 1, sizeof(triangle_mesh), "a mesh", &block));
    triangle_mesh* mesh = block;
    *mesh = (triangle_mesh){.ctx = b->ctx,
                            .vertex_count = (int32_t)b->vertex_count,
                            .triangle_count = (int32_t)b->triangle_count,
                            .vertices = b->vertices,
                            .triangles = b->triangles,
                            .vertex_capacity = b->vertex_capacity,
                            .triangle_capacity = b->triangle_capacity};
    mesh_builder_init(b, b->ctx);
    *out = mesh;
    return TREACLE_OK;
}

static treacle_status triangle_mesh_finish(mesh_builder* b, const mesh_input* in,
                                           triangle_mesh** out) {
    if (b->triangle_count > 0) {
        TREACLE_TRY(weld(b));
    }
    if (b->triangle_count == 0) {
        return check_fail(b->ctx, TREACLE_ERR_FORMAT,
                          "%s: the mesh is empty: it has no triangles with three different corners",
                          in->name);
    }
    triangle_mesh* mesh = NULL;
    const uint64_t beside = b->beside;
    TREACLE_TRY(take_over(b, &mesh));
    find_bounds(mesh);
    find_size(mesh);
    if (mesh->volume < 0.0) {
        turn_inside_out(mesh);
    }
    treacle_status status = find_bad_edges(mesh);
    if (status != TREACLE_OK) {
        triangle_mesh_destroy(mesh);
        return status;
    }
    mesh->hash = hash_bytes(in->data, in->size, beside);
    *out = mesh;
    return TREACLE_OK;
}

treacle_status triangle_mesh_read(const mesh_input* in, mesh_read_fcn* reader,
                                  triangle_mesh** out) {
    TREACLE_ASSERT(reader != NULL && (in->data != NULL || in->size == 0));
    mesh_builder b;
    *out = NULL;
    mesh_builder_init(&b, in->ctx);
    treacle_status status = reader(in, &b);
    if (status == TREACLE_OK) {
        status = triangle_mesh_finish(&b, in, out);
    }
    mesh_builder_finish(&b);
    return status;
}

void triangle_mesh_destroy(triangle_mesh* mesh) {
    if (mesh != NULL) {
        alloc_free(mesh->ctx, mesh->vertices, mesh->vertex_capacity * sizeof(vec3));
        alloc_free(mesh->ctx, mesh->triangles, mesh->triangle_capacity * sizeof(mesh_triangle));
        alloc_free(mesh->ctx, mesh, sizeof(*mesh));
    }
}

bool triangle_mesh_warning(const triangle_mesh* mesh, char out[TRIANGLE_MESH_WARNING_MAX]) {
    if (mesh->bad_edges > 0) {
        snprintf(out, TRIANGLE_MESH_WARNING_MAX,
                 "the mesh is not closed: %" PRId64 " of its edges do not join exactly two "
                 "triangles of the same side; what is inside is a guess near them",
                 mesh->bad_edges);
    } else if (mesh->was_inside_out) {
        snprintf(out, TRIANGLE_MESH_WARNING_MAX,
                 "the mesh is inside out: its triangles are turned to face outwards");
    }
    return mesh->bad_edges > 0 || mesh->was_inside_out;
}

// Files -------------------------------------------------------------------------------------------

static mesh_read_fcn* reader_of(const char* path) {
    const char* dot = strrchr(path, '.');
    const char* name = dot == NULL || strchr(dot, '/') != NULL ? "" : dot + 1;
    return strcasecmp(name, "ply") == 0                                    ? mesh_ply_read
           : strcasecmp(name, "obj") == 0                                  ? mesh_obj_read
           : strcasecmp(name, "stl") == 0                                  ? mesh_stl_read
           : strcasecmp(name, "gltf") == 0 || strcasecmp(name, "glb") == 0 ? mesh_gltf_read
           : strcasecmp(name, "vdb") == 0                                  ? mesh_vdb_read
                                                                           : NULL;
}

// What to do with the bytes of a file: a mesh, or what the file says, as it says it.
typedef struct load_target {
    triangle_mesh** mesh; // NULL: as it is
    mesh_builder* raw;
} load_target;

static treacle_status load(treacle_context* ctx, const char* path, const load_target* to) {
    mesh_input in = {.ctx = ctx, .name = path};
    mesh_read_fcn* reader = reader_of(path);
    void* block = NULL;
    size_t capacity = 0;
    TREACLE_TRY(mesh_bytes_load(ctx, path, &block, &capacity, &in.size));
    in.data = block;
    treacle_status status =
        reader == NULL
            ? check_fail(ctx, TREACLE_ERR_FORMAT,
                         "%s: expected a mesh whose name ends in .ply, .obj, .stl, .gltf, .glb "
                         "or .vdb",
                         path)
        : to->mesh != NULL ? triangle_mesh_read(&in, reader, to->mesh)
                           : reader(&in, to->raw);
    alloc_free(ctx, block, capacity);
    return status;
}

treacle_status triangle_mesh_load(treacle_context* ctx, const char* path, triangle_mesh** out) {
    *out = NULL;
    return load(ctx, path, &(load_target){.mesh = out});
}

treacle_status triangle_mesh_load_raw(treacle_context* ctx, const char* path, mesh_builder* out) {
    TREACLE_ASSERT(out->vertex_count == 0 && out->triangle_count == 0);
    return load(ctx, path, &(load_target){.raw = out});
}
