// What a case measured against what it should be, as a plot.
#include <math.h>
#include <stdio.h>
#include <sys/stat.h>

#include "harness.h"

enum { ROWS_MAX = 512, PATH_BYTES = 512, LINES_MAX = VALIDATE_CURVES + 1 };

void validate_axes(validate* v, const char* x_label, const char* y_label) {
    v->chart.x_label = x_label;
    v->chart.y_label = y_label;
}

static void add_point(validate_curve* c, double x, double y) {
    if (c->count < VALIDATE_CURVE_POINTS) {
        c->x[c->count] = x;
        c->y[c->count++] = y;
    }
}

void validate_draw_curve(validate* v, const char* name, int count, const double (*at)[2]) {
    if (v->chart.curve_count == VALIDATE_CURVES) {
        return;
    }
    validate_curve* c = &v->chart.curves[v->chart.curve_count++];
    snprintf(c->name, sizeof(c->name), "%s", name);
    for (int i = 0; i < count; ++i) {
        add_point(c, at[i][0], at[i][1]);
    }
}

void validate_draw_point(validate* v, double x, double y) {
    add_point(&v->chart.measured, x, y);
}

static bool wants_log(const double* a, const double* b, int count) {
    double low = INFINITY, high = 0.0;
    for (int i = 0; i < count; ++i) {
        const double pair[2] = {a[i], b[i]};
        for (int k = 0; k < 2; ++k) {
            if (isfinite(pair[k])) {
                low = fmin(low, pair[k]);
                high = fmax(high, pair[k]);
            }
        }
    }
    return low > 0.0 && high > 100.0 * low;
}

static treacle_status write_files(const validate* v, const treacle_plot_def* def,
                                  const char* folder) {
    static const char* const endings[] = {"png", "svg"};
    mkdir("out", 0777);
    mkdir(folder, 0777);
    treacle_status status = TREACLE_OK;
    for (int k = 0; k < 2 && status == TREACLE_OK; ++k) {
        char path[PATH_BYTES];
        snprintf(path, sizeof(path), "%s/plot_%s.%s", folder, v->current->name, endings[k]);
        status = treacle_plot_write(v->ctx, def, path);
    }
    return status;
}

static treacle_plot_line line_of(const validate_curve* c, bool is_points) {
    return (treacle_plot_line){
        .name = c->name, .count = c->count, .x = c->x, .y = c->y, .is_points = is_points};
}

static treacle_status plot_chart(const validate* v, const char* folder) {
    const validate_chart* chart = &v->chart;
    treacle_plot_line lines[LINES_MAX];
    for (int i = 0; i < chart->curve_count; ++i) {
        lines[i] = line_of(&chart->curves[i], false);
    }
    lines[chart->curve_count] = line_of(&chart->measured, true);
    treacle_plot_def def = treacle_plot_def_default();
    def.title = v->current->name;
    def.x_label = chart->x_label;
    def.y_label = chart->y_label;
    def.line_count = chart->curve_count + 1;
    def.lines = lines;
    return write_files(v, &def, folder);
}

static treacle_status plot_rows(const validate* v, const char* folder) {
    double x[ROWS_MAX], measured[ROWS_MAX], reference[ROWS_MAX];
    int count = v->row_count < ROWS_MAX ? v->row_count : ROWS_MAX;
    for (int i = 0; i < count; ++i) {
        x[i] = i + 1.0;
        measured[i] = v->rows[i].measured;
        reference[i] = v->rows[i].reference;
    }
    const treacle_plot_line lines[2] = {
        {.name = "reference", .count = count, .x = x, .y = reference},
        {.name = "measured", .count = count, .x = x, .y = measured, .is_points = true}};
    treacle_plot_def def = treacle_plot_def_default();
    def.title = v->current->name;
    def.x_label = "row of the case";
    def.y_label = "value";
    def.is_log_y = wants_log(measured, reference, count);
    def.line_count = 2;
    def.lines = lines;
    return count > 0 ? write_files(v, &def, folder) : TREACLE_OK;
}

treacle_status validate_plot_case(const validate* v, const char* folder) {
    return v->chart.curve_count > 0 ? plot_chart(v, folder) : plot_rows(v, folder);
}
