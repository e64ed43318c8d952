#include "alloc_failure.h"

#include "base/check.h"
#include "math/field.h"

static void test_constants_are_the_same_everywhere(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    treacle_field def = {.kind = TREACLE_FIELD_CONSTANT, .value_a = {1.0, 2.0, 3.0}};
    field f;
    assert_int_equal(field_init(ctx, &def, 3, &f), TREACLE_OK);
    double out[3];
    field_eval(&f, vec3_make(7.0, 8.0, 9.0), 0.0, out);
    assert_true(out[0] == 1.0 && out[1] == 2.0 && out[2] == 3.0);
    field_finish(&f);
    unit_context_end(ctx);
}

static void test_ramps_are_linear_between_their_ends(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    treacle_field def = {.kind = TREACLE_FIELD_RAMP,
                         .value_a = {1.0, 0.0, 0.0},
                         .value_b = {3.0, -4.0, 0.0},
                         .from = {0.0, 1.0, 0.0},
                         .to = {0.0, 3.0, 0.0}};
    field f;
    assert_int_equal(field_init(ctx, &def, 3, &f), TREACLE_OK);
    const double cases[][3] = {{0.0, 1.0, 0.0},  {1.0, 1.0, 0.0},  {1.5, 1.5, -1.0},
                               {2.0, 2.0, -2.0}, {3.0, 3.0, -4.0}, {9.0, 3.0, -4.0}};
    for (int i = 0; i < 6; ++i) {
        double out[3];
        field_eval(&f, vec3_make(5.0, cases[i][0], -5.0), 0.0, out);
        assert_close(out[0], cases[i][1], 1e-15);
        assert_close(out[1], cases[i][2], 1e-15);
    }
    double out[3];
    field_eval(&f, vec3_make(0.0, 99.0, 0.0), 0.0, out);
    assert_true(out[0] == 3.0 && out[1] == -4.0); // the end value itself, not nearly
    field_finish(&f);
    unit_context_end(ctx);
}

static void test_expressions_are_one_a_component(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    treacle_field def = {.kind = TREACLE_FIELD_EXPRESSION, .expression = {"-y", "x", "t"}};
    field f;
    assert_int_equal(field_init(ctx, &def, 3, &f), TREACLE_OK);
    double out[3];
    field_eval(&f, vec3_make(1.0, 2.0, 3.0), 4.0, out);
    assert_true(out[0] == -2.0 && out[1] == 1.0 && out[2] == 4.0);
    field_finish(&f);
    field_finish(&f);
    def.expression[1] = NULL; // a scalar needs the first alone
    assert_int_equal(field_init(ctx, &def, 1, &f), TREACLE_OK);
    field_finish(&f);
    unit_context_end(ctx);
}

static void test_bad_fields_are_explained(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    field f;
    treacle_field def = {.kind = TREACLE_FIELD_CONSTANT, .value_a = {0.0, NAN, 0.0}};
    assert_int_equal(field_init(ctx, &def, 3, &f), TREACLE_ERR_SCENE);
    assert_error_says(ctx, "component 2");
    assert_int_equal(field_init(ctx, &def, 1, &f), TREACLE_OK);
    def = (treacle_field){.kind = TREACLE_FIELD_RAMP};
    assert_int_equal(field_init(ctx, &def, 1, &f), TREACLE_ERR_SCENE);
    assert_error_says(ctx, "must be finite and differ");
    def = (treacle_field){.kind = TREACLE_FIELD_EXPRESSION, .expression = {"x", "y +", "z"}};
    assert_int_equal(field_init(ctx, &def, 3, &f), TREACLE_ERR_SCENE);
    assert_error_says(ctx, "column 4");
    def.expression[1] = NULL;
    assert_int_equal(field_init(ctx, &def, 3, &f), TREACLE_ERR_SCENE);
    assert_error_says(ctx, "component 2");
    def.kind = (treacle_field_kind)9;
    assert_int_equal(field_init(ctx, &def, 3, &f), TREACLE_ERR_SCENE);
    unit_context_end(ctx);
}

static treacle_status init_and_finish(treacle_context* ctx, void* data) {
    field f;
    TREACLE_TRY(field_init(ctx, data, 3, &f));
    field_finish(&f);
    return TREACLE_OK;
}

static void test_failed_allocations_are_clean(void** state) {
    (void)state;
    treacle_field def = {.kind = TREACLE_FIELD_EXPRESSION, .expression = {"x", "y", "z"}};
    ALLOC_FAILURE_CHECK(init_and_finish, &def);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_constants_are_the_same_everywhere),
        cmocka_unit_test(test_ramps_are_linear_between_their_ends),
        cmocka_unit_test(test_expressions_are_one_a_component),
        cmocka_unit_test(test_bad_fields_are_explained),
        cmocka_unit_test(test_failed_allocations_are_clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
