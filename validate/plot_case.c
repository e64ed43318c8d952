// What a case measured against what it should be, as a plot.
#include <math.h>
#include <stdio.h>
#include <sys/stat.h>

#include "harness.h"

enum { ROWS_MAX = 512, PATH_BYTES = 512 };

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

treacle_status validate_plot_case(const validate* v, const char* folder) {
    static const char* const endings[] = {"png", "svg"};
    double x[ROWS_MAX], measured[ROWS_MAX], reference[ROWS_MAX];
    int count = v->row_count < ROWS_MAX ? v->row_count : ROWS_MAX;
    for (int i = 0; i < count; ++i) {
        x[i] = i + 1.0;
        measured[i] = v->rows[i].measured;
        reference[i] = v->rows[i].reference;
    }
    const treacle_plot_line lines[2] = {{"reference", count, x, reference, false},
                                        {"measured", count, x, measured, true}};
    treacle_plot_def def = treacle_plot_def_default();
    def.title = v->current->name;
    def.x_label = "row of the case";
    def.y_label = "value";
    def.is_log_y = wants_log(measured, reference, count);
    def.line_count = 2;
    def.lines = lines;
    mkdir("out", 0777);
    mkdir(folder, 0777);
    treacle_status status = TREACLE_OK;
    for (int k = 0; k < 2 && status == TREACLE_OK && count > 0; ++k) {
        char path[PATH_BYTES];
        snprintf(path, sizeof(path), "%s/plot_%s.%s", folder, v->current->name, endings[k]);
        status = treacle_plot_write(v->ctx, &def, path);
    }
    return status;
}
