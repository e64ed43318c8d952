#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "commands.h"
#include "frame_range.h"
#include "streamlines.h"

enum { LINES_MAX = 8, ENERGIES = 4, WORKS = 13 };

// Numbers of every step, by column.
typedef enum step_column {
    COLUMN_TIME,
    COLUMN_VOLUME,
    COLUMN_SURFACE_VOLUME,
    COLUMN_PRESSURE,
    COLUMN_VISCOSITY,
    COLUMN_ENERGIES,                           // what is there
    COLUMN_WORKS = COLUMN_ENERGIES + ENERGIES, // what was done since the begin
    COLUMN_STAGES = COLUMN_WORKS + WORKS,
    COLUMNS = COLUMN_STAGES + TREACLE_STAGE_COUNT,
} step_column;

static const char* const energy_names[ENERGIES] = {"kinetic", "bodies", "elastic", "potential"};
static const char* const work_names[WORKS] = {
    "forces",   "tension",   "solids",  "contacts", "particles", "dissipation", "numerical",
    "transfer", "advection", "density", "error",    "shrinkage", "fracture"};

typedef struct step_table {
    int64_t count, capacity;
    double* column[COLUMNS];
    bool is_short; // of memory
} step_table;

typedef struct plot_options {
    const char* folder;
    const char* output;
    const char* streamlines; // which frames; NULL: the statistics
    bool quiet;
} plot_options;

static bool grow(step_table* t) {
    int64_t more = t->capacity == 0 ? 1024 : 2 * t->capacity;
    for (int c = 0; c < COLUMNS; ++c) {
        double* grown = realloc(t->column[c], (size_t)more * sizeof(double));
        if (grown == NULL) {
            return false;
        }
        t->column[c] = grown;
    }
    t->capacity = more;
    return true;
}

// Potential energy and works add up from step to step.
static void take_energy(const treacle_energy_stats* e, step_table* t, int64_t i) {
    const double there[ENERGIES] = {e->kinetic, e->bodies, e->elastic, e->potential};
    const double done[WORKS] = {e->forces,    e->tension,      e->solids,     e->contacts,
                                e->particles, -e->dissipation, -e->numerical, e->transfer,
                                e->advection, e->density,      e->error,      e->shrinkage,
                                -e->fracture};
    for (int k = 0; k < ENERGIES; ++k) {
        t->column[COLUMN_ENERGIES + k][i] = there[k];
    }
    double before = i > 0 ? t->column[COLUMN_ENERGIES + ENERGIES - 1][i - 1] : 0.0;
    t->column[COLUMN_ENERGIES + ENERGIES - 1][i] += before;
    for (int k = 0; k < WORKS; ++k) {
        t->column[COLUMN_WORKS + k][i] =
            done[k] + (i > 0 ? t->column[COLUMN_WORKS + k][i - 1] : 0.0);
    }
}

static bool take_step(const treacle_step_stats* step, void* user) {
    step_table* t = user;
    if (t->count == t->capacity && !grow(t)) {
        t->is_short = true;
        return false;
    }
    int64_t i = t->count++;
    t->column[COLUMN_TIME][i] = step->time;
    take_energy(&step->energy, t, i);
    t->column[COLUMN_VOLUME][i] = step->volume;
    t->column[COLUMN_SURFACE_VOLUME][i] = step->surface_volume > 0.0 ? step->surface_volume : NAN;
    t->column[COLUMN_PRESSURE][i] = step->pressure.iterations;
    t->column[COLUMN_VISCOSITY][i] = step->viscosity.iterations;
    for (int s = 0; s < TREACLE_STAGE_COUNT; ++s) {
        t->column[COLUMN_STAGES + s][i] = step->seconds[s];
    }
    return true;
}

static void free_table(step_table* t) {
    for (int c = 0; c < COLUMNS; ++c) {
        free(t->column[c]);
    }
}

// One plot, as PNG and as SVG.
static treacle_status write_both(treacle_context* ctx, const plot_options* o, const char* name,
                                 const treacle_plot_def* def) {
    static const char* const endings[] = {"png", "svg"};
    for (int k = 0; k < 2; ++k) {
        char path[FRAME_PATH_CAPACITY];
        int length = snprintf(path, sizeof(path), "%s/plot_%s.%s", o->output, name, endings[k]);
        if (length < 0 || length >= FRAME_PATH_CAPACITY) {
            cli_error("the path %.60s... is too long", o->output);
            return TREACLE_ERR_LIMIT;
        }
        treacle_status status = treacle_plot_write(ctx, def, path);
        if (status != TREACLE_OK) {
            cli_fail(ctx, status);
            return status;
        }
        if (!o->quiet) {
            printf("%s\n", path);
        }
    }
    return TREACLE_OK;
}

static double sum_of(const step_table* t, int column) {
    double sum = 0.0;
    for (int64_t i = 0; i < t->count; ++i) {
        sum += isfinite(t->column[column][i]) ? t->column[column][i] : 0.0;
    }
    return sum;
}

static treacle_plot_line line_of(const step_table* t, int column, const char* name) {
    return (treacle_plot_line){name, t->count, t->column[COLUMN_TIME], t->column[column], false};
}

static double largest_of(const step_table* t, int column) {
    double largest = 0.0;
    for (int64_t i = 0; i < t->count; ++i) {
        largest = fmax(largest, fabs(t->column[column][i]));
    }
    return largest;
}

// Lines of columns that are at least a thousandth of the largest of them.
static int lines_of(const step_table* t, int first, int count, const char* const* names,
                    treacle_plot_line lines[LINES_MAX]) {
    double largest = 0.0;
    int found = 0;
    for (int k = 0; k < count; ++k) {
        largest = fmax(largest, largest_of(t, first + k));
    }
    for (int k = 0; k < count && found < LINES_MAX; ++k) {
        if (largest_of(t, first + k) > 1e-3 * largest || (k == 0 && !(largest > 0.0))) {
            lines[found++] = line_of(t, first + k, names[k]);
        }
    }
    return found;
}

static treacle_status plot_energy(treacle_context* ctx, const plot_options* o,
                                  const step_table* t) {
    treacle_plot_def def = treacle_plot_def_default();
    treacle_plot_line lines[LINES_MAX];
    def.lines = lines;
    def.x_label = "time (s)";
    def.y_label = "energy (J)";
    def.title = "energy";
    def.line_count = lines_of(t, COLUMN_ENERGIES, ENERGIES, energy_names, lines);
    treacle_status status = write_both(ctx, o, "energy", &def);
    if (status == TREACLE_OK) {
        def.title = "what made and took energy since the begin";
        def.line_count = lines_of(t, COLUMN_WORKS, WORKS, work_names, lines);
        status = write_both(ctx, o, "account", &def);
    }
    return status;
}

static treacle_status plot_columns(treacle_context* ctx, const plot_options* o,
                                   const step_table* t) {
    treacle_plot_def def = treacle_plot_def_default();
    treacle_plot_line lines[LINES_MAX];
    def.lines = lines;
    def.x_label = "time (s)";
    treacle_status status = plot_energy(ctx, o, t);
    if (status == TREACLE_OK) {
        lines[0] = line_of(t, COLUMN_VOLUME, "particles");
        lines[1] = line_of(t, COLUMN_SURFACE_VOLUME, "surface");
        def.title = "volume";
        def.y_label = "volume (m^3)";
        def.line_count = 2;
        status = write_both(ctx, o, "volume", &def);
    }
    if (status == TREACLE_OK) {
        lines[0] = line_of(t, COLUMN_PRESSURE, "pressure");
        lines[1] = line_of(t, COLUMN_VISCOSITY, "viscosity");
        def.title = "iterations of the solves";
        def.y_label = "iterations";
        status = write_both(ctx, o, "iterations", &def);
    }
    return status;
}

// The stages that take the most time, in the order of the step.
static treacle_status plot_stages(treacle_context* ctx, const plot_options* o,
                                  const step_table* t) {
    double total = 0.0;
    for (int s = 0; s < TREACLE_STAGE_COUNT; ++s) {
        total += sum_of(t, COLUMN_STAGES + s);
    }
    treacle_plot_line lines[LINES_MAX];
    treacle_plot_def def = treacle_plot_def_default();
    for (int s = 0; s < TREACLE_STAGE_COUNT && def.line_count < LINES_MAX; ++s) {
        if (sum_of(t, COLUMN_STAGES + s) > 0.01 * total) {
            lines[def.line_count++] =
                line_of(t, COLUMN_STAGES + s, treacle_stage_name((treacle_stage)s));
        }
    }
    def.lines = lines;
    def.title = "time per stage";
    def.x_label = "time (s)";
    def.y_label = "seconds a step";
    def.is_log_y = true;
    return write_both(ctx, o, "stages", &def);
}

// Least, mean and greatest temperature of each frame.
typedef struct heat_table {
    int64_t count;
    double* column[4]; // time, least, mean, greatest
} heat_table;

static treacle_status take_frame(treacle_context* ctx, const char* path, heat_table* h) {
    treacle_loaded_frame* loaded = NULL;
    treacle_status status = treacle_frame_read(ctx, path, &loaded);
    if (status != TREACLE_OK) {
        return status;
    }
    const treacle_frame* frame = treacle_loaded_frame_view(loaded);
    const treacle_array* t = treacle_frame_find(frame, "temperature");
    if (t != NULL && t->type == TREACLE_TYPE_F32 && t->components == 1 && t->count > 0) {
        const float* value = t->data;
        double low = INFINITY, high = -INFINITY, sum = 0.0;
        for (int64_t i = 0; i < t->count; ++i) {
            low = fmin(low, (double)value[i]);
            high = fmax(high, (double)value[i]);
            sum += (double)value[i];
        }
        const double row[4] = {frame->time, low, sum / (double)t->count, high};
        for (int k = 0; k < 4; ++k) {
            h->column[k][h->count] = row[k];
        }
        h->count += 1;
    }
    treacle_loaded_frame_destroy(loaded);
    return TREACLE_OK;
}

static int read_heat(treacle_context* ctx, const frame_range* range, heat_table* h) {
    for (int64_t k = range->first; k <= range->last; ++k) {
        char path[FRAME_PATH_CAPACITY];
        if (!frame_range_path(range, k, path)) {
            return TREACLE_ERR_LIMIT;
        }
        treacle_status status = take_frame(ctx, path, h);
        if (status != TREACLE_OK) {
            return cli_fail(ctx, status);
        }
        if (h->count == 0) {
            return TREACLE_OK; // the run has no temperature
        }
    }
    return TREACLE_OK;
}

static int plot_heat(treacle_context* ctx, const plot_options* o) {
    frame_range range;
    int code = frame_range_find(ctx, o->folder, NULL, &range);
    if (code != TREACLE_OK) {
        return code;
    }
    heat_table h = {0};
    size_t frames = (size_t)(range.last - range.first + 1);
    double* block = malloc(4 * frames * sizeof(double));
    if (block == NULL) {
        cli_error("out of memory");
        return TREACLE_ERR_MEMORY;
    }
    for (int k = 0; k < 4; ++k) {
        h.column[k] = block + (size_t)k * frames;
    }
    code = read_heat(ctx, &range, &h);
    if (code == TREACLE_OK && h.count > 0) {
        static const char* const names[] = {"least", "mean", "greatest"};
        treacle_plot_line lines[3];
        treacle_plot_def def = treacle_plot_def_default();
        for (int k = 0; k < 3; ++k) {
            lines[k] = (treacle_plot_line){names[k], h.count, h.column[0], h.column[k + 1], false};
        }
        def.lines = lines;
        def.line_count = 3;
        def.title = "temperature";
        def.x_label = "time (s)";
        def.y_label = "temperature (K)";
        code = (int)write_both(ctx, o, "temperature", &def);
    }
    free(block);
    return code;
}

static int plot_all(treacle_context* ctx, const plot_options* o) {
    step_table table = {0};
    treacle_status status = treacle_run_visit_steps(ctx, o->folder, take_step, &table);
    int code = (int)status;
    if (table.is_short) {
        cli_error("out of memory");
        code = TREACLE_ERR_MEMORY;
    } else if (status != TREACLE_OK) {
        cli_fail(ctx, status);
    } else if (table.count == 0) {
        cli_error("%s has no statistics of steps to plot", o->folder);
        code = TREACLE_ERR_IO;
    } else if (!frame_range_make_folder(o->output)) {
        code = TREACLE_ERR_IO;
    }
    if (code == TREACLE_OK) {
        code = (int)plot_columns(ctx, o, &table);
    }
    if (code == TREACLE_OK) {
        code = (int)plot_stages(ctx, o, &table);
    }
    free_table(&table);
    return code == TREACLE_OK ? plot_heat(ctx, o) : code;
}

// --- streamlines ---------------------------------------------------------------------------------

static int fail_streamlines(treacle_status status, const char* path) {
    cli_error("%s: %s", path,
              status == TREACLE_ERR_USAGE    ? "streamlines are drawn of flat scenes (2D) only"
              : status == TREACLE_ERR_FORMAT ? "the frame has no velocities to follow"
                                             : "out of memory");
    return (int)status;
}

static int plot_frame(treacle_context* ctx, const plot_options* o, const frame_range* range,
                      int64_t number) {
    enum { WIDTH = 900, HEIGHT_MIN = 200, HEIGHT_MAX = 3000 };
    static const char* const labels[] = {"x (m)", "y (m)", "z (m)"};
    char path[FRAME_PATH_CAPACITY], name[64], title[64];
    treacle_loaded_frame* loaded = NULL;
    streamlines lines = {0};
    if (!frame_range_path(range, number, path)) {
        return TREACLE_ERR_LIMIT;
    }
    treacle_status status = treacle_frame_read(ctx, path, &loaded);
    if (status != TREACLE_OK) {
        return cli_fail(ctx, status);
    }
    const treacle_frame* frame = treacle_loaded_frame_view(loaded);
    status = streamlines_find(frame, &lines);
    int code = status == TREACLE_OK ? TREACLE_OK : fail_streamlines(status, path);
    if (status == TREACLE_OK) {
        treacle_plot_def def = treacle_plot_def_default();
        treacle_plot_line line = {NULL, lines.count, lines.x, lines.y, false};
        double aspect = (double)frame->cells[lines.axes[1]] / (double)frame->cells[lines.axes[0]];
        snprintf(title, sizeof(title), "streamlines at %.4g s", frame->time);
        snprintf(name, sizeof(name), "streamlines_%04" PRId64, number);
        def.title = title;
        def.x_label = labels[lines.axes[0]];
        def.y_label = labels[lines.axes[1]];
        def.width = WIDTH;
        def.height = (int)fmin(fmax(WIDTH * aspect, HEIGHT_MIN), HEIGHT_MAX);
        def.lines = &line;
        def.line_count = 1;
        code = (int)write_both(ctx, o, name, &def);
    }
    streamlines_free(&lines);
    treacle_loaded_frame_destroy(loaded);
    return code;
}

static int plot_streamlines(treacle_context* ctx, const plot_options* o) {
    frame_range range;
    int code = frame_range_find(ctx, o->folder, o->streamlines, &range);
    if (code == TREACLE_OK && !frame_range_make_folder(o->output)) {
        code = TREACLE_ERR_IO;
    }
    for (int64_t k = range.first; code == TREACLE_OK && k <= range.last; ++k) {
        code = plot_frame(ctx, o, &range, k);
    }
    return code;
}

static int plot(treacle_context* ctx, const void* options) {
    const plot_options* o = options;
    return o->streamlines != NULL ? plot_streamlines(ctx, o) : plot_all(ctx, o);
}

static cli_outcome parse(plot_options* o, int argc, char** argv) {
    const cli_option options[] = {
        FRAME_FOLDER_OPTION(&o->output),
        {.name = "streamlines",
         .kind = CLI_TEXT,
         .value = "A:B",
         .out = &o->streamlines,
         .help = "streamlines of frames A to B, or of one, of a flat scene"},
        FRAME_QUIET_OPTION(&o->quiet),
    };
    const cli_spec spec = {
        .command = "plot",
        .operand_name = "FOLDER",
        .operand_help = "the folder of a run",
        .summary = "draw the statistics of a run as plots",
        .details =
            "Writes plot_energy, plot_account, plot_volume, plot_iterations and plot_stages, and\n"
            "plot_temperature if the frames have one, each as .png and as .svg. With\n"
            "--streamlines plot_streamlines_0001 and so on instead.",
        .example = "  treacle plot out/honey\n"
                   "  treacle plot out/tilted_vortex --streamlines 24\n",
        .operand = &o->folder,
        .option_count = sizeof(options) / sizeof(options[0]),
        .options = options,
    };
    cli_outcome outcome = cli_parse(&spec, argc, argv);
    o->output = o->output != NULL ? o->output : o->folder;
    return outcome;
}

int cmd_plot(int argc, char** argv) {
    plot_options options = {.folder = NULL};
    cli_outcome outcome = parse(&options, argc, argv);
    return cli_go(outcome, 1, plot, &options);
}
