#include "unit.h"

#include <jansson.h>
#include <unistd.h>

#include "validate/harness.h"

// A session that prints into memory and keeps its files in a folder of its own.
typedef struct fixture {
    validate v;
    char folder[64];
    char* text;
    size_t length;
    FILE* out;
} fixture;

static int part_runs = 0; // how often the part of case_of_parts was computed

static void begin(fixture* f, bool as_json, bool keeps_results) {
    strcpy(f->folder, "/tmp/treacle-harness-XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    f->out = open_memstream(&f->text, &f->length);
    treacle_context* ctx = NULL;
    treacle_context_def def = treacle_context_def_default();
    def.threads = 1;
    assert_int_equal(treacle_context_create(&def, &ctx), TREACLE_OK);
    validate_options options = {.out = f->out,
                                .as_json = as_json,
                                .results = keeps_results ? f->folder : NULL,
                                .work = f->folder,
                                .commit = "0123"};
    validate_init(&f->v, ctx, &options);
}

static void end(fixture* f) {
    char command[128];
    treacle_context* ctx = f->v.ctx;
    validate_finish(&f->v);
    treacle_context_destroy(ctx);
    fclose(f->out);
    free(f->text);
    snprintf(command, sizeof(command), "rm -r %s", f->folder);
    assert_int_equal(system(command), 0);
}

static json_t* load(const fixture* f, const char* name) {
    char path[128];
    snprintf(path, sizeof(path), "%s/%s", f->folder, name);
    json_t* object = json_load_file(path, 0, NULL);
    assert_non_null(object);
    return object;
}

enum { ROWS = 11 }; // of case_of_rows; the last is only shown

static treacle_status case_of_rows(validate* v) {
    validate_relative(v, 1.02, 1.0, 0.03, "good \"relative\"");
    validate_relative(v, 1.04, 1.0, 0.03, "bad relative");
    validate_absolute(v, -0.1, 0.0, 0.2, "good absolute");
    validate_absolute(v, (double)NAN, 0.0, 0.2, "not a number");
    validate_at_least(v, 1.9, 2.0, 0.2, "good order");
    validate_at_least(v, 2.9, 2.0, 0.2, "better order");
    validate_at_least(v, 1.7, 2.0, 0.2, "bad order");
    validate_at_least(v, (double)NAN, 2.0, 0.2, "no order");
    validate_at_most(v, 2.1, 2.0, 0.2, "little enough");
    validate_at_most(v, 2.3, 2.0, 0.2, "too much");
    validate_info(v, 7.0, (double)NAN, "for information, %d", 7);
    return TREACLE_OK;
}

static treacle_status case_of_errors(validate* v) {
    validate_absolute(v, 0.0, 0.0, 1.0, "before the error");
    return TREACLE_ERR_IO;
}

static treacle_status case_of_nothing(validate* v) {
    (void)v;
    return TREACLE_OK;
}

static treacle_status case_of_parts(validate* v) {
    if (validate_part_begin(v, "first")) {
        part_runs += 1;
        validate_relative(v, 1.0 / 3.0, 1.0 / 3.0, 0.1, "third");
        validate_info(v, 2.0, 3.0, "shown");
        return validate_part_end(v);
    }
    return TREACLE_OK;
}

static const validate_case rows = {"rows", VALIDATE_QUICK, 1, "", case_of_rows};
static const validate_case errors = {"errors", VALIDATE_QUICK, 1, "", case_of_errors};
static const validate_case nothing = {"nothing", VALIDATE_QUICK, 1, "", case_of_nothing};
static const validate_case parts = {"parts", VALIDATE_LONG, 1, "", case_of_parts};

static void test_rows_pass_within_tolerance_only(void** state) {
    (void)state;
    fixture f;
    begin(&f, false, false);
    validate_run_case(&f.v, &rows);
    static const bool passes[] = {true,  false, true, false, true, true,
                                  false, false, true, false, true};
    assert_int_equal(f.v.row_count, ROWS);
    for (int i = 0; i < ROWS; ++i) {
        assert_int_equal(validate_row_passes(&f.v.rows[i]), passes[i]);
    }
    assert_int_equal(f.v.passed, 5);
    assert_int_equal(f.v.failed, 5);
    assert_int_equal(f.v.shown, 1);
    end(&f);
}

static void test_json_rows_have_the_seven_keys(void** state) {
    (void)state;
    static const char* const keys[] = {"case",  "quantity",  "measured", "reference",
                                       "error", "tolerance", "pass"};
    fixture f;
    begin(&f, true, false);
    validate_print_head(&f.v);
    validate_run_case(&f.v, &rows);
    validate_print_sum(&f.v, 1, 0.0);
    fflush(f.out);
    int count = 0;
    for (char* line = strtok(f.text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        json_t* object = json_loads(line, 0, NULL);
        assert_int_equal(json_object_size(object), 7);
        for (int i = 0; i < 7; ++i) {
            assert_non_null(json_object_get(object, keys[i]));
        }
        if (count == 0) {
            assert_string_equal(json_string_value(json_object_get(object, "quantity")),
                                "good \"relative\"");
        }
        if (count == ROWS - 1) {
            assert_true(json_is_null(json_object_get(object, "tolerance")));
            assert_true(json_is_null(json_object_get(object, "reference")));
            assert_true(json_is_true(json_object_get(object, "pass")));
        }
        json_decref(object);
        count += 1;
    }
    assert_int_equal(count, ROWS);
    end(&f);
}

static void test_a_case_that_stops_fails(void** state) {
    (void)state;
    fixture f;
    begin(&f, true, false);
    validate_run_case(&f.v, &errors);
    assert_int_equal(f.v.passed, 1);
    assert_int_equal(f.v.failed, 1);
    assert_string_equal(f.v.rows[1].quantity, "completed");
    end(&f);
}

static void test_a_case_without_rows_fails(void** state) {
    (void)state;
    fixture f;
    begin(&f, true, false);
    validate_run_case(&f.v, &nothing);
    assert_int_equal(f.v.failed, 1);
    end(&f);
}

static void test_the_observed_order_is_the_slope(void** state) {
    (void)state;
    const double h[] = {0.1, 0.05, 0.025};
    const double quadratic[] = {3e-2, 7.5e-3, 1.875e-3};
    const double with_zero[] = {1e-2, 0.0, 1e-4};
    assert_true(fabs(validate_observed_order(3, h, quadratic) - 2.0) < 1e-12);
    assert_true(isnan(validate_observed_order(3, h, with_zero)));
    assert_true(isnan(validate_observed_order(1, h, quadratic)));
}

static void test_a_part_is_done_once_at_a_commit(void** state) {
    (void)state;
    fixture f;
    begin(&f, true, false);
    part_runs = 0;
    validate_run_case(&f.v, &parts);
    validate_run_case(&f.v, &parts);
    assert_int_equal(part_runs, 1);
    assert_int_equal(f.v.row_count, 2);
    assert_true(f.v.rows[0].measured == 1.0 / 3.0);
    assert_true(f.v.rows[0].is_scored);
    assert_false(f.v.rows[1].is_scored);
    f.v.options.commit = "4567";
    validate_run_case(&f.v, &parts);
    assert_int_equal(part_runs, 2);
    end(&f);
}

static void test_results_are_kept_with_their_commit(void** state) {
    (void)state;
    fixture f;
    begin(&f, true, true);
    validate_run_case(&f.v, &rows);
    json_t* object = load(&f, "rows.json");
    assert_string_equal(json_string_value(json_object_get(object, "commit")), "0123");
    assert_int_equal(json_array_size(json_object_get(object, "rows")), ROWS);
    json_decref(object);
    end(&f);
}

// Curves of two ropes and what was measured beside them, as case_coiling draws them.
static treacle_status run_curves(validate* v) {
    const double syrup[3][2] = {{0.05, 0.70}, {0.08, 0.71}, {0.15, 1.00}};
    const double zero_g[2][2] = {{0.04, 0.76}, {0.06, 0.52}};
    validate_axes(v, "height of fall, m", "frequency, Hz");
    validate_draw_curve(v, "syrup", 3, syrup);
    validate_draw_curve(v, "zero g", 2, zero_g);
    validate_draw_point(v, 0.05, 0.55);
    validate_draw_point(v, 0.08, 0.70);
    validate_draw_point(v, 0.12, 0.90);
    validate_relative(v, 0.70, 0.71, 0.2, "Hz");
    return TREACLE_OK;
}

static const validate_case curves = {"curves", VALIDATE_QUICK, 0.0, "", run_curves};

static int count_of(const char* text, const char* what) {
    int count = 0;
    for (const char* at = strstr(text, what); at != NULL; at = strstr(at + 1, what)) {
        count += 1;
    }
    return count;
}

// The drawing of the last case; the caller frees it.
static char* plot_text(const fixture* f) {
    char path[160];
    assert_int_equal(validate_plot_case(&f->v, f->folder), TREACLE_OK);
    snprintf(path, sizeof(path), "%s/plot_%s.png", f->folder, f->v.current->name);
    assert_int_equal(access(path, R_OK), 0);
    memcpy(strrchr(path, '.'), ".svg", 4);
    return unit_read_file(path);
}

static void test_curves_are_drawn_with_what_was_measured(void** state) {
    (void)state;
    fixture f;
    begin(&f, true, false);
    validate_run_case(&f.v, &curves);
    char* text = plot_text(&f);
    assert_int_equal(count_of(text, "<circle"), 3 + 1); // and one in the legend
    assert_non_null(strstr(text, "height of fall, m"));
    assert_non_null(strstr(text, "frequency, Hz"));
    // The curves' points, to the right and, as frequency rises, up.
    float x[5], y[5];
    int found = 0;
    for (const char* at = text; (at = strstr(at, "<polyline")) != NULL && found < 5; ++at) {
        const char* points = strstr(at, "points=\"");
        int read = points == NULL ? 0
                                  : sscanf(points, "points=\"%f,%f %f,%f %f,%f", &x[0], &y[0],
                                           &x[1], &y[1], &x[2], &y[2]);
        found += read == 6 && x[0] < x[1] && x[1] < x[2] && y[1] < y[0] && y[2] < y[1];
    }
    assert_true(found > 0);
    free(text);
    validate_run_case(&f.v, &rows); // no curves are left
    text = plot_text(&f);
    assert_null(strstr(text, "height of fall, m"));
    assert_non_null(strstr(text, "row of the case"));
    free(text);
    end(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_pass_within_tolerance_only),
        cmocka_unit_test(test_json_rows_have_the_seven_keys),
        cmocka_unit_test(test_a_case_that_stops_fails),
        cmocka_unit_test(test_a_case_without_rows_fails),
        cmocka_unit_test(test_the_observed_order_is_the_slope),
        cmocka_unit_test(test_a_part_is_done_once_at_a_commit),
        cmocka_unit_test(test_results_are_kept_with_their_commit),
        cmocka_unit_test(test_curves_are_drawn_with_what_was_measured),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
