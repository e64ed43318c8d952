#include "phys/viscosity_law.h"

#include "alloc_failure.h"

static treacle_viscosity_law law_of(treacle_law_kind kind) {
    return (treacle_viscosity_law){.kind = kind,
                                   .from = 320.0,
                                   .to = 330.0,
                                   .low = 1000.0,
                                   .high = 1.0,
                                   .activation = 5000.0,
                                   .reference = 300.0,
                                   .a = -4.0,
                                   .b = 1000.0,
                                   .c = 200.0,
                                   .least = 1e-6,
                                   .most = 1e9};
}

static double value_of(treacle_context* ctx, const treacle_viscosity_law* def, double x) {
    viscosity_law law;
    assert_int_equal(viscosity_law_init(ctx, def, 10.0, &law), TREACLE_OK);
    double out = exp(viscosity_law_eval(&law, x));
    viscosity_law_finish(&law);
    return out;
}

static const treacle_key points[] = {{300.0, {100.0}}, {320.0, {1.0}}};

static void test_laws_give_what_their_formulas_say(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    treacle_viscosity_law linear = law_of(TREACLE_LAW_LINEAR);
    treacle_viscosity_law quadratic = law_of(TREACLE_LAW_QUADRATIC);
    treacle_viscosity_law arrhenius = law_of(TREACLE_LAW_ARRHENIUS);
    treacle_viscosity_law vft = law_of(TREACLE_LAW_VFT);
    treacle_viscosity_law table = law_of(TREACLE_LAW_TABLE);
    table.table = (treacle_curve){2, points};
    assert_close(value_of(ctx, &linear, 310.0), 1000.0, 1e-6);
    assert_close(value_of(ctx, &linear, 325.0), 500.5, 1e-6);
    assert_close(value_of(ctx, &linear, 340.0), 1.0, 1e-9);
    assert_close(value_of(ctx, &quadratic, 325.0), 1.0 + 999.0 * 0.25, 1e-6);
    assert_close(value_of(ctx, &arrhenius, 300.0), 10.0, 1e-9);
    assert_close(value_of(ctx, &arrhenius, 330.0), 10.0 * exp(5000.0 / 330 - 5000.0 / 300), 1e-9);
    assert_close(value_of(ctx, &vft, 300.0), 1e6, 1e-3);
    assert_close(value_of(ctx, &vft, 200.0), 1e9, 1.0);
    assert_close(value_of(ctx, &table, 310.0), 10.0, 1e-9);
    assert_close(value_of(ctx, &table, 400.0), 1.0, 1e-9);
    unit_context_end(ctx);
}

static void refuse(treacle_context* ctx, const treacle_viscosity_law* def, const char* words) {
    assert_int_equal(viscosity_law_check(ctx, def, "wax"), TREACLE_ERR_SCENE);
    assert_error_says(ctx, words);
}

static void test_laws_that_rise_with_temperature_are_refused(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    treacle_viscosity_law ramp = law_of(TREACLE_LAW_LINEAR);
    ramp.low = 0.5;
    refuse(ctx, &ramp, "not monotone");
    ramp.of = TREACLE_LAW_OF_MARKER;
    assert_int_equal(viscosity_law_check(ctx, &ramp, "wax"), TREACLE_OK);
    ramp.to = 310.0;
    refuse(ctx, &ramp, "from < to");
    treacle_viscosity_law vft = law_of(TREACLE_LAW_VFT);
    vft.b = -1.0;
    refuse(ctx, &vft, "not monotone");
    treacle_viscosity_law arrhenius = law_of(TREACLE_LAW_ARRHENIUS);
    arrhenius.reference = 0.0;
    refuse(ctx, &arrhenius, "absolute zero");
    const treacle_key rising[] = {{300.0, {1.0}}, {320.0, {2.0}}};
    const treacle_key backwards[] = {{320.0, {2.0}}, {300.0, {1.0}}};
    treacle_viscosity_law table = law_of(TREACLE_LAW_TABLE);
    table.table = (treacle_curve){2, rising};
    refuse(ctx, &table, "not monotone");
    table.table = (treacle_curve){2, backwards};
    assert_int_equal(viscosity_law_check(ctx, &table, "wax"), TREACLE_ERR_SCENE);
    unit_context_end(ctx);
}

static treacle_status make_table(treacle_context* ctx, void* data) {
    viscosity_law law;
    TREACLE_TRY(viscosity_law_init(ctx, data, 1.0, &law));
    viscosity_law_finish(&law);
    return TREACLE_OK;
}

static void test_lack_of_memory_is_reported(void** state) {
    (void)state;
    treacle_viscosity_law table = law_of(TREACLE_LAW_TABLE);
    table.table = (treacle_curve){2, points};
    ALLOC_FAILURE_CHECK(make_table, &table);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_laws_give_what_their_formulas_say),
        cmocka_unit_test(test_laws_that_rise_with_temperature_are_refused),
        cmocka_unit_test(test_lack_of_memory_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
