// Plots: files that are whole, equal each time, and refuse what they cannot draw.
#include "treacle/plot.h"

#include <stdio.h>
#include <unistd.h>

#include "alloc_failure.h"
#include "frame_fixture.h"

enum { POINTS = 50 };

static double x[POINTS], y[POINTS];

static treacle_plot_def make_def(const treacle_plot_line* line) {
    for (int i = 0; i < POINTS; ++i) {
        x[i] = 0.1 * i;
        y[i] = i == 20 ? NAN : 1e-3 * i * i + 0.5;
    }
    treacle_plot_def def = treacle_plot_def_default();
    def.title = "Growth & <decay>";
    def.x_label = "time (s)";
    def.y_label = "energy (J)";
    def.line_count = 1;
    def.lines = line;
    return def;
}

static size_t write_bytes(treacle_context* ctx, const treacle_plot_def* def, const char* ending,
                          uint8_t** out) {
    char folder[FIXTURE_PATH], path[FIXTURE_PATH + 16];
    fixture_folder(folder);
    snprintf(path, sizeof(path), "%s/plot.%s", folder, ending);
    assert_int_equal(treacle_plot_write(ctx, def, path), TREACLE_OK);
    size_t size = fixture_bytes(path, out);
    unlink(path);
    assert_int_equal(rmdir(folder), 0);
    return size;
}

static void test_plots_are_the_same_each_time(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    const treacle_plot_line line = {"a line", POINTS, x, y, false};
    for (int k = 0; k < 4; ++k) {
        treacle_plot_def def = make_def(&line);
        def.is_log_y = k % 2 == 1;
        const char* ending = k < 2 ? "png" : "svg";
        uint8_t *a = NULL, *b = NULL;
        size_t size = write_bytes(ctx, &def, ending, &a);
        assert_int_equal(write_bytes(ctx, &def, ending, &b), size);
        assert_memory_equal(a, b, size);
        assert_true(size > 1000);
        free(a);
        free(b);
    }
    unit_context_end(ctx);
}

static void test_svg_has_its_words_and_two_parts_around_a_gap(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    const treacle_plot_line line = {"a line", POINTS, x, y, false};
    treacle_plot_def def = make_def(&line);
    uint8_t* bytes = NULL;
    size_t size = write_bytes(ctx, &def, "svg", &bytes);
    bytes[size] = '\0';
    const char* text = (const char*)bytes;
    assert_non_null(strstr(text, "Growth &amp; &lt;decay&gt;"));
    assert_non_null(strstr(text, "energy (J)"));
    int lines = 0;
    for (const char* p = text; (p = strstr(p, "#c86a00")) != NULL; ++p) {
        lines += 1;
    }
    assert_int_equal(lines, 3); // two parts of the line, and its sample in the legend
    free(bytes);
    unit_context_end(ctx);
}

static void test_nothing_to_draw_is_an_empty_plot(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    treacle_plot_def def = treacle_plot_def_default();
    uint8_t* bytes = NULL;
    assert_true(write_bytes(ctx, &def, "png", &bytes) > 100);
    free(bytes);
    unit_context_end(ctx);
}

static void test_wrong_plots_are_refused(void** state) {
    (void)state;
    treacle_context* ctx = unit_context(1);
    treacle_plot_def def = treacle_plot_def_default();
    assert_int_equal(treacle_plot_write(ctx, &def, "plot.gif"), TREACLE_ERR_USAGE);
    assert_error_says(ctx, ".png or .svg");
    def.width = 0;
    assert_int_equal(treacle_plot_write(ctx, &def, "plot.png"), TREACLE_ERR_USAGE);
    assert_error_says(ctx, "0 x 500 pixels");
    def = treacle_plot_def_default();
    assert_int_equal(treacle_plot_write(ctx, &def, "/nowhere/plot.png"), TREACLE_ERR_IO);
    unit_context_end(ctx);
}

static treacle_status write_both(treacle_context* ctx, void* data) {
    const treacle_plot_def* def = data;
    treacle_status status = treacle_plot_write(ctx, def, "/tmp/treacle-plot-test.svg");
    if (status == TREACLE_OK) {
        status = treacle_plot_write(ctx, def, "/tmp/treacle-plot-test.png");
    }
    unlink("/tmp/treacle-plot-test.svg");
    unlink("/tmp/treacle-plot-test.png");
    return status;
}

static void test_every_allocation_may_fail(void** state) {
    (void)state;
    const treacle_plot_line line = {"a line", POINTS, x, y, true};
    treacle_plot_def def = make_def(&line);
    def.width = def.height = 200;
    ALLOC_FAILURE_CHECK(write_both, &def);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plots_are_the_same_each_time),
        cmocka_unit_test(test_svg_has_its_words_and_two_parts_around_a_gap),
        cmocka_unit_test(test_nothing_to_draw_is_an_empty_plot),
        cmocka_unit_test(test_wrong_plots_are_refused),
        cmocka_unit_test(test_every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
