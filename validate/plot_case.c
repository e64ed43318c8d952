// What a case measured against what it should be, as a plot.
#include <math.h>
#include <stdio.h>
#include <string.h>
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

static bool says(const validate_row* row, const char* what) {
    return strstr(row->quantity, what) != NULL;
}

// The curve of a case whose rows tell a height and, later, the frequency there: as many points as
// there are pairs. 0: it is no such case.
static int find_curve(const validate* v, double* x, double* measured, double* reference) {
    int heights = 0, points = 0;
    for (int i = 0; i < v->row_count && heights < ROWS_MAX; ++i) {
        if (says(&v->rows[i], "height above the foot")) {
            x[heights++] = v->rows[i].measured;
        }
    }
    for (int i = 0; i < v->row_count && points < heights; ++i) {
        if (says(&v->rows[i], ": Hz, at the height")) {
            measured[points] = v->rows[i].measured;
            reference[points++] = v->rows[i].reference;
        }
    }
    return points;
}

static void set_labels(treacle_plot_def* def, bool is_curve) {
    def->x_label = is_curve ? "height of fall, m" : "row of the case";
    def->y_label = is_curve ? "frequency, Hz" : "value";
}

treacle_status validate_plot_case(const validate* v, const char* folder) {
    static const char* const endings[] = {"png", "svg"};
    double x[ROWS_MAX], measured[ROWS_MAX], reference[ROWS_MAX];
    int points = find_curve(v, x, measured, reference);
    int count = points > 0 ? points : v->row_count < ROWS_MAX ? v->row_count : ROWS_MAX;
    for (int i = 0; i < count && points == 0; ++i) {
        x[i] = i + 1.0;
        measured[i] = v->rows[i].measured;
        reference[i] = v->rows[i].reference;
    }
    const treacle_plot_line lines[2] = {{"reference", count, x, reference, false},
                                        {"measured", count, x, measured, true}};
    treacle_plot_def def = treacle_plot_def_default();
    def.title = v->current->name;
    set_labels(&def, points > 0);
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
