// glTF 2: all triangles of the scene, each node's where its transforms put it. Units are metres and
// y is up, as here. Materials, textures, skins and animations do not matter; points and lines are
// passed over. Packed geometry (Draco, meshopt) and sparse accessors are refused.
#include <string.h>

#include "geometry/gltf_buffer.h"
#include "math/mat3.h"

enum { DEPTH_MAX = 64, MODE_TRIANGLES = 4, MODE_STRIP = 5, MODE_FAN = 6 };

// x -> turn x + move
typedef struct placement {
    mat3 turn;
    vec3 move;
} placement;

typedef struct walker {
    gltf_file file;
    mesh_builder* out;
    uint64_t nodes_left; // a tree has each node once
} walker;

// Placements --------------------------------------------------------------------------------------

// `count` numbers of a list, `missing` where there is no list; false if it is something else.
static bool read_numbers(const json_t* object, const char* key, size_t count, const double* missing,
                         double* out) {
    const json_t* list = json_object_get(object, key);
    if (list == NULL) {
        memcpy(out, missing, count * sizeof(double));
        return true;
    }
    bool is_sound = json_is_array(list) && json_array_size(list) == count;
    for (size_t i = 0; i < count && is_sound; ++i) {
        const json_t* number = json_array_get(list, i);
        out[i] = json_number_value(number);
        is_sound = json_is_number(number) && fabs(out[i]) <= 1e30;
    }
    return is_sound;
}

static mat3 rotation_of(const double q[4]) {
    double x = q[0], y = q[1], z = q[2], w = q[3];
    return (mat3){{{1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - z * w), 2.0 * (x * z + y * w)},
                   {2.0 * (x * y + z * w), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - x * w)},
                   {2.0 * (x * z - y * w), 2.0 * (y * z + x * w), 1.0 - 2.0 * (x * x + y * y)}}};
}

// A matrix column by column, or translation, rotation and scale.
static bool read_placement(const json_t* node, placement* out) {
    static const double zeros[16] = {0}, ones[3] = {1.0, 1.0, 1.0}, upright[4] = {0, 0, 0, 1.0};
    double m[16], scale[3], q[4];
    if (json_object_get(node, "matrix") != NULL) {
        bool is_sound = read_numbers(node, "matrix", 16, zeros, m);
        for (int row = 0; row < 3 && is_sound; ++row) {
            for (int column = 0; column < 3; ++column) {
                out->turn.at[row][column] = m[4 * column + row];
            }
            out->move.at[row] = m[12 + row];
        }
        return is_sound;
    }
    bool is_sound = read_numbers(node, "translation", 3, zeros, out->move.at) &&
                    read_numbers(node, "rotation", 4, upright, q) &&
                    read_numbers(node, "scale", 3, ones, scale);
    if (is_sound) {
        out->turn = rotation_of(q);
        for (int row = 0; row < 3; ++row) {
            for (int column = 0; column < 3; ++column) {
                out->turn.at[row][column] *= scale[column];
            }
        }
    }
    return is_sound;
}

static placement compose(const placement* outer, const placement* inner) {
    return (placement){mat3_multiply(&outer->turn, &inner->turn),
                       vec3_add(mat3_apply(&outer->turn, inner->move), outer->move)};
}

// Meshes ------------------------------------------------------------------------------------------

static treacle_status add_vertices(walker* w, const placement* at, const gltf_accessor* places) {
    for (size_t i = 0; i < places->count; ++i) {
        vec3 x = vec3_make(gltf_accessor_at(places, i, 0), gltf_accessor_at(places, i, 1),
                           gltf_accessor_at(places, i, 2));
        TREACLE_TRY(mesh_check_vertex(w->file.in, (mesh_place){.byte = 0}, x));
        x = vec3_add(mat3_apply(&at->turn, x), at->move);
        TREACLE_TRY(mesh_check_vertex(w->file.in, (mesh_place){.byte = 0}, x));
        TREACLE_TRY(mesh_builder_add_vertex(w->out, x));
    }
    return TREACLE_OK;
}

// The corners of triangle t: after each other, in a strip that zigzags, or around the first.
static void corners_of(int64_t mode, size_t t, size_t corner[3]) {
    bool is_odd = t % 2 == 1;
    corner[0] = mode == MODE_TRIANGLES ? 3 * t : mode == MODE_STRIP ? t : 0;
    corner[1] = mode == MODE_TRIANGLES ? 3 * t + 1
                : mode == MODE_STRIP   ? t + (is_odd ? 2 : 1)
                                       : t + 1;
    corner[2] = mode == MODE_TRIANGLES ? 3 * t + 2
                : mode == MODE_STRIP   ? t + (is_odd ? 1 : 2)
                                       : t + 2;
}

// A mirrored mesh has its triangles turned, so that they face the same way as before.
static treacle_status add_triangles(walker* w, int64_t mode, bool is_mirrored,
                                    const gltf_accessor* indices, size_t first, size_t count) {
    size_t corners = indices == NULL ? count : indices->count;
    size_t triangles = mode == MODE_TRIANGLES ? corners / 3 : corners < 3 ? 0 : corners - 2;
    for (size_t t = 0; t < triangles; ++t) {
        size_t corner[3];
        mesh_fan fan = {0};
        corners_of(mode, t, corner);
        for (int k = 0; k < 3; ++k) {
            size_t at = corner[is_mirrored ? 2 - k : k];
            double index = indices == NULL ? (double)at : gltf_accessor_at(indices, at, 0);
            if (!(index >= 0.0 && index < (double)count)) {
                return gltf_fail(&w->file, "a triangle names the vertex %g of %zu", index, count);
            }
            TREACLE_TRY(mesh_fan_add(&fan, w->out, (int32_t)(first + (size_t)index)));
        }
    }
    return TREACLE_OK;
}

static treacle_status add_primitive(walker* w, const placement* at, const json_t* primitive) {
    const json_t* place = json_object_get(json_object_get(primitive, "attributes"), "POSITION");
    const json_t* index = json_object_get(primitive, "indices");
    int64_t mode = gltf_whole(primitive, "mode", MODE_TRIANGLES);
    gltf_accessor places, indices;
    if (place == NULL || mode < MODE_TRIANGLES || mode > MODE_FAN) {
        return TREACLE_OK;
    }
    size_t first = w->out->vertex_count;
    TREACLE_TRY(gltf_accessor_open(&w->file, place, &places));
    if (places.components != 3) {
        return gltf_fail(&w->file, "places are not of three numbers");
    }
    if (index != NULL) {
        TREACLE_TRY(gltf_accessor_open(&w->file, index, &indices));
        if (indices.components != 1) {
            return gltf_fail(&w->file, "indices are not of one number");
        }
    }
    TREACLE_TRY(add_vertices(w, at, &places));
    return add_triangles(w, mode, mat3_determinant(&at->turn) < 0.0,
                         index == NULL ? NULL : &indices, first, places.count);
}

static treacle_status add_mesh(walker* w, const placement* at, const json_t* index) {
    const json_t* mesh = gltf_item(&w->file, "meshes", index);
    const json_t* primitives = json_object_get(mesh, "primitives");
    if (mesh == NULL) {
        return gltf_fail(&w->file, "a node's mesh is missing");
    }
    for (size_t i = 0; i < json_array_size(primitives); ++i) {
        TREACLE_TRY(add_primitive(w, at, json_array_get(primitives, i)));
    }
    return TREACLE_OK;
}

// Nodes -------------------------------------------------------------------------------------------

static treacle_status add_node(walker* w, const placement* outer, const json_t* index, int depth) {
    const json_t* node = gltf_item(&w->file, "nodes", index);
    const json_t* children = json_object_get(node, "children");
    const json_t* mesh = json_object_get(node, "mesh");
    placement own;
    if (node == NULL || depth > DEPTH_MAX || w->nodes_left == 0) {
        return gltf_fail(&w->file, "its nodes are not a tree of at most %d levels", DEPTH_MAX);
    }
    w->nodes_left -= 1;
    if (!read_placement(node, &own)) {
        return gltf_fail(&w->file, "a node's place is not of numbers");
    }
    own = compose(outer, &own);
    if (mesh != NULL) {
        TREACLE_TRY(add_mesh(w, &own, mesh));
    }
    for (size_t i = 0; i < json_array_size(children); ++i) {
        TREACLE_TRY(add_node(w, &own, json_array_get(children, i), depth + 1));
    }
    return TREACLE_OK;
}

// The scene's nodes; all meshes as they are in a file without a scene.
static treacle_status add_scene(walker* w) {
    const placement here = {mat3_identity(), vec3_make(0.0, 0.0, 0.0)};
    const json_t* root = w->file.root;
    const json_t* chosen = json_object_get(root, "scene");
    const json_t* scene = chosen == NULL ? json_array_get(json_object_get(root, "scenes"), 0)
                                         : gltf_item(&w->file, "scenes", chosen);
    const json_t* nodes = json_object_get(scene, "nodes");
    w->nodes_left = json_array_size(json_object_get(root, "nodes"));
    for (size_t i = 0; i < json_array_size(nodes); ++i) {
        TREACLE_TRY(add_node(w, &here, json_array_get(nodes, i), 1));
    }
    size_t meshes = scene == NULL ? json_array_size(json_object_get(root, "meshes")) : 0;
    for (size_t i = 0; i < meshes; ++i) {
        json_t* index = json_integer((json_int_t)i);
        treacle_status status = add_mesh(w, &here, index);
        json_decref(index);
        TREACLE_TRY(status);
    }
    return TREACLE_OK;
}

static treacle_status check_extensions(const gltf_file* file) {
    const json_t* needed = json_object_get(file->root, "extensionsRequired");
    for (size_t i = 0; i < json_array_size(needed); ++i) {
        const char* name = json_string_value(json_array_get(needed, i));
        if (name != NULL && (strstr(name, "draco") != NULL || strstr(name, "meshopt") != NULL)) {
            return gltf_fail(file, "its geometry is packed (%.60s): save it unpacked", name);
        }
    }
    return TREACLE_OK;
}

treacle_status mesh_gltf_read(const mesh_input* in, mesh_builder* out) {
    walker w = {.out = out};
    treacle_status status = gltf_open(in, &w.file);
    if (status == TREACLE_OK) {
        const json_t* asset = json_object_get(w.file.root, "asset");
        const char* version = json_string_value(json_object_get(asset, "version"));
        bool is_two = version != NULL && strncmp(version, "2.", 2) == 0;
        status = is_two ? check_extensions(&w.file) : gltf_fail(&w.file, "not glTF of version 2");
    }
    status = status == TREACLE_OK ? add_scene(&w) : status;
    out->beside = w.file.beside;
    gltf_close(&w.file);
    return status;
}
