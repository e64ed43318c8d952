// Lines and words on paper, of pixels or of SVG.
//
// Coordinates are pixels from the top left. Words are drawn with a font of strokes on pixels and
// left to the viewer's font in SVG.
#pragma once

#include "base/text.h"
#include "image/image.h"

typedef struct canvas_colour {
    uint8_t r, g, b;
} canvas_colour;

typedef struct plot_canvas {
    treacle_context* ctx;
    int width, height;
    bool is_svg;
    image_rgb8 image;
    text svg;
} plot_canvas;

typedef enum canvas_anchor {
    CANVAS_LEFT,
    CANVAS_MIDDLE,
    CANVAS_RIGHT,
} canvas_anchor;

typedef struct canvas_stroke {
    canvas_colour colour;
    double width; // pixels
} canvas_stroke;

typedef struct canvas_word {
    double x, y; // of the baseline
    double size; // pixels, height of capitals
    canvas_anchor anchor;
    bool is_upright; // turned by a quarter to the left
    canvas_colour colour;
} canvas_word;

treacle_status plot_canvas_create(treacle_context* ctx, int width, int height, bool is_svg,
                                  plot_canvas* out) TREACLE_NODISCARD;
void plot_canvas_destroy(plot_canvas* c);
/// Through `count` points, x and y in turn.
void plot_canvas_path(plot_canvas* c, const double* points, int64_t count, canvas_stroke stroke);
void plot_canvas_dot(plot_canvas* c, double x, double y, double radius, canvas_colour colour);
void plot_canvas_text(plot_canvas* c, canvas_word where, const char* words);
/// Writes the file as a whole or not at all.
treacle_status plot_canvas_write(plot_canvas* c, const char* path) TREACLE_NODISCARD;
