#include "alloc_failure.h"
#include "mesh_fixture.h"

#include "base/parallel.h"
#include "geometry/mesh_tree.h"
#include "math/hash_random.h"

#define PI 3.14159265358979323846

static vec3 random_point(uint64_t id, double size) {
    vec3 x;
    for (uint64_t a = 0; a < 3; ++a) {
        x.at[a] = size * (2.0 * hash_random_f64(a, id, RANDOM_TEST) - 1.0);
    }
    return x;
}

static mesh_tree* make_tree(treacle_context* ctx, mesh_soup s) {
    triangle_mesh* mesh = mesh_soup_read(ctx, s, MESH_STL_BINARY);
    mesh_tree* tree = NULL;
    assert_int_equal(mesh_tree_create(mesh, &tree), TREACLE_OK);
    triangle_mesh_destroy(mesh);
    return tree;
}

static double winding_number(const mesh_tree* tree, vec3 x) {
    mesh_winding w = mesh_tree_wind(tree, x);
    return (w.far + atan2(w.im, w.re)) / (2.0 * PI) + w.turns;
}

static void test_sphere_has_the_distance_of_a_sphere(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    mesh_tree* tree = make_tree(ctx, mesh_soup_sphere(6));
    for (uint64_t i = 0; i < 20000; ++i) {
        vec3 x = random_point(i, i % 2 == 0 ? 1.2 : 4.0);
        assert_close(mesh_tree_distance(tree, x), vec3_length(x) - 1.0, 6e-4);
    }
    mesh_tree_destroy(tree);
    unit_context_end(ctx);
}

static double cube_distance(vec3 x) {
    double outside = 0.0, inside = -INFINITY;
    for (int a = 0; a < 3; ++a) {
        double q = fabs(x.at[a]) - 0.5;
        outside += q > 0.0 ? q * q : 0.0;
        inside = q > inside ? q : inside;
    }
    return inside > 0.0 ? sqrt(outside) : inside;
}

static void test_cube_has_the_distance_of_a_cube(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    mesh_tree* tree = make_tree(ctx, mesh_soup_cube(6));
    for (uint64_t i = 0; i < 20000; ++i) {
        vec3 x = random_point(i, i % 2 == 0 ? 0.6 : 3.0);
        assert_close(mesh_tree_distance(tree, x), cube_distance(x), 1e-14);
    }
    // On a symmetry plane, over an edge, at a corner.
    assert_close(mesh_tree_distance(tree, vec3_make(0, 0, 0)), -0.5, 0.0);
    assert_close(mesh_tree_distance(tree, vec3_make(1.5, 1.5, 0)), sqrt(2.0), 1e-15);
    assert_close(mesh_tree_distance(tree, vec3_make(0.5, 0.5, 0.5)), 0.0, 0.0);
    mesh_tree_destroy(tree);
    unit_context_end(ctx);
}

// Of a closed mesh it is 1 inside and 0 outside; the dipoles cost a little of that.
static void test_winding_number_is_whole(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    mesh_tree* tree = make_tree(ctx, mesh_soup_sphere(5));
    double worst = 0.0;
    for (uint64_t i = 0; i < 20000; ++i) {
        vec3 x = random_point(i, 1.5);
        bool is_inside = vec3_length(x) < 1.0;
        if (fabs(vec3_length(x) - 1.0) > 1e-3) {
            worst = fmax(worst, fabs(winding_number(tree, x) - (is_inside ? 1.0 : 0.0)));
        }
    }
    print_message("winding number off by at most %.3g\n", worst);
    assert_true(worst < 0.05);
    mesh_tree_destroy(tree);
    unit_context_end(ctx);
}

// Without its lid, a cube's inside is the cube but for what is near the hole.
static void test_open_cube_still_has_an_inside(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    mesh_tree* tree = make_tree(ctx, mesh_soup_cube(5));
    for (uint64_t i = 0; i < 20000; ++i) {
        vec3 x = random_point(i, 1.0);
        double distance = cube_distance(x);
        bool is_near_hole = fabs(x.at[1] - 0.5) < 0.3 && fabs(x.at[0]) < 0.5 && fabs(x.at[2]) < 0.5;
        if (!is_near_hole && fabs(distance) > 1e-6) {
            assert_int_equal(mesh_tree_is_inside(tree, x), distance < 0.0);
        }
    }
    assert_close(winding_number(tree, vec3_make(0, 0, 0)), 5.0 / 6.0, 1e-12);
    mesh_tree_destroy(tree);
    unit_context_end(ctx);
}

// Two spheres that overlap in one mesh: inside is inside of either.
static void test_parts_that_intersect_are_united(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    mesh_soup s = mesh_soup_sphere(4);
    const size_t corners = 3 * (size_t)s.triangles;
    s.corners = realloc(s.corners, 2 * corners * sizeof(vec3));
    for (size_t i = 0; i < corners; ++i) {
        s.corners[corners + i] = vec3_add(s.corners[i], vec3_make(1.0, 0.0, 0.0));
    }
    s.triangles *= 2;
    mesh_tree* tree = make_tree(ctx, s);
    for (uint64_t i = 0; i < 10000; ++i) {
        vec3 x = random_point(i, 2.5);
        double first = vec3_length(x) - 1.0;
        double second = vec3_length(vec3_sub(x, vec3_make(1.0, 0.0, 0.0))) - 1.0;
        if (fabs(first) > 0.01 && fabs(second) > 0.01) {
            assert_int_equal(mesh_tree_is_inside(tree, x), first < 0.0 || second < 0.0);
        }
    }
    mesh_tree_destroy(tree);
    unit_context_end(ctx);
}

enum { QUESTIONS = 20000 };
typedef struct question {
    const mesh_tree* tree;
    double answer[QUESTIONS];
} question;

static void ask(void* data, int64_t begin, int64_t end) {
    question* q = data;
    for (int64_t i = begin; i < end; ++i) {
        q->answer[i] = mesh_tree_distance(q->tree, random_point((uint64_t)i, 1.5));
    }
}

static void test_threads_give_the_same_bits(void** state) {
    (void)state;
    static question q[2];
    for (int k = 0; k < 2; ++k) {
        treacle_context* ctx = unit_context(k == 0 ? 1 : 4);
        mesh_tree* tree = make_tree(ctx, mesh_soup_sphere(4));
        q[k].tree = tree;
        parallel_for(ctx, QUESTIONS, 64, ask, &q[k]);
        mesh_tree_destroy(tree);
        treacle_context_destroy(ctx);
    }
    assert_memory_equal(q[0].answer, q[1].answer, sizeof(q[0].answer));
}

// Needles, flat triangles and many in one place: no number may come out that is not one.
static void test_degenerate_triangles_do_no_harm(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    mesh_soup s = mesh_soup_sphere(3);
    const int count = s.triangles;
    s.corners = realloc(s.corners, 6 * (size_t)count * sizeof(vec3));
    for (int i = 0; i < count; ++i) {
        vec3* c = &s.corners[3 * (count + i)];
        c[0] = vec3_make(0.25, 0.0, 0.0); // on a line
        c[1] = vec3_make(0.5, 0.0, 0.0);
        c[2] = vec3_make(0.75, 0.0, 0.0);
    }
    s.triangles *= 2;
    mesh_tree* tree = make_tree(ctx, s);
    for (uint64_t i = 0; i < 2000; ++i) {
        vec3 x = random_point(i, 1.2);
        double on_line = fmin(fmax(x.at[0], 0.25), 0.75);
        double line = vec3_length(vec3_sub(x, vec3_make(on_line, 0.0, 0.0)));
        double sphere = vec3_length(x) - 1.0;
        double expected = sphere < 0.0 ? -fmin(-sphere, line) : fmin(sphere, line);
        assert_close(mesh_tree_distance(tree, x), expected, 0.03);
    }
    mesh_tree_destroy(tree);
    unit_context_end(ctx);
}

static treacle_status build(treacle_context* ctx, void* data) {
    triangle_mesh* mesh = data;
    mesh_tree* tree = NULL;
    triangle_mesh copy = *mesh;
    copy.ctx = ctx;
    treacle_status status = mesh_tree_create(&copy, &tree);
    mesh_tree_destroy(tree);
    return status;
}

static void test_building_survives_every_failing_allocation(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    triangle_mesh* mesh = mesh_soup_read(ctx, mesh_soup_sphere(2), MESH_PLY_TEXT);
    ALLOC_FAILURE_CHECK(build, mesh);
    triangle_mesh_destroy(mesh);
    unit_context_end(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sphere_has_the_distance_of_a_sphere),
        cmocka_unit_test(test_cube_has_the_distance_of_a_cube),
        cmocka_unit_test(test_winding_number_is_whole),
        cmocka_unit_test(test_open_cube_still_has_an_inside),
        cmocka_unit_test(test_parts_that_intersect_are_united),
        cmocka_unit_test(test_threads_give_the_same_bits),
        cmocka_unit_test(test_degenerate_triangles_do_no_harm),
        cmocka_unit_test(test_building_survives_every_failing_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
