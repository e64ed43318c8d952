#include "image/plot_canvas.h"

#include <math.h>
#include <string.h>

#include "base/atomic_file.h"

enum { GLYPH_FIRST = 32, GLYPH_LAST = 126 };

// A glyph: strokes of points, two digits each, x from 0 to 4 and y up from 0, with the baseline at
// 2, small letters to 6 and capitals to 8.
static const char* const glyphs[GLYPH_LAST - GLYPH_FIRST + 1] = {
    ['!' - 32] = "2824 2322",
    ['%' - 32] = "0248 0718 3243",
    ['\'' - 32] = "2826",
    ['(' - 32] = "38272332",
    [')' - 32] = "18272312",
    ['*' - 32] = "1337 1733",
    ['+' - 32] = "0545 2723",
    [',' - 32] = "2211",
    ['-' - 32] = "0545",
    ['.' - 32] = "2223",
    ['/' - 32] = "0248",
    ['0' - 32] = "120307183847433212",
    ['1' - 32] = "072822 1232",
    ['2' - 32] = "07183847460242",
    ['3' - 32] = "084826364543321203",
    ['4' - 32] = "32380444",
    ['5' - 32] = "480805354443321203",
    ['6' - 32] = "3818070312324344351504",
    ['7' - 32] = "084812",
    ['8' - 32] = "15060718384746351504031232434435",
    ['9' - 32] = "1232434738180706153546",
    [':' - 32] = "2526 2223",
    ['<' - 32] = "460442",
    ['=' - 32] = "0646 0444",
    ['>' - 32] = "064402",
    ['A' - 32] = "022842 1434",
    ['B' - 32] = "020838474635053544433202",
    ['C' - 32] = "4738180703123243",
    ['D' - 32] = "02082846442202",
    ['E' - 32] = "48080242 0535",
    ['F' - 32] = "480802 0535",
    ['G' - 32] = "47381807031232434525",
    ['H' - 32] = "0802 4842 0545",
    ['I' - 32] = "1838 2822 1232",
    ['J' - 32] = "3833221203",
    ['K' - 32] = "0802 4804 1542",
    ['L' - 32] = "080242",
    ['M' - 32] = "0208254842",
    ['N' - 32] = "02084248",
    ['O' - 32] = "120307183847433212",
    ['P' - 32] = "02083847463505",
    ['Q' - 32] = "120307183847433212 2442",
    ['R' - 32] = "02083847463505 2542",
    ['S' - 32] = "473818070615354443321203",
    ['T' - 32] = "0848 2822",
    ['U' - 32] = "080312324348",
    ['V' - 32] = "082248",
    ['W' - 32] = "0812253248",
    ['X' - 32] = "0842 0248",
    ['Y' - 32] = "082548 2522",
    ['Z' - 32] = "08480242",
    ['^' - 32] = "162836",
    ['_' - 32] = "0242",
    ['a' - 32] = "16364542 441403123243",
    ['b' - 32] = "08023243453606",
    ['c' - 32] = "4536160503123243",
    ['d' - 32] = "48421203051646",
    ['e' - 32] = "044445361605031242",
    ['f' - 32] = "38281712 0636",
    ['g' - 32] = "421203051646413010",
    ['h' - 32] = "0802 0516364542",
    ['i' - 32] = "2622 2827",
    ['j' - 32] = "26211000 2827",
    ['k' - 32] = "0802 460442",
    ['l' - 32] = "2822",
    ['m' - 32] = "0206 05162522 25364542",
    ['n' - 32] = "0206 0516364542",
    ['o' - 32] = "120305163645433212",
    ['p' - 32] = "00063645433202",
    ['q' - 32] = "40461605031242",
    ['r' - 32] = "0206 051636",
    ['s' - 32] = "45361605143443321203",
    ['t' - 32] = "282332 1636",
    ['u' - 32] = "0603123243 4642",
    ['v' - 32] = "062246",
    ['w' - 32] = "0612253246",
    ['x' - 32] = "0642 0246",
    ['y' - 32] = "0622 4610",
    ['z' - 32] = "06460242",
};

// In heights of capitals: from one letter to the next; a unit of the glyphs' lattice.
static const double advance = 0.98, unit = 1.0 / 6.0;

treacle_status plot_canvas_create(treacle_context* ctx, int width, int height, bool is_svg,
                                  plot_canvas* out) {
    TREACLE_ASSERT(width > 0 && height > 0);
    *out = (plot_canvas){.ctx = ctx, .width = width, .height = height, .is_svg = is_svg};
    text_init(&out->svg, ctx);
    if (is_svg) {
        text_printf(&out->svg,
                    "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
                    "viewBox=\"0 0 %d %d\">\n<rect width=\"%d\" height=\"%d\" fill=\"#ffffff\"/>\n",
                    width, height, width, height, width, height);
        return text_status(&out->svg);
    }
    TREACLE_TRY(image_create(ctx, width, height, &out->image));
    memset(out->image.pixels, 255, (size_t)width * (size_t)height * 3);
    return TREACLE_OK;
}

void plot_canvas_destroy(plot_canvas* c) {
    if (!c->is_svg && c->image.pixels != NULL) {
        image_destroy(&c->image);
    }
    text_finish(&c->svg);
}

static void blend(plot_canvas* c, int x, int y, canvas_colour colour, double fraction) {
    if (x < 0 || y < 0 || x >= c->width || y >= c->height || !(fraction > 0.0)) {
        return;
    }
    uint8_t* p = image_at(&c->image, x, y);
    const uint8_t to[3] = {colour.r, colour.g, colour.b};
    for (int k = 0; k < 3; ++k) {
        p[k] = (uint8_t)(p[k] + fraction * (to[k] - p[k]) + 0.5);
    }
}

// Distance of a point from a segment.
static double segment_distance(const double a[2], const double b[2], double x, double y) {
    double dx = b[0] - a[0], dy = b[1] - a[1], square = dx * dx + dy * dy;
    double t = square > 0.0 ? ((x - a[0]) * dx + (y - a[1]) * dy) / square : 0.0;
    t = fmin(fmax(t, 0.0), 1.0);
    double ex = x - a[0] - t * dx, ey = y - a[1] - t * dy;
    return sqrt(ex * ex + ey * ey);
}

static void draw_segment(plot_canvas* c, const double a[2], const double b[2],
                         canvas_stroke stroke) {
    double reach = 0.5 * stroke.width + 1.0;
    double left = fmax(fmin(a[0], b[0]) - reach, 0.0), top = fmax(fmin(a[1], b[1]) - reach, 0.0);
    double right = fmin(fmax(a[0], b[0]) + reach, (double)c->width);
    double bottom = fmin(fmax(a[1], b[1]) + reach, (double)c->height);
    for (int y = (int)top; y < (int)ceil(bottom); ++y) {
        for (int x = (int)left; x < (int)ceil(right); ++x) {
            double away = segment_distance(a, b, x + 0.5, y + 0.5);
            blend(c, x, y, stroke.colour, fmin(fmax(reach - 0.5 - away, 0.0), 1.0));
        }
    }
}

void plot_canvas_path(plot_canvas* c, const double* points, int64_t count, canvas_stroke stroke) {
    TREACLE_ASSERT(count >= 0 && (points != NULL || count == 0));
    TREACLE_ASSERT(stroke.width > 0.0);
    if (!c->is_svg) {
        for (int64_t i = 0; i + 1 < count; ++i) {
            draw_segment(c, points + 2 * i, points + 2 * i + 2, stroke);
        }
        return;
    }
    text_printf(&c->svg,
                "<polyline fill=\"none\" stroke=\"#%02x%02x%02x\" stroke-width=\"%.2f\" "
                "stroke-linejoin=\"round\" points=\"",
                stroke.colour.r, stroke.colour.g, stroke.colour.b, stroke.width);
    for (int64_t i = 0; i < count; ++i) {
        text_printf(&c->svg, "%s%.2f,%.2f", i == 0 ? "" : " ", points[2 * i], points[2 * i + 1]);
    }
    text_append(&c->svg, "\"/>\n");
}

void plot_canvas_dot(plot_canvas* c, double x, double y, double radius, canvas_colour colour) {
    TREACLE_ASSERT(radius > 0.0);
    if (c->is_svg) {
        text_printf(&c->svg,
                    "<circle cx=\"%.2f\" cy=\"%.2f\" r=\"%.2f\" fill=\"#%02x%02x%02x\"/>\n", x, y,
                    radius, colour.r, colour.g, colour.b);
        return;
    }
    const double at[2] = {x, y};
    draw_segment(c, at, at, (canvas_stroke){colour, 2.0 * radius});
}

static void append_escaped(text* t, const char* words) {
    for (const char* p = words; *p != '\0'; ++p) {
        switch (*p) {
        case '<':
            text_append(t, "&lt;");
            break;
        case '>':
            text_append(t, "&gt;");
            break;
        case '&':
            text_append(t, "&amp;");
            break;
        default:
            text_append_char(t, *p);
        }
    }
}

static void write_svg(plot_canvas* c, const canvas_word* w, const char* words) {
    static const char* const anchors[] = {"start", "middle", "end"};
    text_printf(&c->svg,
                "<text x=\"%.2f\" y=\"%.2f\" font-family=\"sans-serif\" font-size=\"%.1f\" "
                "fill=\"#%02x%02x%02x\" text-anchor=\"%s\"",
                w->x, w->y, 1.4 * w->size, w->colour.r, w->colour.g, w->colour.b,
                anchors[w->anchor]);
    if (w->is_upright) {
        text_printf(&c->svg, " transform=\"rotate(-90 %.2f %.2f)\"", w->x, w->y);
    }
    text_append_char(&c->svg, '>');
    append_escaped(&c->svg, words);
    text_append(&c->svg, "</text>\n");
}

static void draw_glyph(plot_canvas* c, const canvas_word* w, char letter, double at) {
    bool is_known = letter >= GLYPH_FIRST && letter <= GLYPH_LAST;
    const char* strokes = is_known ? glyphs[letter - GLYPH_FIRST] : NULL;
    double before[2] = {0.0, 0.0}, scale = w->size * unit;
    bool has_before = false;
    for (const char* p = strokes == NULL ? "" : strokes; *p != '\0'; ++p) {
        if (*p == ' ') {
            has_before = false;
            continue;
        }
        double x = at + scale * (p[0] - '0'), y = -scale * (p[1] - '2');
        ++p;
        double here[2] = {w->x + (w->is_upright ? y : x), w->y + (w->is_upright ? -x : y)};
        if (has_before) {
            draw_segment(c, before, here, (canvas_stroke){w->colour, 0.11 * w->size + 0.4});
        }
        before[0] = here[0];
        before[1] = here[1];
        has_before = true;
    }
}

void plot_canvas_text(plot_canvas* c, canvas_word where, const char* words) {
    TREACLE_ASSERT(words != NULL && where.size > 0.0);
    if (c->is_svg) {
        write_svg(c, &where, words);
        return;
    }
    size_t length = strlen(words);
    double step = advance * where.size, width = step * (double)length - 0.3 * where.size;
    double at = where.anchor == CANVAS_LEFT    ? 0.0
                : where.anchor == CANVAS_RIGHT ? -width
                                               : -0.5 * width;
    for (size_t i = 0; i < length; ++i) {
        draw_glyph(c, &where, words[i], at + step * (double)i);
    }
}

static treacle_status write_text(plot_canvas* c, const char* path) {
    text_append(&c->svg, "</svg>\n");
    TREACLE_TRY(text_status(&c->svg));
    atomic_file file;
    TREACLE_TRY(atomic_file_open(c->ctx, path, &file));
    TREACLE_TRY(atomic_file_append(&file, c->svg.at, c->svg.length));
    return atomic_file_commit(&file);
}

treacle_status plot_canvas_write(plot_canvas* c, const char* path) {
    return c->is_svg ? write_text(c, path) : png_write(c->ctx, &c->image, path);
}
