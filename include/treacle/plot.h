// Plots of curves and points, as PNG or SVG, without any other program.
#pragma once

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A curve, or points. Values that are not finite leave a gap.
typedef struct treacle_plot_line {
    const char* name; ///< in the legend; NULL: not there
    int64_t count;
    const double *x, *y; ///< not owned
    bool is_points;      ///< marks instead of a line
} treacle_plot_line;

typedef struct treacle_plot_def {
    size_t def_size;     ///< set by treacle_plot_def_default(), checked on entry
    const char* title;   ///< may be NULL
    const char* x_label; ///< with its unit
    const char* y_label;
    bool is_log_x, is_log_y; ///< only positive values are then drawn
    int width, height;       ///< pixels, 100..8192
    int line_count;
    const treacle_plot_line* lines;
} treacle_plot_def;

TREACLE_API treacle_plot_def treacle_plot_def_default(void);
/// Writes a .png or .svg file as a whole or not at all. Equal plots give equal bytes.
TREACLE_API treacle_status treacle_plot_write(treacle_context* ctx, const treacle_plot_def* def,
                                              const char* path);

#ifdef __cplusplus
}
#endif
