#include "unit.h"

#include "math/hash_random.h"
#include "math/mat3.h"

static double random_entry(uint64_t id) {
    return 2.0 * hash_random_f64(1, id, RANDOM_TEST) - 1.0;
}

static mat3 random_matrix(uint64_t id) {
    mat3 a;
    for (uint64_t i = 0; i < 9; ++i) {
        a.at[i / 3][i % 3] = random_entry(9 * id + i);
    }
    return a;
}

static void assert_mat3_close(const mat3* a, const mat3* b, double tolerance) {
    for (int i = 0; i < 9; ++i) {
        assert_close(a->at[i / 3][i % 3], b->at[i / 3][i % 3], tolerance);
    }
}

static void assert_vec3_close(vec3 a, vec3 b, double tolerance) {
    for (int i = 0; i < 3; ++i) {
        assert_close(a.at[i], b.at[i], tolerance);
    }
}

static void test_the_inverse_undoes_the_matrix(void** state) {
    (void)state;
    mat3 one = mat3_identity();
    for (uint64_t id = 0; id < 1000; ++id) {
        mat3 a = random_matrix(id), inverse;
        if (fabs(mat3_determinant(&a)) < 0.05) {
            continue;
        }
        assert_true(mat3_invert(&a, &inverse));
        mat3 product = mat3_multiply(&a, &inverse);
        assert_mat3_close(&product, &one, 1e-13);
    }
}

static void test_singular_matrices_have_no_inverse(void** state) {
    (void)state;
    mat3 a = {{{1.0, 2.0, 3.0}, {2.0, 4.0, 6.0}, {0.0, 1.0, 0.0}}}, kept = mat3_identity();
    assert_false(mat3_invert(&a, &kept));
    a.at[1][1] = NAN;
    assert_false(mat3_invert(&a, &kept));
    mat3 one = mat3_identity();
    assert_memory_equal(&kept, &one, sizeof(kept));
}

static void test_determinants_multiply_and_ignore_transposition(void** state) {
    (void)state;
    for (uint64_t id = 0; id < 100; ++id) {
        mat3 a = random_matrix(id), b = random_matrix(id + 1000);
        mat3 ab = mat3_multiply(&a, &b), t = mat3_transpose(&a);
        assert_close(mat3_determinant(&ab), mat3_determinant(&a) * mat3_determinant(&b), 1e-14);
        assert_close(mat3_determinant(&t), mat3_determinant(&a), 1e-15);
        vec3 x = vec3_make(random_entry(id), random_entry(id + 1), random_entry(id + 2));
        assert_vec3_close(mat3_apply(&t, x), mat3_apply_transposed(&a, x), 0.0);
        assert_vec3_close(mat3_apply(&ab, x), mat3_apply(&a, mat3_apply(&b, x)), 1e-15);
    }
}

static void test_rotations_turn_x_first_and_counter_clockwise(void** state) {
    (void)state;
    const double right = 1.57079632679489661923;
    const double about_z[3] = {0.0, 0.0, right};
    mat3 z = mat3_rotation(about_z);
    assert_vec3_close(mat3_apply(&z, vec3_make(1.0, 0.0, 0.0)), vec3_make(0.0, 1.0, 0.0), 0.0);
    // About x: z becomes -y; then about z: -y becomes x.
    const double ends[3] = {right, 0.0, right};
    mat3 xz = mat3_rotation(ends);
    assert_vec3_close(mat3_apply(&xz, vec3_make(0.0, 0.0, 1.0)), vec3_make(1.0, 0.0, 0.0), 0.0);
    // About x: y becomes z; then about y: z becomes x.
    const double both[3] = {right, right, 0.0};
    mat3 xy = mat3_rotation(both);
    assert_vec3_close(mat3_apply(&xy, vec3_make(0.0, 1.0, 0.0)), vec3_make(1.0, 0.0, 0.0), 0.0);
}

static void test_rotations_keep_lengths_and_handedness(void** state) {
    (void)state;
    mat3 one = mat3_identity();
    for (uint64_t id = 0; id < 200; ++id) {
        const double angles[3] = {9.0 * random_entry(id), 9.0 * random_entry(id + 200),
                                  9.0 * random_entry(id + 400)};
        mat3 r = mat3_rotation(angles), t = mat3_transpose(&r);
        mat3 product = mat3_multiply(&r, &t);
        assert_mat3_close(&product, &one, 1e-15);
        assert_close(mat3_determinant(&r), 1.0, 1e-15);
    }
}

static void test_vectors_follow_their_identities(void** state) {
    (void)state;
    vec3 a = vec3_make(1.0, -2.0, 3.0), b = vec3_make(4.0, 0.5, -1.0);
    vec3 c = vec3_cross(a, b);
    assert_close(vec3_dot(a, c), 0.0, 1e-15);
    assert_close(vec3_dot(b, c), 0.0, 1e-15);
    double dot = vec3_dot(a, b);
    assert_close(vec3_dot(c, c) + dot * dot, vec3_dot(a, a) * vec3_dot(b, b), 1e-12);
    assert_close(vec3_length(vec3_normalise(a)), 1.0, 1e-15);
    assert_true(vec3_length(vec3_normalise(vec3_make(0.0, 0.0, 0.0))) == 0.0);
    assert_vec3_close(vec3_add_scaled(a, 2.0, b), vec3_make(9.0, -1.0, 1.0), 0.0);
    assert_false(vec3_is_finite(vec3_make(0.0, NAN, 0.0)));
    box3 near = {vec3_make(0.0, 0.0, 0.0), vec3_make(1.0, 1.0, 1.0)};
    box3 far = {vec3_make(2.0, 2.0, 2.0), vec3_make(3.0, 3.0, 3.0)};
    assert_true(box3_is_empty(box3_intersect(near, far)));
    assert_false(box3_is_empty(box3_union(near, far)));
    assert_true(box3_union(near, box3_intersect(near, far)).high.at[0] == 1.0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_inverse_undoes_the_matrix),
        cmocka_unit_test(test_singular_matrices_have_no_inverse),
        cmocka_unit_test(test_determinants_multiply_and_ignore_transposition),
        cmocka_unit_test(test_rotations_turn_x_first_and_counter_clockwise),
        cmocka_unit_test(test_rotations_keep_lengths_and_handedness),
        cmocka_unit_test(test_vectors_follow_their_identities),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
