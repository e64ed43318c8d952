// glTF, with Assimp or without.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "geometry/triangle_mesh.h"
#include "particle_fixture.h"

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

static void test_tetrahedron_is_read_or_the_missing_library_is_named(void** state) {
    (void)state;
    const char* path = "test_mesh_gltf.gltf";
    treacle_context* ctx = make_context(1);
    triangle_mesh* mesh = NULL;
    write_file(path, tetrahedron);
    treacle_status status = triangle_mesh_load(ctx, path, &mesh);
    if (status == TREACLE_OK) {
        assert_int_equal(mesh->triangle_count, 4);
        assert_int_equal(mesh->vertex_count, 4);
        assert_int_equal(mesh->bad_edges, 0);
        assert_true(fabs(6.0 * mesh->volume - 1.0) < 1e-6);
        assert_true(fabs(mesh->bounds.low.at[0] - 2.0) < 1e-6);
    } else {
        assert_int_equal(status, TREACLE_ERR_FORMAT);
        assert_non_null(strstr(treacle_context_error(ctx), "without Assimp"));
    }
    triangle_mesh_destroy(mesh);
    remove(path);
    treacle_context_destroy(ctx);
}

static void test_rubbish_is_refused(void** state) {
    (void)state;
    const char* path = "test_mesh_gltf_bad.glb";
    treacle_context* ctx = make_context(1);
    triangle_mesh* mesh = NULL;
    write_file(path, "glTF is not this");
    assert_int_equal(triangle_mesh_load(ctx, path, &mesh), TREACLE_ERR_FORMAT);
    assert_null(mesh);
    assert_non_null(strstr(treacle_context_error(ctx), path));
    remove(path);
    treacle_context_destroy(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tetrahedron_is_read_or_the_missing_library_is_named),
        cmocka_unit_test(test_rubbish_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
