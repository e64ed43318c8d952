#include "alloc_failure.h"
#include "mesh_fixture.h"

// Area and volume, relative to what is expected, within `tolerance`.
static void check_size(mesh_soup s, int32_t vertices, const double size[2], double tolerance) {
    treacle_context* ctx = unit_context(1);
    for (int format = 0; format < MESH_FORMATS; ++format) {
        mesh_soup copy = {s.triangles, calloc(3 * (size_t)s.triangles, sizeof(vec3))};
        memcpy(copy.corners, s.corners, 3 * (size_t)s.triangles * sizeof(vec3));
        triangle_mesh* mesh = mesh_soup_read(ctx, copy, (mesh_format)format);
        assert_int_equal(mesh->vertex_count, vertices);
        assert_int_equal(mesh->triangle_count, s.triangles);
        assert_int_equal(mesh->bad_edges, 0);
        assert_false(mesh->was_inside_out);
        assert_close(mesh->area, size[0], tolerance * size[0]);
        assert_close(mesh->volume, size[1], tolerance * size[1]);
        for (int i = 0; i < 3 * s.triangles; ++i) {
            vec3 x = triangle_mesh_corner(mesh, i / 3, i % 3);
            assert_memory_equal(&x, &s.corners[i], sizeof(x));
        }
        triangle_mesh_destroy(mesh);
    }
    free(s.corners);
    unit_context_end(ctx);
}

static void test_every_format_gives_the_same_mesh(void** state) {
    (void)state;
    const double pi = 3.14159265358979323846;
    check_size(mesh_soup_tetrahedron(), 4, (double[]){1.5 + 0.5 * sqrt(3.0), 1.0 / 6.0}, 1e-15);
    check_size(mesh_soup_cube(6), 8, (double[]){6.0, 1.0}, 1e-15);
    check_size(mesh_soup_sphere(4), 1026, (double[]){4.0 * pi, 4.0 / 3.0 * pi}, 0.01);
}

static void test_bounds_ignore_vertices_without_faces(void** state) {
    (void)state;
    static const char obj[] = "v 0 0 0\nv 9 9 9\nv 1 0 0\nv 0 2 0\nv 0 0 -3\nf 1 3 4 5\n";
    treacle_context* ctx = unit_context(1);
    mesh_input in = {ctx, "a.obj", (const uint8_t*)obj, strlen(obj)};
    triangle_mesh* mesh = NULL;
    assert_int_equal(triangle_mesh_read(&in, mesh_obj_read, &mesh), TREACLE_OK);
    assert_int_equal(mesh->triangle_count, 2); // a fan
    const box3 expected = {{{0, 0, -3}}, {{1, 2, 0}}};
    assert_memory_equal(&mesh->bounds, &expected, sizeof(expected));
    triangle_mesh_destroy(mesh);
    unit_context_end(ctx);
}

static void test_cube_without_a_lid_has_four_bad_edges(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    char warning[TRIANGLE_MESH_WARNING_MAX] = "";
    triangle_mesh* closed = mesh_soup_read(ctx, mesh_soup_cube(6), MESH_STL_BINARY);
    triangle_mesh* open = mesh_soup_read(ctx, mesh_soup_cube(5), MESH_STL_BINARY);
    assert_false(triangle_mesh_warning(closed, warning));
    assert_int_equal(open->bad_edges, 4);
    assert_true(triangle_mesh_warning(open, warning));
    assert_non_null(strstr(warning, "4 of its edges"));
    triangle_mesh_destroy(closed);
    triangle_mesh_destroy(open);
    unit_context_end(ctx);
}

static void test_triangle_turned_over_has_three_bad_edges(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    mesh_soup s = mesh_soup_sphere(2);
    vec3 swapped = s.corners[30];
    s.corners[30] = s.corners[31];
    s.corners[31] = swapped;
    triangle_mesh* mesh = mesh_soup_read(ctx, s, MESH_OBJ);
    assert_int_equal(mesh->bad_edges, 3);
    triangle_mesh_destroy(mesh);
    unit_context_end(ctx);
}

static void test_mesh_inside_out_is_turned(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    mesh_soup s = mesh_soup_cube(6);
    for (int i = 0; i < s.triangles; ++i) {
        vec3 swapped = s.corners[3 * i];
        s.corners[3 * i] = s.corners[3 * i + 1];
        s.corners[3 * i + 1] = swapped;
    }
    triangle_mesh* mesh = mesh_soup_read(ctx, s, MESH_PLY_BIG);
    assert_true(mesh->was_inside_out);
    assert_close(mesh->volume, 1.0, 1e-12);
    assert_int_equal(mesh->bad_edges, 0);
    triangle_mesh_destroy(mesh);
    unit_context_end(ctx);
}

// Other elements, lists of other types, polygons, doubles, blank lines, CRLF.
static void test_ply_with_much_beside_it(void** state) {
    (void)state;
    static const char ply[] =
        "ply\r\nformat ascii 1.0\r\nobj_info x\r\nelement camera 1\r\nproperty list ushort double "
        "k\r\nelement face 6\r\nproperty uchar red\r\nproperty list int uint "
        "vertex_index\r\nelement vertex 8\r\nproperty uchar a\r\nproperty double z\r\nproperty "
        "float64 y\r\nproperty double x\r\nelement nothing 1000000000\r\nend_header\r\n2 1.5 -2\r\n"
        "7 4 0 1 3 2\r\n7 4 4 6 7 5\r\n\r\n7 4 0 4 5 1\r\n7 4 2 3 7 6\r\n7 4 0 2 6 4\r\n7 4 1 5 7 "
        "3\r\n9 0 0 0\r\n9 0 0 1\r\n9 0 1 0\r\n9 0 1 1\r\n9 1 0 0\r\n9 1 0 1\r\n9 1 1 0\r\n9 "
        "1e0 1 1.00000000000000000";
    treacle_context* ctx = unit_context(1);
    mesh_input in = {ctx, "a.ply", (const uint8_t*)ply, strlen(ply)};
    triangle_mesh* mesh = NULL;
    treacle_status status = triangle_mesh_read(&in, mesh_ply_read, &mesh);
    assert_string_equal(treacle_context_error(ctx), "");
    assert_int_equal(status, TREACLE_OK);
    assert_int_equal(mesh->triangle_count, 12);
    assert_int_equal(mesh->bad_edges, 0);
    assert_close(mesh->volume, 1.0, 1e-15);
    triangle_mesh_destroy(mesh);
    unit_context_end(ctx);
}

#define HEAD "ply\nformat ascii 1.0\n"
#define XYZ "property float x\nproperty float y\nproperty float z\n"
#define LIST "property list uchar int vertex_indices\nend_header\n"

static void test_bad_files_are_refused_at_their_place(void** state) {
    (void)state;
    static const struct {
        mesh_read_fcn* reader;
        const char *text, *says;
    } cases[] = {
        {mesh_ply_read, "", "bad:1: this is not a PLY file"},
        {mesh_ply_read, "solid\n", "bad:1: this is not a PLY file"},
        {mesh_ply_read, HEAD, "bad:3: the file is cut off: there is no 'end_header'"},
        {mesh_ply_read, "ply\nformat ascii 2.0\n", "bad:2: expected ascii, binary"},
        {mesh_ply_read, "ply\nend_header\n", "bad:2: the header has no line such as 'format"},
        {mesh_ply_read, HEAD "property float x\n", "bad:3: a property before the first element"},
        {mesh_ply_read, HEAD "element vertex -1\n", "bad:3: expected a name and a count"},
        {mesh_ply_read, HEAD "element vertex 1\nproperty quad x\n", "bad:4: expected a type"},
        {mesh_ply_read, HEAD "element vertex 1\nproperty list float int x\n",
         "bad:4: expected a type of whole numbers"},
        {mesh_ply_read, HEAD "element vertex 1\nproperty float x\nend_header\n0\n",
         "bad:3: vertices need the properties x, y and z"},
        {mesh_ply_read, HEAD "element vertex 1\nelement vertex 1\n",
         "bad:4: expected each element"},
        {mesh_ply_read, HEAD "element face 1\nproperty int x\nend_header\n0\n",
         "bad:3: faces need the list vertex_indices"},
        {mesh_ply_read, HEAD "element vertex 1000000000\n" XYZ "end_header\n0 0 0\n",
         "bad:3: there should be 1000000000 rows of at least 6 bytes, but only 6"},
        {mesh_ply_read, HEAD "element vertex 1\n" XYZ "end_header\n0 0 nan\n",
         "bad:8: a vertex is at (0, 0, nan)"},
        {mesh_ply_read, HEAD "element vertex 1\n" XYZ "end_header\n0 0 1e31\n",
         "bad:8: a vertex is at (0, 0, 1e+31)"},
        {mesh_ply_read, HEAD "element vertex 1\n" XYZ "end_header\n0 0 x1\n",
         "bad:8: expected a number, got 'x1'"},
        {mesh_ply_read, HEAD "element vertex 1\n" XYZ "end_header\n0 000\n",
         "bad:8: the line is too short"},
        {mesh_ply_read, HEAD "element vertex 2\n" XYZ "end_header\n0 0 0000000\n",
         "bad:9: the file is cut off: row 2 of 2"},
        {mesh_ply_read, HEAD "element vertex 1\n" XYZ "element face 1\n" LIST "0 0 0\n3 0 0 1\n",
         "bad:11: a face names the vertex 1, but there are 1"},
        {mesh_ply_read, HEAD "element vertex 1\n" XYZ "element face 1\n" LIST "0 0 0\n3 0 0 -1\n",
         "bad:11: a face names the vertex -1"},
        {mesh_ply_read, HEAD "element vertex 1\n" XYZ "element face 1\n" LIST "0 0 0\n3 0 0\n",
         "bad:11: the line is too short"},
        {mesh_ply_read, HEAD "element vertex 1\n" XYZ "element face 1\n" LIST "0 0 0\n2 0 0\n",
         "bad:11: a face has 2 items; at least 3"},
        {mesh_ply_read, HEAD "element vertex 1\n" XYZ "element face 1\n" LIST "0 0 0\n3 0 0 0.5\n",
         "bad:11: expected a whole number, got '0.5'"},
        {mesh_ply_read, HEAD "element vertex 1\n" XYZ "element face 1\n" LIST "0 0 0\n3 0 0 0\n",
         "bad: the mesh is empty"},
        {mesh_ply_read, HEAD "element vertex 1\n" XYZ "end_header\n0 0 0\n",
         "bad: the mesh is empty"},
        {mesh_ply_read,
         "ply\nformat binary_little_endian 1.0\nelement x 1\nproperty int a\nelement face 1\n" LIST
         "\1\1\1\1\3",
         "byte 133: the file is cut off"},
        {mesh_obj_read, "", "bad: the mesh is empty"},
        {mesh_obj_read, "v 0 0\n", "bad:1: the vertex has no z"},
        {mesh_obj_read, "\nv 0 0 1,5\n", "bad:2: expected a number for z of a vertex, got '1,5'"},
        {mesh_obj_read, "v 0 0 -inf\n", "bad:1: a vertex is at (0, 0, -inf)"},
        {mesh_obj_read, "v 0 0 0\nf 1 1\n", "bad:2: a face has 2 corners"},
        {mesh_obj_read, "v 0 0 0\nf 1 1 2\n", "bad:2: a face names the vertex 2, but there are 1"},
        {mesh_obj_read, "v 0 0 0\nf -1 -1 -2\n", "bad:2: a face names the vertex -2"},
        {mesh_obj_read, "v 0 0 0\nf 1 1 0\n", "bad:2: expected a corner"},
        {mesh_obj_read, "v 0 0 0\nf 1 1 /1\n", "bad:2: expected a corner"},
        {mesh_obj_read, "v 0 0 0\nf 1 1 \\\n 99999999999999999999\n", "bad:2: expected a corner"},
        {mesh_stl_read, "", "byte 0: this is not an STL file"},
        {mesh_stl_read, "ply\n", "byte 0: this is not an STL file"},
        {mesh_stl_read, "solid x\n", "bad:2: the file is cut off"},
        {mesh_stl_read, "solid\nfacet normal 0 0 1\nvertex 0 0 0\nendfacet\n",
         "bad:4: a facet has 1 corners"},
        {mesh_stl_read, "solid\nvertex 0 0 0\n", "bad:2: expected a facet or endsolid"},
        {mesh_stl_read, "solid\nfacet\nfacet\n", "bad:3: expected a vertex or endfacet"},
        {mesh_stl_read, "solid\nfacet\nvertex 0 0 nan\n", "bad:3: a vertex is at"},
        {mesh_stl_read, "solid\nendsolid\n", "bad: the mesh is empty"},
        {mesh_stl_read,
         "01234567890123456789012345678901234567890123456789012345678901234567890123456789\xff\xff"
         "\xff"
         "\x7f",
         "byte 80: the file is cut off, or is not an STL file: there should be 2147483647"},
    };
    treacle_context* ctx = unit_context(1);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
        triangle_mesh* mesh = NULL;
        mesh_input in = {ctx, "bad", (const uint8_t*)cases[i].text, strlen(cases[i].text)};
        assert_int_equal(triangle_mesh_read(&in, cases[i].reader, &mesh), TREACLE_ERR_FORMAT);
        assert_null(mesh);
        assert_error_says(ctx, cases[i].says);
    }
    unit_context_end(ctx);
}

// A file that ends early is refused, wherever it ends; and no reader looks beyond its end.
static void test_every_cut_is_refused(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    mesh_soup s = mesh_soup_cube(6);
    for (int format = 0; format < MESH_FORMATS; ++format) {
        mesh_input whole = mesh_soup_file(ctx, &s, (mesh_format)format);
        for (size_t size = 0; size + 2 < whole.size && format != MESH_OBJ; ++size) {
            uint8_t* copy = malloc(size + 1);
            memcpy(copy, whole.data, size);
            mesh_input in = {ctx, "cut", copy, size};
            triangle_mesh* mesh = NULL;
            treacle_status status = triangle_mesh_read(&in, mesh_readers[format], &mesh);
            // Text: the last word may be cut and be another word.
            bool may_pass = format == MESH_STL_TEXT && size + 9 >= whole.size;
            assert_true(status == TREACLE_ERR_FORMAT || may_pass);
            triangle_mesh_destroy(mesh);
            free(copy);
        }
        free((void*)(uintptr_t)whole.data);
    }
    free(s.corners);
    unit_context_end(ctx);
}

static void test_files_that_cannot_be_read(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    triangle_mesh* mesh = NULL;
    assert_int_equal(triangle_mesh_load(ctx, "tests/none.ply", &mesh), TREACLE_ERR_IO);
    assert_error_says(ctx, "cannot read the mesh tests/none.ply: No such file");
    assert_int_equal(triangle_mesh_load(ctx, "tests", &mesh), TREACLE_ERR_IO);
    assert_error_says(ctx, "it is a folder");
    assert_int_equal(triangle_mesh_load(ctx, "/dev/null", &mesh), TREACLE_ERR_IO);
    assert_error_says(ctx, "it is not a plain file");
    assert_int_equal(triangle_mesh_load(ctx, "README.md", &mesh), TREACLE_ERR_FORMAT);
    assert_error_says(ctx, "ends in .ply, .obj, .stl, .gltf, .glb or .vdb");
    assert_null(mesh);
    unit_context_end(ctx);
}

static treacle_status read_cube(treacle_context* ctx, void* data) {
    mesh_soup s = mesh_soup_sphere(2);
    const mesh_format format = *(mesh_format*)data;
    mesh_input in = mesh_soup_file(ctx, &s, format);
    triangle_mesh* mesh = NULL;
    treacle_status status = triangle_mesh_read(&in, mesh_readers[format], &mesh);
    triangle_mesh_destroy(mesh);
    free((void*)(uintptr_t)in.data);
    free(s.corners);
    return status;
}

static void test_reading_survives_every_failing_allocation(void** state) {
    (void)state;
    for (mesh_format format = MESH_PLY_TEXT; format < MESH_FORMATS; ++format) {
        ALLOC_FAILURE_CHECK(read_cube, &format);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_format_gives_the_same_mesh),
        cmocka_unit_test(test_bounds_ignore_vertices_without_faces),
        cmocka_unit_test(test_cube_without_a_lid_has_four_bad_edges),
        cmocka_unit_test(test_triangle_turned_over_has_three_bad_edges),
        cmocka_unit_test(test_mesh_inside_out_is_turned),
        cmocka_unit_test(test_ply_with_much_beside_it),
        cmocka_unit_test(test_bad_files_are_refused_at_their_place),
        cmocka_unit_test(test_every_cut_is_refused),
        cmocka_unit_test(test_files_that_cannot_be_read),
        cmocka_unit_test(test_reading_survives_every_failing_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
