#include "alloc_failure.h"

#include "base/alloc.h"
#include "geometry/shape.h"
#include "math/hash_random.h"
#include "math/mat3.h"

#define PI 3.14159265358979323846

static double random_in(uint64_t id, uint64_t seed, double low, double high) {
    return low + (high - low) * hash_random_f64(seed, id, RANDOM_TEST);
}

static vec3 random_point(uint64_t id, double size) {
    return vec3_make(random_in(id, 1, -size, size), random_in(id, 2, -size, size),
                     random_in(id, 3, -size, size));
}

static treacle_shape placed(treacle_shape_kind kind) {
    treacle_shape def = treacle_shape_default(kind);
    const double size[3] = {0.6, 1.0, 0.4}, move[3] = {0.3, -0.2, 0.1},
                 rotate[3] = {0.5, -1.1, 2.0};
    memcpy(def.size, size, sizeof(size));
    memcpy(def.move, move, sizeof(move));
    memcpy(def.rotate, rotate, sizeof(rotate));
    def.radius = 0.5;
    def.height = 0.8;
    def.thickness = 0.2;
    def.scale = 1.3;
    return def;
}

static shape* compile(treacle_context* ctx, const treacle_shape* def) {
    shape* s = NULL;
    assert_int_equal(shape_create(ctx, def, &s), TREACLE_OK);
    return s;
}

static const treacle_shape_kind primitives[] = {TREACLE_SHAPE_BOX,      TREACLE_SHAPE_SPHERE,
                                                TREACLE_SHAPE_CYLINDER, TREACLE_SHAPE_CAPSULE,
                                                TREACLE_SHAPE_TORUS,    TREACLE_SHAPE_PLANE};
enum { PRIMITIVES = sizeof(primitives) / sizeof(primitives[0]) };

static void test_distances_of_the_default_shapes(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    static const struct {
        treacle_shape_kind kind;
        double x[3], distance;
    } cases[] = {
        {TREACLE_SHAPE_BOX, {0.0, 0.0, 0.0}, -0.5},
        {TREACLE_SHAPE_BOX, {2.0, 0.0, 0.1}, 1.5},
        {TREACLE_SHAPE_BOX, {3.5, 4.5, 0.0}, 5.0},
        {TREACLE_SHAPE_BOX, {0.1, -0.4, 0.2}, -0.1},
        {TREACLE_SHAPE_SPHERE, {0.0, 0.0, 2.0}, 1.5},
        {TREACLE_SHAPE_SPHERE, {0.0, 0.1, 0.0}, -0.4},
        {TREACLE_SHAPE_CYLINDER, {0.0, 0.0, 0.0}, -0.5},
        {TREACLE_SHAPE_CYLINDER, {0.0, 1.0, 0.2}, 0.5},
        {TREACLE_SHAPE_CYLINDER, {3.5, 4.5, 0.0}, 5.0},
        {TREACLE_SHAPE_CAPSULE, {0.0, 1.25, 0.0}, 0.25},
        {TREACLE_SHAPE_CAPSULE, {1.0, 0.3, 0.0}, 0.5},
        {TREACLE_SHAPE_TORUS, {0.0, 0.0, 0.0}, 0.4},
        {TREACLE_SHAPE_TORUS, {0.5, 0.0, 0.0}, -0.1},
        {TREACLE_SHAPE_TORUS, {0.0, 0.3, 0.5}, 0.2},
        {TREACLE_SHAPE_PLANE, {5.0, 2.0, -7.0}, 2.0},
        {TREACLE_SHAPE_PLANE, {5.0, -2.0, -7.0}, -2.0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
        treacle_shape def = treacle_shape_default(cases[i].kind);
        shape* s = compile(ctx, &def);
        assert_close(shape_distance(s, vec3_from(cases[i].x)), cases[i].distance, 1e-15);
        assert_int_equal(shape_is_inside(s, vec3_from(cases[i].x)), cases[i].distance < 0.0);
        shape_destroy(s);
    }
    unit_context_end(ctx);
}

static void test_placement_scales_then_turns_then_moves(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    for (int k = 0; k < PRIMITIVES; ++k) {
        treacle_shape def = placed(primitives[k]), plain = def;
        memset(plain.move, 0, sizeof(plain.move));
        memset(plain.rotate, 0, sizeof(plain.rotate));
        plain.scale = 1.0;
        shape* s = compile(ctx, &def);
        shape* p = compile(ctx, &plain);
        mat3 rotation = mat3_rotation(def.rotate);
        for (uint64_t i = 0; i < 200; ++i) {
            vec3 local = random_point(i, 2.0);
            vec3 x = vec3_add_scaled(vec3_from(def.move), def.scale, mat3_apply(&rotation, local));
            assert_close(shape_distance(s, x), def.scale * shape_distance(p, local), 1e-14);
        }
        shape_destroy(s);
        shape_destroy(p);
    }
    unit_context_end(ctx);
}

// |grad d| = 1 almost everywhere, and x - d grad d lies on the surface: distances are exact.
static void test_distances_of_primitives_are_exact(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    for (int k = 0; k < PRIMITIVES; ++k) {
        treacle_shape def = placed(primitives[k]);
        shape* s = compile(ctx, &def);
        int sharp = 0;
        for (uint64_t i = 0; i < 500; ++i) {
            vec3 x = random_point(i, 2.0);
            vec3 gradient = shape_gradient(s, x, 1e-5);
            if (fabs(vec3_length(gradient) - 1.0) > 1e-6) {
                sharp += 1; // at a crease
                continue;
            }
            vec3 foot = vec3_add_scaled(x, -shape_distance(s, x), gradient);
            assert_close(shape_distance(s, foot), 0.0, 1e-6);
        }
        assert_true(sharp < 5);
        shape_destroy(s);
    }
    unit_context_end(ctx);
}

static void test_bounds_of_primitives_are_the_smallest(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    for (int k = 0; k < PRIMITIVES - 1; ++k) {
        treacle_shape def = placed(primitives[k]);
        shape* s = compile(ctx, &def);
        box3 box = shape_bounds(s);
        // The farthest point along an axis is at distance zero from the box's face: no point of the
        // face is inside, and moved in by a little there is one.
        for (int a = 0; a < 3; ++a) {
            for (int side = 0; side < 2; ++side) {
                double nearest = INFINITY;
                for (int i = 0; i <= 100; ++i) {
                    for (int j = 0; j <= 100; ++j) {
                        int b = (a + 1) % 3, c = (a + 2) % 3;
                        vec3 x;
                        x.at[a] = side == 0 ? box.low.at[a] : box.high.at[a];
                        x.at[b] = box.low.at[b] + (box.high.at[b] - box.low.at[b]) * i / 100.0;
                        x.at[c] = box.low.at[c] + (box.high.at[c] - box.low.at[c]) * j / 100.0;
                        nearest = fmin(nearest, shape_distance(s, x));
                    }
                }
                assert_true(nearest > -1e-12 && nearest < 0.02);
            }
        }
        shape_destroy(s);
    }
    treacle_shape plane = treacle_shape_default(TREACLE_SHAPE_PLANE);
    shape* s = compile(ctx, &plane);
    assert_true(isinf(shape_bounds(s).low.at[0]) && isinf(shape_bounds(s).high.at[1]));
    shape_destroy(s);
    unit_context_end(ctx);
}

typedef struct pair_of_shapes {
    treacle_shape child[2], set;
} pair_of_shapes;

static void make_pair(pair_of_shapes* pair, treacle_shape_kind kind) {
    pair->child[0] = placed(TREACLE_SHAPE_BOX);
    pair->child[1] = treacle_shape_default(TREACLE_SHAPE_SPHERE);
    pair->child[1].move[0] = 0.4;
    pair->set = treacle_shape_default(kind);
    pair->set.child_count = 2;
    pair->set.children = pair->child;
}

static void test_set_operations_follow_logic(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    const treacle_shape_kind kinds[] = {TREACLE_SHAPE_UNION, TREACLE_SHAPE_INTERSECTION,
                                        TREACLE_SHAPE_DIFFERENCE};
    for (int k = 0; k < 3; ++k) {
        pair_of_shapes def;
        make_pair(&def, kinds[k]);
        shape* s = compile(ctx, &def.set);
        shape* a = compile(ctx, &def.child[0]);
        shape* b = compile(ctx, &def.child[1]);
        memset(&def, 0xff, sizeof(def)); // the copy is deep
        box3 box = shape_bounds(s);
        int inside = 0;
        for (uint64_t i = 0; i < 2000; ++i) {
            vec3 x = random_point(i, 1.2);
            bool in_a = shape_is_inside(a, x), in_b = shape_is_inside(b, x);
            bool expected = k == 0 ? in_a || in_b : k == 1 ? in_a && in_b : in_a && !in_b;
            assert_int_equal(shape_is_inside(s, x), expected);
            inside += expected;
            box3 point = {x, x};
            assert_true(!expected || !box3_is_empty(box3_intersect(box, point)));
        }
        assert_true(inside > 20);
        shape_destroy(s);
        shape_destroy(a);
        shape_destroy(b);
    }
    unit_context_end(ctx);
}

static void test_placement_of_a_set_carries_its_children(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    pair_of_shapes def;
    make_pair(&def, TREACLE_SHAPE_UNION);
    shape* plain = compile(ctx, &def.set);
    treacle_shape frame = placed(TREACLE_SHAPE_PLANE);
    frame.rotate[1] = 0.7; // turns that do not commute with the child's
    memcpy(def.set.move, frame.move, sizeof(frame.move));
    memcpy(def.set.rotate, frame.rotate, sizeof(frame.rotate));
    def.set.scale = frame.scale;
    shape* s = compile(ctx, &def.set);
    mat3 rotation = mat3_rotation(frame.rotate);
    for (uint64_t i = 0; i < 200; ++i) {
        vec3 local = random_point(i, 2.0);
        vec3 x = vec3_add_scaled(vec3_from(frame.move), frame.scale, mat3_apply(&rotation, local));
        assert_close(shape_distance(s, x), frame.scale * shape_distance(plain, local), 1e-14);
    }
    shape_destroy(plain);
    shape_destroy(s);
    unit_context_end(ctx);
}

static void test_an_empty_intersection_has_empty_bounds(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    pair_of_shapes def;
    make_pair(&def, TREACLE_SHAPE_INTERSECTION);
    def.child[1].move[1] = 50.0;
    shape* s = compile(ctx, &def.set);
    assert_true(box3_is_empty(shape_bounds(s)));
    shape_destroy(s);
    unit_context_end(ctx);
}

static void test_rays_enter_where_the_surface_is(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    treacle_shape def = treacle_shape_default(TREACLE_SHAPE_SPHERE);
    shape* s = compile(ctx, &def);
    for (uint64_t i = 0; i < 300; ++i) {
        vec3 origin = vec3_scale(2.0, vec3_normalise(random_point(i, 1.0)));
        vec3 target = random_point(i + 1000, 0.28);
        shape_ray ray = {origin, vec3_scale(0.5, vec3_sub(target, origin)), 0.0, 4.0};
        double at = -1.0;
        assert_true(shape_enter(s, &ray, &at));
        vec3 x = vec3_add_scaled(origin, at, ray.direction);
        assert_close(vec3_length(x), 0.5, 1e-12);
        assert_true(vec3_dot(x, ray.direction) < 0.0); // the near side
    }
    double at = 0.0;
    shape_ray miss = {vec3_make(-2.0, 0.6, 0.0), vec3_make(1.0, 0.0, 0.0), 0.0, 10.0};
    assert_false(shape_enter(s, &miss, &at));
    shape_ray shy = {vec3_make(-2.0, 0.0, 0.0), vec3_make(1.0, 0.0, 0.0), 0.0, 1.4};
    assert_false(shape_enter(s, &shy, &at));
    shape_ray from_inside = {vec3_make(0.0, 0.0, 0.0), vec3_make(1.0, 0.0, 0.0), 0.25, 9.0};
    assert_true(shape_enter(s, &from_inside, &at) && at == 0.25);
    shape_ray still = {vec3_make(3.0, 0.0, 0.0), vec3_make(0.0, 0.0, 0.0), 0.0, 1.0};
    assert_false(shape_enter(s, &still, &at));
    shape_destroy(s);
    unit_context_end(ctx);
}

// A slab of a hundredth of the ray's length, hit at a flat angle and in a set of shapes.
static void test_rays_do_not_jump_over_thin_parts(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    treacle_shape child[2] = {treacle_shape_default(TREACLE_SHAPE_BOX),
                              treacle_shape_default(TREACLE_SHAPE_SPHERE)};
    const double thin[3] = {0.01, 1.0, 1.0};
    memcpy(child[0].size, thin, sizeof(thin));
    child[1].move[1] = 3.0;
    treacle_shape def = treacle_shape_default(TREACLE_SHAPE_UNION);
    def.child_count = 2;
    def.children = child;
    shape* s = compile(ctx, &def);
    for (uint64_t i = 0; i < 200; ++i) {
        vec3 through = vec3_make(0.0, random_in(i, 4, -0.4, 0.4), random_in(i, 5, -0.4, 0.4));
        vec3 direction = vec3_make(1.0, random_in(i, 6, -1.0, 1.0), 0.0);
        shape_ray ray = {vec3_add_scaled(through, -5.0, direction), direction, 0.0, 10.0};
        double at = 0.0;
        assert_true(shape_enter(s, &ray, &at));
        vec3 x = vec3_add_scaled(ray.origin, at, direction);
        assert_close(shape_distance(s, x), 0.0, 1e-12);
        assert_true(x.at[0] < 0.0 || x.at[1] > 1.0);
    }
    shape_destroy(s);
    unit_context_end(ctx);
}

static void test_volumes_converge(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    box3 box = {vec3_make(-2.0, -2.0, -2.0), vec3_make(2.0, 2.0, 2.0)};
    const double s3 = 1.3 * 1.3 * 1.3;
    const double volumes[] = {0.6 * 1.0 * 0.4 * s3, 4.0 / 3.0 * PI * 0.125 * s3,
                              PI * 0.25 * 0.8 * s3, (PI * 0.25 * 0.8 + 4.0 / 3.0 * PI * 0.125) * s3,
                              2.0 * PI * PI * 0.5 * 0.04 * s3};
    for (int k = 0; k < PRIMITIVES - 1; ++k) {
        treacle_shape def = placed(primitives[k]);
        shape* s = compile(ctx, &def);
        double volume = shape_volume_in(s, &box, 60);
        assert_close(volume, volumes[k], 0.005 * volumes[k]);
        shape_destroy(s);
    }
    treacle_shape plane = treacle_shape_default(TREACLE_SHAPE_PLANE);
    plane.move[1] = 0.123;
    shape* s = compile(ctx, &plane);
    assert_close(shape_volume_in(s, &box, 3), 16.0 * 2.123, 1e-12); // exact along an axis
    shape_destroy(s);
    unit_context_end(ctx);
}

static void test_bad_shapes_are_explained(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    treacle_shape def = treacle_shape_default(TREACLE_SHAPE_SPHERE);
    def.radius = -1.5;
    assert_int_equal(shape_check(ctx, &def), TREACLE_ERR_SCENE);
    assert_error_says(ctx, "the radius of a sphere is -1.5; it must be greater than 0");
    def = treacle_shape_default(TREACLE_SHAPE_BOX);
    def.size[1] = 0.0;
    assert_int_equal(shape_check(ctx, &def), TREACLE_ERR_SCENE);
    assert_error_says(ctx, "the size along y of a box is 0");
    def = treacle_shape_default(TREACLE_SHAPE_TORUS);
    def.thickness = NAN;
    assert_int_equal(shape_check(ctx, &def), TREACLE_ERR_SCENE);
    assert_error_says(ctx, "thickness of a torus");
    def = treacle_shape_default(TREACLE_SHAPE_CAPSULE);
    def.height = INFINITY;
    assert_int_equal(shape_check(ctx, &def), TREACLE_ERR_SCENE);
    assert_error_says(ctx, "height of a capsule");
    def = treacle_shape_default(TREACLE_SHAPE_PLANE);
    def.move[2] = NAN;
    assert_int_equal(shape_check(ctx, &def), TREACLE_ERR_SCENE);
    assert_error_says(ctx, "move of a plane");
    def.move[2] = 0.0;
    def.scale = 0.0;
    assert_int_equal(shape_check(ctx, &def), TREACLE_ERR_SCENE);
    assert_error_says(ctx, "scale of a plane");
    def = treacle_shape_default(TREACLE_SHAPE_UNION);
    assert_int_equal(shape_check(ctx, &def), TREACLE_ERR_SCENE);
    assert_error_says(ctx, "a union has no children");
    def.kind = (treacle_shape_kind)77;
    shape* s = NULL;
    assert_int_equal(shape_create(ctx, &def, &s), TREACLE_ERR_SCENE);
    assert_null(s);
    pair_of_shapes pair;
    make_pair(&pair, TREACLE_SHAPE_UNION);
    pair.set.scale = pair.child[0].scale = 1e200;
    assert_int_equal(shape_create(ctx, &pair.set, &s), TREACLE_ERR_SCENE);
    assert_error_says(ctx, "a box is too large");
    shape_destroy(NULL);
    unit_context_end(ctx);
}

static void test_too_deep_is_an_error_not_a_crash(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    enum { DEPTH = 100000 };
    static treacle_shape chain[DEPTH];
    for (int i = 0; i < DEPTH; ++i) {
        chain[i] = treacle_shape_default(i == 0 ? TREACLE_SHAPE_SPHERE : TREACLE_SHAPE_UNION);
        chain[i].child_count = 1;
        chain[i].children = i == 0 ? NULL : &chain[i - 1];
    }
    assert_int_equal(shape_check(ctx, &chain[DEPTH - 1]), TREACLE_ERR_LIMIT);
    assert_int_equal(shape_check(ctx, &chain[SHAPE_DEPTH_MAX]), TREACLE_OK);
    shape* s = compile(ctx, &chain[SHAPE_DEPTH_MAX]);
    assert_close(shape_distance(s, vec3_make(1.0, 0.0, 0.0)), 0.5, 1e-15);
    shape_destroy(s);
    unit_context_end(ctx);
}

static treacle_status create_and_destroy(treacle_context* ctx, void* data) {
    shape* s = NULL;
    TREACLE_TRY(shape_create(ctx, data, &s));
    shape_destroy(s);
    return TREACLE_OK;
}

static void test_failed_allocations_are_clean(void** state) {
    (void)state;
    pair_of_shapes def;
    make_pair(&def, TREACLE_SHAPE_DIFFERENCE);
    ALLOC_FAILURE_CHECK(create_and_destroy, &def.set);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_distances_of_the_default_shapes),
        cmocka_unit_test(test_placement_scales_then_turns_then_moves),
        cmocka_unit_test(test_distances_of_primitives_are_exact),
        cmocka_unit_test(test_bounds_of_primitives_are_the_smallest),
        cmocka_unit_test(test_set_operations_follow_logic),
        cmocka_unit_test(test_placement_of_a_set_carries_its_children),
        cmocka_unit_test(test_an_empty_intersection_has_empty_bounds),
        cmocka_unit_test(test_rays_enter_where_the_surface_is),
        cmocka_unit_test(test_rays_do_not_jump_over_thin_parts),
        cmocka_unit_test(test_volumes_converge),
        cmocka_unit_test(test_bad_shapes_are_explained),
        cmocka_unit_test(test_too_deep_is_an_error_not_a_crash),
        cmocka_unit_test(test_failed_allocations_are_clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
