#include "treacle/plot.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "image/plot_canvas.h"

enum { TICKS_MAX = 64, LABEL_MAX = 32, COLOURS = 8, SIZE_MIN = 100, SIZE_LARGEST = 8192 };

static const canvas_colour palette[COLOURS] = {
    {0xc8, 0x6a, 0x00}, {0x1f, 0x6f, 0xb4}, {0x2a, 0x91, 0x4e}, {0xb0, 0x2a, 0x37},
    {0x6f, 0x4a, 0xa8}, {0x8a, 0x5a, 0x2b}, {0x1a, 0x8f, 0x97}, {0x66, 0x66, 0x66},
};
static const canvas_colour ink = {0x22, 0x22, 0x22}, grid_colour = {0xe3, 0xe3, 0xe3};

typedef struct axis {
    double low, high; // of the values, or of their logarithms
    bool is_log;
    double from, to; // pixels
    int tick_count;
    double tick[TICKS_MAX];
    char label[TICKS_MAX][LABEL_MAX];
} axis;

typedef struct plot {
    const treacle_plot_def* def;
    plot_canvas canvas;
    axis x, y;
    double* points; // scratch for the longest line
} plot;

treacle_plot_def treacle_plot_def_default(void) {
    return (treacle_plot_def){.def_size = sizeof(treacle_plot_def), .width = 800, .height = 500};
}

static treacle_status plot_check_def(treacle_context* ctx, const treacle_plot_def* def) {
    if (def == NULL || def->def_size != sizeof(*def)) {
        return check_fail(ctx, TREACLE_ERR_USAGE,
                          "the plot def does not come from treacle_plot_def_default()");
    }
    if (def->width < SIZE_MIN || def->width > SIZE_LARGEST || def->height < SIZE_MIN ||
        def->height > SIZE_LARGEST) {
        return check_fail(ctx, TREACLE_ERR_USAGE, "a plot of %d x %d pixels, expected %d to %d",
                          def->width, def->height, SIZE_MIN, SIZE_LARGEST);
    }
    return TREACLE_OK;
}

static bool can_draw(const axis* a, double value) {
    return isfinite(value) && (!a->is_log || value > 0.0);
}

static double on_axis(const axis* a, double value) {
    return a->is_log ? log10(value) : value;
}

static double place(const axis* a, double value) {
    double t = (on_axis(a, value) - a->low) / (a->high - a->low);
    return a->from + t * (a->to - a->from);
}

static void take_range(axis* a, const treacle_plot_def* def, bool is_x) {
    a->low = INFINITY;
    a->high = -INFINITY;
    for (int i = 0; i < def->line_count; ++i) {
        const treacle_plot_line* line = &def->lines[i];
        const double* values = is_x ? line->x : line->y;
        for (int64_t k = 0; k < line->count; ++k) {
            if (can_draw(a, values[k])) {
                a->low = fmin(a->low, on_axis(a, values[k]));
                a->high = fmax(a->high, on_axis(a, values[k]));
            }
        }
    }
    if (!(a->low <= a->high)) {
        a->low = 0.0;
        a->high = 1.0;
    }
    // Room around, and zero where it is near.
    double span = a->high - a->low, size = fmax(fabs(a->low), fabs(a->high));
    span = span > 1e-9 * size ? span : (size > 0.0 ? 0.2 * size : 1.0);
    if (!is_x && !a->is_log && a->low > 0.0 && a->low < 0.5 * a->high) {
        a->low = 0.0;
    } else if (!is_x) {
        a->low -= a->low == 0.0 && !a->is_log ? 0.0 : 0.06 * span;
    }
    a->high += is_x ? 0.0 : 0.08 * span;
    if (!(a->high > a->low)) {
        a->high = a->low + span;
    }
}

static void set_linear_ticks(axis* a) {
    double raw = (a->high - a->low) / 6.0, decade = pow(10.0, floor(log10(raw)));
    double ratio = raw / decade;
    double step = decade * (ratio < 1.5 ? 1.0 : ratio < 3.5 ? 2.0 : ratio < 7.5 ? 5.0 : 10.0);
    for (double at = ceil(a->low / step - 1e-9) * step;
         at <= a->high + 1e-9 * step && a->tick_count < TICKS_MAX; at += step) {
        double value = fabs(at) < 1e-9 * step ? 0.0 : at;
        snprintf(a->label[a->tick_count], LABEL_MAX, "%.6g", value);
        a->tick[a->tick_count++] = value;
    }
}

static void set_log_ticks(axis* a) {
    int first = (int)floor(a->low), last = (int)ceil(a->high), span = last - first;
    int skip = span > 12 ? span / 8 : 1;
    for (int decade = first; decade <= last && a->tick_count < TICKS_MAX; decade += skip) {
        for (int digit = 1; digit < (span <= 2 ? 10 : 2); digit += digit == 1 ? 1 : 3) {
            double value = digit * pow(10.0, decade);
            if (log10(value) >= a->low - 1e-9 && log10(value) <= a->high + 1e-9 &&
                a->tick_count < TICKS_MAX) {
                snprintf(a->label[a->tick_count], LABEL_MAX, "%.3g", value);
                a->tick[a->tick_count++] = value;
            }
        }
    }
}

static void set_axis(axis* a, const treacle_plot_def* def, bool is_x) {
    take_range(a, def, is_x);
    if (a->is_log) {
        set_log_ticks(a);
    } else {
        set_linear_ticks(a);
    }
}

static void draw_frame(plot* p) {
    plot_canvas* c = &p->canvas;
    const axis *x = &p->x, *y = &p->y;
    for (int i = 0; i < x->tick_count; ++i) {
        double at = place(x, x->tick[i]);
        const double line[4] = {at, y->from, at, y->to};
        plot_canvas_path(c, line, 2, (canvas_stroke){grid_colour, 1.0});
        plot_canvas_text(c, (canvas_word){at, y->from + 20.0, 9.0, CANVAS_MIDDLE, false, ink},
                         x->label[i]);
    }
    for (int i = 0; i < y->tick_count; ++i) {
        double at = place(y, y->tick[i]);
        const double line[4] = {x->from, at, x->to, at};
        plot_canvas_path(c, line, 2, (canvas_stroke){grid_colour, 1.0});
        plot_canvas_text(c, (canvas_word){x->from - 8.0, at + 4.5, 9.0, CANVAS_RIGHT, false, ink},
                         y->label[i]);
    }
    const double box[10] = {x->from, y->from, x->to, y->from, x->to,
                            y->to,   x->from, y->to, x->from, y->from};
    plot_canvas_path(c, box, 5, (canvas_stroke){ink, 1.0});
}

static void draw_labels(plot* p) {
    const treacle_plot_def* def = p->def;
    double middle_x = 0.5 * (p->x.from + p->x.to), middle_y = 0.5 * (p->y.from + p->y.to);
    if (def->title != NULL) {
        plot_canvas_text(&p->canvas, (canvas_word){middle_x, 24.0, 12.0, CANVAS_MIDDLE, false, ink},
                         def->title);
    }
    if (def->x_label != NULL) {
        plot_canvas_text(
            &p->canvas,
            (canvas_word){middle_x, def->height - 12.0, 10.0, CANVAS_MIDDLE, false, ink},
            def->x_label);
    }
    if (def->y_label != NULL) {
        plot_canvas_text(&p->canvas, (canvas_word){20.0, middle_y, 10.0, CANVAS_MIDDLE, true, ink},
                         def->y_label);
    }
}

static void draw_line(plot* p, const treacle_plot_line* line, canvas_colour colour) {
    int64_t count = 0;
    for (int64_t i = 0; i <= line->count; ++i) {
        bool is_there =
            i < line->count && can_draw(&p->x, line->x[i]) && can_draw(&p->y, line->y[i]);
        if (!is_there) {
            if (count > 1 && !line->is_points) {
                plot_canvas_path(&p->canvas, p->points, count, (canvas_stroke){colour, 1.8});
            }
            count = 0;
            continue;
        }
        double x = place(&p->x, line->x[i]), y = place(&p->y, line->y[i]);
        if (line->is_points) {
            plot_canvas_dot(&p->canvas, x, y, 3.5, colour);
        }
        p->points[2 * count] = x;
        p->points[2 * count++ + 1] = y;
    }
}

static void draw_legend(plot* p) {
    int shown = 0;
    for (int i = 0; i < p->def->line_count; ++i) {
        const treacle_plot_line* line = &p->def->lines[i];
        if (line->name == NULL) {
            continue;
        }
        double x = p->x.to + 14.0, y = p->y.to + 12.0 + 20.0 * shown++;
        canvas_colour colour = palette[i % COLOURS];
        const double sample[4] = {x, y, x + 20.0, y};
        if (line->is_points) {
            plot_canvas_dot(&p->canvas, x + 10.0, y, 3.5, colour);
        } else {
            plot_canvas_path(&p->canvas, sample, 2, (canvas_stroke){colour, 2.5});
        }
        plot_canvas_text(&p->canvas, (canvas_word){x + 27.0, y + 4.5, 9.0, CANVAS_LEFT, false, ink},
                         line->name);
    }
}

static size_t longest_label(const axis* a) {
    size_t length = 0;
    for (int i = 0; i < a->tick_count; ++i) {
        size_t here = strlen(a->label[i]);
        length = here > length ? here : length;
    }
    return length;
}

static void lay_out(plot* p) {
    const treacle_plot_def* def = p->def;
    p->x.is_log = def->is_log_x;
    p->y.is_log = def->is_log_y;
    set_axis(&p->x, def, true);
    set_axis(&p->y, def, false);
    size_t legend = 0;
    for (int i = 0; i < def->line_count; ++i) {
        size_t length = def->lines[i].name == NULL ? 0 : strlen(def->lines[i].name);
        legend = length > legend ? length : legend;
    }
    p->x.from = 44.0 + 9.0 * (double)longest_label(&p->y);
    p->x.to = def->width - 20.0 - (legend > 0 ? 32.0 + 9.0 * (double)legend : 0.0);
    p->y.from = def->height - 48.0;
    p->y.to = 40.0;
}

static treacle_status draw_all(plot* p, treacle_context* ctx, const char* path) {
    int64_t most = 1;
    for (int i = 0; i < p->def->line_count; ++i) {
        most = p->def->lines[i].count > most ? p->def->lines[i].count : most;
    }
    void* block = NULL;
    TREACLE_TRY(alloc_array(ctx, 2 * (size_t)most, sizeof(double), "a plot", &block));
    p->points = block;
    lay_out(p);
    draw_frame(p);
    for (int i = 0; i < p->def->line_count; ++i) {
        draw_line(p, &p->def->lines[i], palette[i % COLOURS]);
    }
    draw_labels(p);
    draw_legend(p);
    alloc_free(ctx, block, 2 * (size_t)most * sizeof(double));
    return plot_canvas_write(&p->canvas, path);
}

treacle_status treacle_plot_write(treacle_context* ctx, const treacle_plot_def* def,
                                  const char* path) {
    TREACLE_TRY(plot_check_def(ctx, def));
    size_t length = strlen(path);
    const char* ending = length > 4 ? path + length - 4 : "";
    bool is_svg = strcasecmp(ending, ".svg") == 0;
    if (!is_svg && strcasecmp(ending, ".png") != 0) {
        return check_fail(ctx, TREACLE_ERR_USAGE, "%s: the ending must be .png or .svg", path);
    }
    plot p = {.def = def};
    // Numbers have a decimal point, whatever the program's locale.
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    locale_t before = c_locale == (locale_t)0 ? (locale_t)0 : uselocale(c_locale);
    treacle_status status = plot_canvas_create(ctx, def->width, def->height, is_svg, &p.canvas);
    if (status == TREACLE_OK) {
        status = draw_all(&p, ctx, path);
    }
    plot_canvas_destroy(&p.canvas);
    if (c_locale != (locale_t)0) {
        uselocale(before);
        freelocale(c_locale);
    }
    return status;
}
