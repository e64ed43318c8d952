// glTF: where its triangles are, and what is refused.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "alloc_failure.h"
#include "geometry/triangle_mesh.h"

// A tetrahedron of edge 1 along the axes, moved by 2 along x: 4 places as floats, 12 indices as
// 16-bit numbers.
static const char tetrahedron[] =
    "{\"asset\": {\"version\": \"2.0\"}, \"scene\": 0, \"scenes\": [{\"nodes\": [0]}],"
    " \"nodes\": [{\"mesh\": 0, \"translation\": [2, 0, 0]}],"
    " \"meshes\": [{\"primitives\": [{\"attributes\": {\"POSITION\": 0}, \"indices\": 1}]}],"
    " \"accessors\": [{\"bufferView\": 0, \"componentType\": 5126, \"count\": 4,"
    " \"type\": \"VEC3\", \"min\": [0, 0, 0], \"max\": [1, 1, 1]},"
    " {\"bufferView\": 1, \"componentType\": 5123, \"count\": 12, \"type\": \"SCALAR\"}],"
    " \"bufferViews\": [{\"buffer\": 0, \"byteOffset\": 0, \"byteLength\": 48},"
    " {\"buffer\": 0, \"byteOffset\": 48, \"byteLength\": 24}],"
    " \"buffers\": [{\"byteLength\": 72, \"uri\": \"data:application/octet-stream;base64,"
    "AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAAAAAAAAAAAAAAAIA/AAACAAEAAAABAAMA"
    "AAADAAIAAQACAAMA\"}]}";

static void write_file(const char* path, const char* text) {
    FILE* file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    fclose(file);
}

static void check_tetrahedron(const char* path, double x) {
    treacle_context* ctx = unit_context(1);
    triangle_mesh* mesh = NULL;
    assert_int_equal(triangle_mesh_load(ctx, path, &mesh), TREACLE_OK);
    assert_int_equal(mesh->triangle_count, 4);
    assert_int_equal(mesh->vertex_count, 4);
    assert_int_equal(mesh->bad_edges, 0);
    assert_false(mesh->was_inside_out);
    assert_close(6.0 * mesh->volume, 1.0, 1e-6);
    assert_close(mesh->bounds.low.at[0], x, 1e-6);
    triangle_mesh_destroy(mesh);
    unit_context_end(ctx);
}

static void test_tetrahedron_is_read(void** state) {
    (void)state;
    const char* path = "test_mesh_gltf.gltf";
    write_file(path, tetrahedron);
    check_tetrahedron(path, 2.0);
    remove(path);
}

// The text with `from` replaced by `to`, into a file of its own.
static void write_changed(const char* path, const char* from, const char* to) {
    char text[2 * sizeof(tetrahedron)];
    const char* at = strstr(tetrahedron, from);
    assert_non_null(at);
    snprintf(text, sizeof(text), "%.*s%s%s", (int)(at - tetrahedron), tetrahedron, to,
             at + strlen(from));
    write_file(path, text);
}

static void test_nodes_place_their_meshes(void** state) {
    (void)state;
    static const struct {
        const char* node;
        double x;
    } nodes[] = {
        {"\"matrix\": [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 7, 0, 0, 1]", 7.0},
        {"\"rotation\": [0, 0, 0.7071067811865476, 0.7071067811865476]", -1.0},
        {"\"scale\": [-1, 1, 1]", -1.0}, // mirrored, and still not inside out
    };
    const char* path = "test_mesh_gltf_placed.gltf";
    for (size_t i = 0; i < sizeof(nodes) / sizeof(nodes[0]); ++i) {
        write_changed(path, "\"translation\": [2, 0, 0]", nodes[i].node);
        check_tetrahedron(path, nodes[i].x);
    }
    remove(path);
}

static void test_buffers_may_be_in_files_beside_and_count_in_the_hash(void** state) {
    (void)state;
    static const float places[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
    static const uint16_t corners[] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};
    const char *path = "test_mesh_gltf_apart.gltf", *beside = "test mesh gltf.bin";
    char uri[300];
    const char* begin = strstr(tetrahedron, "data:");
    snprintf(uri, sizeof(uri), "%.*s", (int)(strchr(begin, '"') - begin), begin);
    write_changed(path, uri, "test%20mesh%20gltf.bin");
    uint64_t hashes[2];
    for (int i = 0; i < 2; ++i) {
        FILE* file = fopen(beside, "wb");
        assert_non_null(file);
        fwrite(places, sizeof(places), 1, file);
        fwrite(corners, sizeof(corners), 1, file);
        fwrite("more", 1, (size_t)i, file);
        fclose(file);
        check_tetrahedron(path, 2.0);
        treacle_context* ctx = unit_context(1);
        triangle_mesh* mesh = NULL;
        assert_int_equal(triangle_mesh_load(ctx, path, &mesh), TREACLE_OK);
        hashes[i] = mesh->hash;
        triangle_mesh_destroy(mesh);
        unit_context_end(ctx);
    }
    assert_true(hashes[0] != hashes[1]);
    remove(path);
    remove(beside);
}

static void test_what_is_wrong_is_said(void** state) {
    (void)state;
    static const struct {
        const char *from, *to, *says;
    } cases[] = {
        {"\"2.0\"", "\"1.0\"", "not glTF of version 2"},
        {"\"count\": 12", "\"count\": 13", "not inside its buffer view"},
        {"\"byteLength\": 24", "\"byteLength\": 25", "not inside its buffer"},
        {"\"byteOffset\": 48", "\"byteOffset\": 9223372036854775807", "not inside its buffer"},
        {"\"count\": 4", "\"count\": 3", "vertex 3 of 3"},
        {"\"mesh\": 0", "\"mesh\": 1", "mesh is missing"},
        {"\"mesh\": 0", "\"children\": [0]", "not a tree"},
        {"\"componentType\": 5126", "\"componentType\": 5124", "not inside its buffer view"},
        {"\"translation\": [2, 0, 0]", "\"translation\": [2, \"x\", 0]", "not of numbers"},
        {"data:application/octet-stream;base64,", "../secret", "not in a file beside it"},
        {"data:application/octet-stream;base64,", "/etc/passwd", "not in a file beside it"},
        {";base64,", ";base64,*", "not in base64"},
        {"\"scene\": 0", "\"extensionsRequired\": [\"KHR_draco_mesh_compression\"]", "packed"},
        {"\"min\": [0, 0, 0]", "\"sparse\": {}", "sparse"},
    };
    const char* path = "test_mesh_gltf_wrong.gltf";
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
        treacle_context* ctx = unit_context(1);
        triangle_mesh* mesh = NULL;
        write_changed(path, cases[i].from, cases[i].to);
        assert_int_equal(triangle_mesh_load(ctx, path, &mesh), TREACLE_ERR_FORMAT);
        assert_error_says(ctx, cases[i].says);
        unit_context_end(ctx);
    }
    remove(path);
}

static treacle_status load(treacle_context* ctx, void* data) {
    triangle_mesh* mesh = NULL;
    treacle_status status = triangle_mesh_load(ctx, data, &mesh);
    triangle_mesh_destroy(mesh);
    return status;
}

static void test_every_allocation_may_fail(void** state) {
    (void)state;
    char path[] = "test_mesh_gltf_memory.gltf";
    write_file(path, tetrahedron);
    ALLOC_FAILURE_CHECK(load, path);
    remove(path);
}

static void test_rubbish_is_refused(void** state) {
    (void)state;
    const char* path = "test_mesh_gltf_bad.glb";
    treacle_context* ctx = unit_context(1);
    triangle_mesh* mesh = NULL;
    write_file(path, "glTF is not this");
    assert_int_equal(triangle_mesh_load(ctx, path, &mesh), TREACLE_ERR_FORMAT);
    assert_null(mesh);
    assert_non_null(strstr(treacle_context_error(ctx), path));
    remove(path);
    unit_context_end(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tetrahedron_is_read),
        cmocka_unit_test(test_nodes_place_their_meshes),
        cmocka_unit_test(test_buffers_may_be_in_files_beside_and_count_in_the_hash),
        cmocka_unit_test(test_what_is_wrong_is_said),
        cmocka_unit_test(test_every_allocation_may_fail),
        cmocka_unit_test(test_rubbish_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
