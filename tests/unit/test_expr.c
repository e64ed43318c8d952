#include "alloc_failure.h"

#include <locale.h>
#include <stdio.h>

#include "base/alloc.h"
#include "math/elementary.h"
#include "math/expr.h"

static const vec3 somewhere = {{0.5, -2.0, 3.0}};

static double value_of(treacle_context* ctx, const char* text) {
    expr* e = NULL;
    if (expr_create(ctx, text, NULL, &e) != TREACLE_OK) {
        print_error("%s: %s\n", text, treacle_context_error(ctx));
        fail();
    }
    double value = expr_eval(e, somewhere, 10.0);
    expr_destroy(e);
    return value;
}

static void test_expressions_mean_what_they_say(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    static const struct {
        const char* text;
        double value;
    } cases[] = {
        {"1", 1.0},
        {" 1.5e-3 ", 0.0015},
        {".5", 0.5},
        {"5.", 5.0},
        {"1E+2", 100.0},
        {"x", 0.5},
        {"x + y * z", -5.5},
        {"(x + y) * z", -4.5},
        {"t/4/5", 0.5},
        {"10 - 4 - 3", 3.0},
        {"2^3^2", 512.0},
        {"-2^2", -4.0},
        {"2^-1", 0.5},
        {"--3", 3.0},
        {"+-+3", -3.0},
        {"2*-3", -6.0},
        {"1 < 2", 1.0},
        {"1 > 2", 0.0},
        {"2 <= 2", 1.0},
        {"2 >= 3", 0.0},
        {"x == 0.5", 1.0},
        {"x != 0.5", 0.0},
        {"1 + 1 == 2", 1.0},
        {"(y < 0) * (z > 0)", 1.0},
        {"sqrt(16) + abs(y)", 6.0},
        {"min(3, 2) - max(3, 2)", -1.0},
        {"pow(2, 10)", 1024.0},
        {"floor(-1.5)", -2.0},
        {"clamp(5, 0, 1) + clamp(-5, 0, 1) + clamp(0.25, 0, 1)", 1.25},
        {"step(1, 0.5) + step(1, 1)", 1.0},
        {"smoothstep(0, 1, 0.5)", 0.5},
        {"smoothstep(2, 2, 1) + smoothstep(2, 2, 3)", 1.0},
        {"smoothstep(2, 2, 2)", 1.0},
        {"log(exp(2))", 2.0},
        {"cos(pi)", -1.0},
        {"log(e)", 1.0},
        {"\n1\t+\r1", 2.0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
        assert_close(value_of(ctx, cases[i].text), cases[i].value, 1e-15);
    }
    assert_true(value_of(ctx, "tan(x)") == elementary_sin(0.5) / elementary_cos(0.5));
    assert_true(value_of(ctx, "sin(x) + tanh(z)") == elementary_sin(0.5) + elementary_tanh(3.0));
    assert_true(isinf(value_of(ctx, "1/0")));
    assert_true(isnan(value_of(ctx, "sqrt(-1)")));
    unit_context_end(ctx);
}

static void assert_fails(treacle_context* ctx, const char* text, int column, const char* words) {
    expr* e = NULL;
    expr_error error = {0};
    treacle_status status = expr_create(ctx, text, &error, &e);
    if (status == TREACLE_OK || error.column != column || strstr(error.text, words) == NULL) {
        print_error("\"%s\": column %d: %s\n", text, error.column, error.text);
        fail();
    }
    char both[320];
    snprintf(both, sizeof(both), "column %d: %s", error.column, error.text);
    assert_string_equal(both, treacle_context_error(ctx));
    assert_null(e);
}

static void test_errors_say_where_and_what(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    assert_fails(ctx, "", 1, "expected a number, a name or '(', but found the end of the text");
    assert_fails(ctx, "1 +", 4, "but found the end");
    assert_fails(ctx, "1 + * 2", 5, "but found '*'");
    assert_fails(ctx, "2 x", 3, "expected an operator such as '*' or the end, but found 'x'");
    assert_fails(ctx, "2e", 2, "but found 'e'");
    assert_fails(ctx, "sqr(x)", 1, "unknown name 'sqr'; did you mean 'sqrt'?");
    assert_fails(ctx, "1 + Sin(x)", 5, "did you mean 'sin'?");
    assert_fails(ctx, "temperature", 1, "unknown name 'temperature'; known are x, y, z, t");
    assert_fails(ctx, "sin x", 1, "'sin' is a function; write sin(...)");
    assert_fails(ctx, "x(2)", 1, "'x' is not a function; is a '*' missing?");
    assert_fails(ctx, "1 + min(1)", 5, "'min' takes 2 arguments, not 1");
    assert_fails(ctx, "sin(1, 2)", 1, "'sin' takes 1 argument, not 2");
    assert_fails(ctx, "sin()", 1, "'sin' takes 1 argument, not 0");
    assert_fails(ctx, "(1 + (2)", 9, "expected ')' for the '(' at column 1");
    assert_fails(ctx, "max(1, 2", 9, "expected ')' for the '(' at column 4");
    assert_fails(ctx, "1)", 2, "expected an operator or the end, but found ')'");
    assert_fails(ctx, "x = 1", 3, "did you mean '=='?");
    assert_fails(ctx, "1 < x < 2", 7, "cannot be chained");
    assert_fails(ctx, "1e999", 1, "too large");
    assert_fails(ctx, "1..2", 3, "but found '.'");
    assert_fails(ctx, "0x10", 2, "but found 'x10'");
    assert_fails(ctx, "nan", 1, "unknown name 'nan'");
    assert_fails(ctx, "1 + \xc3\xb6", 5, "but found '\xc3\xb6'");
    assert_fails(ctx, "\xc3\xb6 + 1", 1, "'\xc3\xb6'");
    assert_fails(ctx, "1 \x01", 3, "the character 0x01");
    assert_fails(ctx, "1 \xff", 3, "the character 0xff");
    unit_context_end(ctx);
}

// A text of `count` times `head`, then x, then `count` times `tail`.
static void nest(char* out, int count, const char* head, const char* tail) {
    out[0] = '\0';
    char* at = out;
    for (int i = 0; i < count; ++i) {
        at = stpcpy(at, head);
    }
    at = stpcpy(at, "x");
    for (int i = 0; i < count; ++i) {
        at = stpcpy(at, tail);
    }
}

static void test_limits_are_errors_not_crashes(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    static char text[100000];
    static const char* const nests[][2] = {{"(", ")"},   {"-", ""},       {"1^", ""},
                                           {"1+(", ")"}, {"max(1,", ")"}, {"clamp(1,2,", ")"}};
    for (size_t i = 0; i < sizeof(nests) / sizeof(nests[0]); ++i) {
        nest(text, EXPR_DEPTH_MAX - 1, nests[i][0], nests[i][1]);
        value_of(ctx, text);
        nest(text, EXPR_DEPTH_MAX, nests[i][0], nests[i][1]);
        expr* e = NULL;
        assert_int_equal(expr_create(ctx, text, NULL, &e), TREACLE_ERR_LIMIT);
        assert_error_says(ctx, "too deep");
    }
    nest(text, EXPR_LENGTH_MAX, "(", ")");
    expr* e = NULL;
    assert_int_equal(expr_create(ctx, text, NULL, &e), TREACLE_ERR_LIMIT);
    assert_error_says(ctx, "4096 characters");
    nest(text, 100, "0", "");
    assert_int_equal(expr_create(ctx, text, NULL, &e), TREACLE_ERR_LIMIT);
    nest(text, 2047, "", "+1"); // long but flat
    assert_close(value_of(ctx, text), 2047.5, 0.0);
    unit_context_end(ctx);
}

static void test_time_is_noticed(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    expr* e = NULL;
    assert_int_equal(expr_create(ctx, "sin(2*pi*t)", NULL, &e), TREACLE_OK);
    assert_true(expr_uses_time(e));
    expr_destroy(e);
    assert_int_equal(expr_create(ctx, "tanh(x)", NULL, &e), TREACLE_OK);
    assert_false(expr_uses_time(e));
    expr_destroy(e);
    expr_destroy(NULL);
    unit_context_end(ctx);
}

static void test_the_locale_does_not_matter(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    static const char* const commas[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8"};
    for (int i = 0; i < 3; ++i) {
        if (setlocale(LC_ALL, commas[i]) != NULL) {
            break; // otherwise there is none on this machine, and the test says little
        }
    }
    assert_true(value_of(ctx, "1.5 + 2.25e1") == 24.0);
    setlocale(LC_ALL, "C");
    unit_context_end(ctx);
}

static treacle_status create_and_destroy(treacle_context* ctx, void* data) {
    expr* e = NULL;
    TREACLE_TRY(expr_create(ctx, data, NULL, &e));
    expr_destroy(e);
    return TREACLE_OK;
}

static void test_failed_allocations_are_clean(void** state) {
    (void)state;
    char text[] = "clamp(x, y, z) + 1";
    ALLOC_FAILURE_CHECK(create_and_destroy, text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_expressions_mean_what_they_say),
        cmocka_unit_test(test_errors_say_where_and_what),
        cmocka_unit_test(test_limits_are_errors_not_crashes),
        cmocka_unit_test(test_time_is_noticed),
        cmocka_unit_test(test_the_locale_does_not_matter),
        cmocka_unit_test(test_failed_allocations_are_clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
