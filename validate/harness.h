// Physics against known solutions: what a case reports, and what helps it to measure.
//
// A case is a function that simulates something whose answer is known and reports one row for each
// number it compares. It drives the public API; treacle/unstable where a single stage is compared.
// A convergence study runs several resolutions and reports the observed order, never one
// resolution alone.
//
// A row passes if error <= tolerance, so a NaN never passes. A row that is only shown (what a
// comparator gives, say) has no tolerance: it is printed as "info", null in JSON, and passes.
#pragma once

#include <stdio.h>

#include "treacle/treacle.h"

/// Ends the case with the error of a call.
#define VALIDATE_TRY(call)                                                                         \
    do {                                                                                           \
        treacle_status try_status_ = (call);                                                       \
        if (try_status_ != TREACLE_OK) {                                                           \
            return try_status_;                                                                    \
        }                                                                                          \
    } while (0)

/// How long a case takes. Asking for a tier runs the lower ones too.
typedef enum validate_tier {
    VALIDATE_QUICK, ///< all together at most 8 minutes on 2 cores
    VALIDATE_FULL,  ///< with the quick ones at most 60 minutes
    VALIDATE_LONG,  ///< hours; goes on where it was stopped, and its results are kept
    VALIDATE_TIER_COUNT
} validate_tier;
const char* validate_tier_name(validate_tier tier);

typedef struct validate validate;
typedef treacle_status validate_fcn(validate* v);

typedef struct validate_case {
    const char* name;
    validate_tier tier;
    double seconds;   ///< on 2 cores, estimated
    const char* text; ///< what is compared with what, one line
    validate_fcn* run;
} validate_case;

enum { VALIDATE_TEXT = 96 };

typedef struct validate_row {
    char quantity[VALIDATE_TEXT];
    double measured, reference, error;
    double tolerance; ///< ignored if not scored
    bool is_scored;
} validate_row;

bool validate_row_passes(const validate_row* row);

enum { VALIDATE_CURVES = 8, VALIDATE_CURVE_POINTS = 64 };

typedef struct validate_curve {
    char name[VALIDATE_TEXT];
    int count;
    double x[VALIDATE_CURVE_POINTS], y[VALIDATE_CURVE_POINTS];
} validate_curve;

/// A plot of a case's own: curves of theory, and what was measured.
typedef struct validate_chart {
    const char *x_label, *y_label; ///< with their units
    int curve_count;               ///< 0: the plot shows the rows one after the other
    validate_curve curves[VALIDATE_CURVES];
    validate_curve measured;
} validate_chart;

/// Where rows go.
typedef struct validate_options {
    FILE* out;           ///< rows and summary
    bool as_json;        ///< one object a line instead of a table
    const char* results; ///< folder of <case>.json with the rows and their commit; NULL: not kept
    const char* work;    ///< folder for the parts of long cases
    const char* part;    ///< only parts whose names have this text are run; NULL: all
    const char* parts;   ///< folder of <case>.json with parts that were recorded; NULL: none
    bool records_parts;  ///< what is run goes there
    const char* commit;  ///< of the sources, "unknown" if they are not from git
} validate_options;

/// A session: context, options and the rows of the case being run.
struct validate {
    treacle_context* ctx;
    validate_options options;
    const validate_case* current;
    int row_count, row_capacity;
    validate_row* rows;
    validate_chart chart;
    int part_begin;            ///< first row of the open part
    char part[VALIDATE_TEXT];  ///< its name
    int passed, failed, shown; ///< rows of all cases so far
    int failed_cases;
};

void validate_init(validate* v, treacle_context* ctx, const validate_options* options);
void validate_finish(validate* v);
/// Runs one case and prints its rows. A case that ends with an error has a failing row "completed".
void validate_run_case(validate* v, const validate_case* which);
/// A plot of the case's own instead of one of its rows. Texts are not copied.
void validate_axes(validate* v, const char* x_label, const char* y_label);
/// Adds a curve of theory to it. `at` has pairs of x and y; what finds no room is left out.
void validate_draw_curve(validate* v, const char* name, int count, const double (*at)[2]);
/// Adds what was measured at x.
void validate_draw_point(validate* v, double x, double y);
/// Draws what the last case measured against its references, as PNG and SVG in the folder.
treacle_status validate_plot_case(const validate* v, const char* folder);
/// Prints the table's head, or its sum. Nothing in JSON.
void validate_print_head(const validate* v);
void validate_print_sum(const validate* v, int case_count, double seconds);

// ---- Rows. `quantity` is a printf format.

/// error = |measured / reference - 1|
void validate_relative(validate* v, double measured, double reference, double tolerance,
                       const char* quantity, ...) TREACLE_PRINTF(5, 6);
/// error = |measured - reference|
void validate_absolute(validate* v, double measured, double reference, double tolerance,
                       const char* quantity, ...) TREACLE_PRINTF(5, 6);
/// Passes if measured >= reference - slack; error is what is missing.
void validate_at_least(validate* v, double measured, double reference, double slack,
                       const char* quantity, ...) TREACLE_PRINTF(5, 6);
/// Passes if measured <= reference + slack; error is what is too much.
void validate_at_most(validate* v, double measured, double reference, double slack,
                      const char* quantity, ...) TREACLE_PRINTF(5, 6);
/// Only shown. The reference may be NAN.
void validate_info(validate* v, double measured, double reference, const char* quantity, ...)
    TREACLE_PRINTF(4, 5);
/// One row: the order of convergence, a line through (log h, log error), at least order - slack.
void validate_order(validate* v, int count, const double* h, const double* error, double order,
                    double slack, const char* quantity, ...) TREACLE_PRINTF(7, 8);
/// The slope of that line; NAN for fewer than two points or errors that are not positive.
double validate_observed_order(int count, const double* h, const double* error);

// ---- Long cases are made of parts. A part that was done at this commit is not run again: its rows
// are read back. Where only some parts are asked for, the others are what was recorded of them, at
// whatever commit; what was never recorded has no rows.

/// True if the part must be run; then validate_part_end() follows.
bool validate_part_begin(validate* v, const char* name);
treacle_status validate_part_end(validate* v);

// ---- Simulations

/// A simulation from a scene's text, a printf format. Prints all diagnostics of a bad one.
treacle_status validate_sim_create(validate* v, treacle_sim** out, const char* scene, ...)
    TREACLE_PRINTF(3, 4);
/// Steps of at most dt until the time is `until`.
treacle_status validate_advance(treacle_sim* sim, double until, double dt);
/// Where particle `index` of the frame is, in m. `tile` must be the one that holds it.
void validate_position(const treacle_frame* frame, int64_t tile, int64_t index, double out[3]);
typedef struct validate_particle {
    uint64_t id;
    double place[3]; ///< m
} validate_particle;
/// All particles in the order of their ids. The caller frees *out.
treacle_status validate_particles(treacle_sim* sim, validate_particle** out, int64_t* count);
/// One line on stderr while a long case runs, so that what it has seen is not lost with it.
void validate_progress(const validate* v, const char* format, ...) TREACLE_PRINTF(2, 3);
/// Says on stderr what went wrong, in the words of the case, and returns ERR_INTERNAL.
treacle_status validate_stop(validate* v, const char* format, ...) TREACLE_PRINTF(2, 3);
