// Meshes in scenes, from the file to the liquid.
#include <math.h>
#include <unistd.h>

#include "alloc_failure.h"
#include "mesh_fixture.h"

#include "geometry/shape.h"
#include "math/hash_random.h"
#include "math/mat3.h"
#include "treacle/treacle.h"

#define PI 3.14159265358979323846

static void silent(treacle_log_level level, const char* text, void* user) {
    (void)text;
    *(int*)user += level == TREACLE_LOG_WARNING ? 1 : 0;
}

static treacle_context* counting_context(int* warnings) {
    treacle_context_def def = treacle_context_def_default();
    def.threads = 1;
    def.log = silent;
    def.log_user = warnings;
    treacle_context* ctx = NULL;
    assert_int_equal(treacle_context_create(&def, &ctx), TREACLE_OK);
    return ctx;
}

static void write_soup(const char* path, mesh_soup s, mesh_format format) {
    FILE* f = fopen(path, "wb");
    assert_non_null(f);
    mesh_put_soup(f, &s, format);
    fclose(f);
    free(s.corners);
}

// A fresh folder; its files are removed at the end.
static char folder[64];
static char path_a[96], path_b[96];

static int make_folder(void** state) {
    (void)state;
    snprintf(folder, sizeof(folder), "/tmp/treacle-mesh-XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(path_a, sizeof(path_a), "%s/a.stl", folder);
    snprintf(path_b, sizeof(path_b), "%s/b.ply", folder);
    return 0;
}

static int remove_folder(void** state) {
    (void)state;
    unlink(path_a);
    unlink(path_b);
    return rmdir(folder);
}

static treacle_shape mesh_shape(const char* file) {
    treacle_shape def = treacle_shape_default(TREACLE_SHAPE_MESH);
    def.file = file;
    return def;
}

// A cube as a mesh against a box as such, both moved, turned and scaled.
static void test_mesh_is_placed_like_other_shapes(void** state) {
    (void)state;
    int warnings = 0;
    treacle_context* ctx = counting_context(&warnings);
    write_soup(path_a, mesh_soup_cube(6), MESH_STL_BINARY);
    treacle_shape box = treacle_shape_default(TREACLE_SHAPE_BOX);
    treacle_shape inner[2] = {mesh_shape(path_a), box};
    shape* compiled[2] = {NULL, NULL};
    for (int k = 0; k < 2; ++k) {
        const double rotate[3] = {0.3, -0.7, 1.1}, move[3] = {0.2, 0.5, -0.1};
        memcpy(inner[k].rotate, rotate, sizeof(rotate));
        memcpy(inner[k].move, move, sizeof(move));
        inner[k].scale = 1.7;
        treacle_shape outer = treacle_shape_default(TREACLE_SHAPE_UNION);
        outer.child_count = 1;
        outer.children = &inner[k];
        outer.rotate[1] = 0.5;
        outer.scale = 0.4;
        assert_int_equal(shape_create(ctx, &outer, &compiled[k]), TREACLE_OK);
    }
    for (uint64_t i = 0; i < 5000; ++i) {
        vec3 x;
        for (uint64_t a = 0; a < 3; ++a) {
            x.at[a] = 2.0 * hash_random_f64(a, i, RANDOM_TEST) - 1.0;
        }
        assert_close(shape_distance(compiled[0], x), shape_distance(compiled[1], x), 1e-14);
    }
    box3 a = shape_bounds(compiled[0]), b = shape_bounds(compiled[1]);
    for (int k = 0; k < 3; ++k) {
        assert_close(a.low.at[k], b.low.at[k], 1e-14);
        assert_close(a.high.at[k], b.high.at[k], 1e-14);
    }
    shape_destroy(compiled[0]);
    shape_destroy(compiled[1]);
    assert_int_equal(warnings, 0);
    unit_context_end(ctx);
}

static void test_open_mesh_is_warned_of_once(void** state) {
    (void)state;
    int warnings = 0;
    treacle_context* ctx = counting_context(&warnings);
    shape* s = NULL;
    write_soup(path_a, mesh_soup_cube(5), MESH_STL_TEXT);
    treacle_shape def = mesh_shape(path_a);
    assert_int_equal(shape_create_silent(ctx, &def, &s), TREACLE_OK);
    shape_destroy(s);
    assert_int_equal(warnings, 0);
    assert_int_equal(shape_create(ctx, &def, &s), TREACLE_OK);
    shape_destroy(s);
    assert_int_equal(warnings, 1);
    unit_context_end(ctx);
}

static treacle_status load_scene(treacle_context* ctx, const char* file, treacle_scene** out) {
    char text[512];
    snprintf(text, sizeof(text),
             "name: mesh\ndomain: {size: [2.4, 2.4, 2.4], cell: 0.1, origin: [-1.2, -1.2, -1.2]}\n"
             "liquids:\n  - shape: {mesh: {file: \"%s\"}}\n",
             file);
    return treacle_scene_parse(ctx, "test", text, strlen(text), 0, NULL, out);
}

static void test_liquid_has_the_volume_of_the_mesh(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    treacle_scene* scene = NULL;
    treacle_sim* sim = NULL;
    write_soup(path_a, mesh_soup_sphere(5), MESH_STL_BINARY);
    assert_int_equal(load_scene(ctx, path_a, &scene), TREACLE_OK);
    assert_int_equal(treacle_sim_create(ctx, treacle_scene_sim(scene), &sim), TREACLE_OK);
    triangle_mesh* mesh = NULL;
    assert_int_equal(triangle_mesh_load(ctx, path_a, &mesh), TREACLE_OK);
    double each = 0.1 * 0.1 * 0.1 / treacle_scene_sim(scene)->particles.per_cell;
    double volume = (double)treacle_sim_particle_count(sim) * each;
    assert_close(volume, mesh->volume, 0.01 * mesh->volume);
    triangle_mesh_destroy(mesh);
    treacle_sim_destroy(sim);
    treacle_scene_destroy(scene);
    unit_context_end(ctx);
}

// Bumps a third of a cell high and less than a cell wide.
static double bump(vec3 x) {
    return 1.0 + 0.06 * sin(30.0 * x.at[0]) * sin(30.0 * x.at[1]) * sin(30.0 * x.at[2]);
}

static void test_detail_below_the_cell_size_is_filled(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    treacle_scene* scene = NULL;
    treacle_sim* sim = NULL;
    treacle_frame frame;
    mesh_soup s = mesh_soup_sphere(6);
    for (int i = 0; i < 3 * s.triangles; ++i) {
        s.corners[i] = mesh_soup_rounded(vec3_scale(bump(s.corners[i]), s.corners[i]));
    }
    write_soup(path_a, s, MESH_STL_BINARY);
    char text[400];
    snprintf(text, sizeof(text),
             "domain: {size: [2.8, 2.8, 2.8], cell: 0.2, origin: [-1.4, -1.4, -1.4]}\n"
             "flow: none\nparticles: {per_cell: 27, jitter: 1}\n"
             "liquids:\n  - shape: {mesh: {file: \"%s\"}}\n",
             path_a);
    assert_int_equal(treacle_scene_parse(ctx, "test", text, strlen(text), 0, NULL, &scene),
                     TREACLE_OK);
    assert_int_equal(treacle_sim_create(ctx, treacle_scene_sim(scene), &sim), TREACLE_OK);
    assert_int_equal(treacle_sim_view(sim, TREACLE_FRAME_PICTURE, 1, &frame), TREACLE_OK);
    const treacle_array* first = treacle_frame_find(&frame, "tile_first");
    const int32_t* coord = treacle_frame_find(&frame, "tile_coord")->data;
    const float* position = treacle_frame_find(&frame, "position")->data;
    const int64_t* rows = first->data;
    int outside = 0, on_bumps = 0;
    for (int64_t t = 0; t + 1 < first->count; ++t) {
        for (int64_t i = rows[t]; i < rows[t + 1]; ++i) {
            vec3 x;
            for (int a = 0; a < 3; ++a) {
                double cells = 8.0 * coord[3 * t + a] + (double)position[3 * i + a];
                x.at[a] = frame.origin[a] + frame.cell * cells;
            }
            double r = vec3_length(x);
            outside += r > bump(vec3_scale(1.0 / r, x)) + 0.012; // facets
            on_bumps += r > 1.015;
        }
    }
    assert_int_equal(outside, 0);
    assert_true(on_bumps > 50);
    treacle_sim_destroy(sim);
    treacle_scene_destroy(scene);
    unit_context_end(ctx);
}

static uint64_t hash_of(const char* file) {
    treacle_context* ctx = unit_context(1);
    treacle_scene* scene = NULL;
    assert_int_equal(load_scene(ctx, file, &scene), TREACLE_OK);
    uint64_t hash = treacle_scene_hash(scene);
    treacle_scene_destroy(scene);
    unit_context_end(ctx);
    return hash;
}

static void test_hash_follows_the_content_and_not_the_place(void** state) {
    (void)state;
    write_soup(path_a, mesh_soup_sphere(2), MESH_STL_BINARY);
    uint64_t before = hash_of(path_a);
    write_soup(path_b, mesh_soup_sphere(2), MESH_PLY_TEXT);
    assert_true(hash_of(path_b) != before); // other bytes
    char elsewhere[256];
    snprintf(elsewhere, sizeof(elsewhere), "%s/../%s", folder, path_a + strlen("/tmp/"));
    assert_int_equal(hash_of(elsewhere), before);
    mesh_soup s = mesh_soup_sphere(2);
    s.corners[7].at[1] *= 0.5;
    write_soup(path_a, s, MESH_STL_BINARY);
    assert_true(hash_of(path_a) != before);
}

static void test_canonical_text_has_the_absolute_path(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    treacle_scene* scene = NULL;
    assert_int_equal(treacle_scene_load(ctx, "scenes/knot.yaml", 0, NULL, &scene), TREACLE_OK);
    char* absolute = realpath("scenes/meshes/knot.ply", NULL);
    assert_non_null(strstr(treacle_scene_text(scene), absolute));
    free(absolute);
    treacle_scene_destroy(scene);
    unit_context_end(ctx);
}

static treacle_status make_shape(treacle_context* ctx, void* data) {
    shape* s = NULL;
    treacle_status status = shape_create(ctx, data, &s);
    shape_destroy(s);
    return status;
}

static treacle_status make_scene(treacle_context* ctx, void* data) {
    treacle_scene* scene = NULL;
    treacle_status status = load_scene(ctx, data, &scene);
    treacle_scene_destroy(scene);
    return status;
}

static void test_failing_allocations_leave_nothing(void** state) {
    (void)state;
    write_soup(path_a, mesh_soup_cube(5), MESH_STL_TEXT);
    treacle_shape meshes[2] = {mesh_shape(path_a), mesh_shape(path_a)};
    treacle_shape both = treacle_shape_default(TREACLE_SHAPE_UNION);
    both.child_count = 2;
    both.children = meshes;
    ALLOC_FAILURE_CHECK(make_shape, &both);
    ALLOC_FAILURE_CHECK(make_scene, path_a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mesh_is_placed_like_other_shapes),
        cmocka_unit_test(test_open_mesh_is_warned_of_once),
        cmocka_unit_test(test_liquid_has_the_volume_of_the_mesh),
        cmocka_unit_test(test_detail_below_the_cell_size_is_filled),
        cmocka_unit_test(test_hash_follows_the_content_and_not_the_place),
        cmocka_unit_test(test_canonical_text_has_the_absolute_path),
        cmocka_unit_test(test_failing_allocations_leave_nothing),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
