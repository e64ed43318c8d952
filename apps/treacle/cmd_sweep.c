// A grid of runs of one scene, and one picture of them all.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "commands.h"
#include "interrupt.h"
#include "run_end.h"
#include "sheet_page.h"

enum { PATH_CAPACITY = 4096, AXES_MAX = 4, VALUES_MAX = 64, RUNS_MAX = 1024, TEXT_CAPACITY = 512 };

typedef struct sweep_options {
    const char* scene;
    const char* folder;
    const char* sheet;
    int64_t frames, picture, width;
    cli_list sets, over;
    run_choices choices;
} sweep_options;

// One --over: a key and the values it takes in turn.
typedef struct sweep_axis {
    char key[TEXT_CAPACITY];
    int count;
    char value[VALUES_MAX][TEXT_CAPACITY];
} sweep_axis;

typedef struct sweep {
    const sweep_options* options;
    treacle_context* ctx;
    progress_line* line;
    int axis_count, run_count;
    sweep_axis axis[AXES_MAX];
    char (*frame)[PATH_CAPACITY]; // [run_count], the file that the sheet shows
} sweep;

static bool take_part(const char* from, size_t length, char out[TEXT_CAPACITY]) {
    bool fits = length > 0 && length < TEXT_CAPACITY;
    if (fits) {
        memcpy(out, from, length);
        out[length] = '\0';
    }
    return fits;
}

// How long the value at the head of a list is: up to a comma that is in no brackets, and in no
// quotes.
static size_t value_length(const char* at) {
    int depth = 0;
    char quote = '\0';
    size_t length = 0;
    for (; at[length] != '\0'; ++length) {
        char c = at[length];
        if (quote != '\0') {
            quote = c == quote ? '\0' : quote;
        } else if (c == '"' || c == '\'') {
            quote = c;
        } else if (c == '[' || c == '{') {
            depth += 1;
        } else if (c == ']' || c == '}') {
            depth -= 1;
        } else if (c == ',' && depth <= 0) {
            break;
        }
    }
    return length;
}

// "key=1,2,3" or "key=[0,-1,0],[0,-2,0]"
static bool parse_axis(const char* text, sweep_axis* out) {
    const char* equals = strchr(text, '=');
    if (equals == NULL || !take_part(text, (size_t)(equals - text), out->key)) {
        cli_error("--over %s: expected KEY=VALUE,VALUE,...", text);
        return false;
    }
    const char* at = equals + 1;
    for (out->count = 0; *at != '\0' || out->count == 0; ++out->count) {
        size_t length = value_length(at);
        if (out->count == VALUES_MAX || !take_part(at, length, out->value[out->count])) {
            cli_error("--over %s: expected 1 to %d values with commas between them", text,
                      VALUES_MAX);
            return false;
        }
        at += length + (at[length] == ',' ? 1 : 0);
    }
    return true;
}

static bool parse_axes(sweep* s) {
    const cli_list* over = &s->options->over;
    if (over->count < 1 || over->count > AXES_MAX) {
        cli_error("%d keys to sweep: expected 1 to %d, each as --over KEY=VALUE,VALUE,...",
                  over->count, AXES_MAX);
        return false;
    }
    s->run_count = 1;
    for (s->axis_count = 0; s->axis_count < over->count; ++s->axis_count) {
        if (!parse_axis(over->items[s->axis_count], &s->axis[s->axis_count])) {
            return false;
        }
        s->run_count *= s->axis[s->axis_count].count;
        if (s->run_count > RUNS_MAX) {
            cli_error("the sweep has more than %d runs", RUNS_MAX);
            return false;
        }
    }
    return true;
}

// The value of an axis in a run; the last axis changes fastest.
static const char* value_of(const sweep* s, int axis, int run) {
    for (int a = s->axis_count - 1; a > axis; --a) {
        run /= s->axis[a].count;
    }
    return s->axis[axis].value[run % s->axis[axis].count];
}

static int simulate(sweep* s, const treacle_scene* scene, const cli_list* sets,
                    const char* folder) {
    treacle_run_def def = treacle_run_def_default();
    def.folder = folder;
    def.frames = s->options->frames;
    def.scene_path = s->options->scene;
    def.set_count = sets->count;
    def.sets = sets->items;
    def.progress = progress_line_update;
    def.progress_user = s->line;
    treacle_run_info info;
    bool has_begun = treacle_run_inspect(s->ctx, folder, &info) == TREACLE_OK;
    treacle_status status =
        has_begun ? treacle_run_resume(s->ctx, &def) : treacle_run_start(s->ctx, scene, &def);
    return run_end(s->ctx, status, folder, s->line);
}

// Loads the scene with the values of a run and simulates it; `frame` gets the file to show.
static int run_one(sweep* s, int run) {
    static char text[AXES_MAX][2 * TEXT_CAPACITY];
    cli_list sets = s->options->sets;
    char folder[PATH_CAPACITY / 2];
    snprintf(folder, sizeof(folder), "%s/run_%03d", s->options->folder, run + 1);
    if (!s->options->choices.quiet) {
        printf("%s:", folder);
    }
    for (int a = 0; a < s->axis_count && sets.count < CLI_LIST_CAPACITY; ++a) {
        snprintf(text[a], sizeof(text[a]), "%s=%s", s->axis[a].key, value_of(s, a, run));
        sets.items[sets.count++] = text[a];
        if (!s->options->choices.quiet) {
            printf(" %s", text[a]);
        }
    }
    if (!s->options->choices.quiet) {
        puts("");
    }
    treacle_scene* scene = NULL;
    int code = (int)cli_load_scene(s->ctx, s->options->scene, &sets, &scene);
    if (code == TREACLE_OK) {
        int64_t frames =
            s->options->frames > 0 ? s->options->frames : treacle_scene_output(scene)->frames;
        int64_t shown = s->options->picture > 0 ? s->options->picture : frames;
        snprintf(s->frame[run], PATH_CAPACITY, "%s/frame_%04lld.trf", folder, (long long)shown);
        code = simulate(s, scene, &sets, folder);
    }
    treacle_scene_destroy(scene);
    return code;
}

// "key = value, key = value" of all axes but the last: what a row of the sheet has in common.
static void row_label(const sweep* s, int run, char out[PATH_CAPACITY]) {
    size_t used = 0;
    out[0] = '\0';
    for (int a = 0; a + 1 < s->axis_count; ++a) {
        int length = snprintf(out + used, PATH_CAPACITY - used, "%s%s = %s", a == 0 ? "" : ", ",
                              s->axis[a].key, value_of(s, a, run));
        used += length > 0 ? (size_t)length : 0;
        used = used < PATH_CAPACITY ? used : PATH_CAPACITY - 1;
    }
}

// Beside the sheet, under its name and ".html": a page with its pictures under their values.
static int label_sheet(const sweep* s, const treacle_sheet_def* def, const char* sheet) {
    const sweep_axis* across = &s->axis[s->axis_count - 1];
    const char* slash = strrchr(sheet, '/');
    char path[PATH_CAPACITY + 8], row[PATH_CAPACITY];
    snprintf(path, sizeof(path), "%s.html", sheet);
    sheet_page page;
    if (!sheet_page_begin(&page, path, s->options->scene)) {
        return TREACLE_ERR_IO;
    }
    page.picture = slash == NULL ? sheet : slash + 1;
    page.width = def->picture.width;
    page.height = def->picture.height;
    page.gap = def->gap;
    for (int i = 0; i < s->run_count; ++i) {
        int column = i % def->columns;
        row_label(s, i, row);
        if (column == 0) {
            sheet_page_row(&page, row);
        }
        char label[2 * TEXT_CAPACITY + 8];
        snprintf(label, sizeof(label), "%s = %s", across->key, across->value[column]);
        sheet_page_cell(&page, column, i / def->columns, label, i + 1);
    }
    return sheet_page_end(&page) ? TREACLE_OK : TREACLE_ERR_IO;
}

static int draw_sheet(const sweep* s) {
    const char* files[RUNS_MAX];
    char path[PATH_CAPACITY];
    treacle_sheet_def def = treacle_sheet_def_default();
    for (int i = 0; i < s->run_count; ++i) {
        files[i] = s->frame[i];
    }
    def.frame_count = s->run_count;
    def.frames = files;
    def.columns = s->axis[s->axis_count - 1].count;
    def.picture.width = (int)s->options->width;
    def.picture.height = (int)(s->options->width * 3 / 4);
    snprintf(path, sizeof(path), "%s/sheet.png", s->options->folder);
    const char* to = s->options->sheet != NULL ? s->options->sheet : path;
    treacle_status status = treacle_sheet_write(s->ctx, &def, to);
    if (status != TREACLE_OK) {
        return cli_fail(s->ctx, status);
    }
    int code = label_sheet(s, &def, to);
    if (code == TREACLE_OK && !s->options->choices.quiet) {
        printf("%d runs are in one picture, %s: %s changes from column to column; %s.html has it "
               "with labels\n",
               s->run_count, to, s->axis[s->axis_count - 1].key, to);
    }
    return code;
}

static int run_all(sweep* s) {
    s->frame = calloc((size_t)s->run_count, sizeof(*s->frame));
    if (s->frame == NULL) {
        cli_error("there is no memory for %d runs", s->run_count);
        return TREACLE_ERR_MEMORY;
    }
    int code = TREACLE_OK;
    interrupt_begin();
    for (int i = 0; code == TREACLE_OK && i < s->run_count; ++i) {
        code = run_one(s, i);
    }
    if (code == TREACLE_OK) {
        code = draw_sheet(s);
    }
    free(s->frame);
    return code;
}

static cli_outcome parse(sweep_options* o, int argc, char** argv) {
    const cli_option options[] = {
        {.name = "over",
         .kind = CLI_LIST,
         .value = "KEY=A,B,...",
         .out = &o->over,
         .help = "values that a key takes in turn; may be repeated"},
        {.name = "output",
         .letter = 'o',
         .kind = CLI_TEXT,
         .value = "FOLDER",
         .out = &o->folder,
         .help = "where the runs go (default: out/sweep)"},
        RUN_FRAMES_OPTION(&o->frames, "simulate N frames (default: as the scene says)"),
        RUN_SET_OPTION(&o->sets, "a value for all runs; may be repeated"),
        {.name = "picture",
         .kind = CLI_NUMBER,
         .value = "N",
         .out = &o->picture,
         .min = 1,
         .max = 1000000,
         .help = "the frame that the sheet shows (default: the last)"},
        {.name = "sheet",
         .kind = CLI_TEXT,
         .value = "FILE",
         .out = &o->sheet,
         .help = "the contact sheet (default: sheet.png in the folder)"},
        {.name = "width",
         .kind = CLI_NUMBER,
         .value = "N",
         .out = &o->width,
         .min = 16,
         .max = 4096,
         .help = "pixels of one picture of it, across (default: 480)"},
        RUN_THREADS_OPTION(&o->choices.threads),
        RUN_ISA_OPTION(&o->choices.isa),
        RUN_QUIET_OPTION(&o->choices.quiet),
    };
    const cli_spec spec = {
        .command = "sweep",
        .operand_name = "SCENE",
        .operand_help = "the scene file",
        .summary = "run a scene over a grid of values, into one picture",
        .details =
            "Runs the scene once for every combination of the values, into FOLDER/run_001 and so\n"
            "on, and lays pictures of all of them out in one sheet: the last key changes from\n"
            "column to column. sheet.png.html shows the same with the values of each. A value\n"
            "may be a vector: commas within brackets and quotes do not part values. A sweep that\n"
            "was ended goes on when it is called again.",
        .example = "  treacle sweep scenes/goop_cube.yaml \\\n"
                   "      --over materials.goop.elastic.alpha=1,10,100 \\\n"
                   "      --over materials.goop.elastic.gamma=0.01,0.1,0.4\n"
                   "  treacle sweep honey.yaml --over 'gravity=[0,-9.81,0],[3,-9.3,0]'\n",
        .operand = &o->scene,
        .option_count = sizeof(options) / sizeof(options[0]),
        .options = options,
    };
    return cli_parse(&spec, argc, argv);
}

static int sweep_scene(treacle_context* ctx, const void* options, progress_line* line) {
    static sweep s; // too large for the stack
    s = (sweep){.options = options, .ctx = ctx, .line = line};
    return parse_axes(&s) ? run_all(&s) : TREACLE_ERR_USAGE;
}

int cmd_sweep(int argc, char** argv) {
    sweep_options options = {.choices.isa = TREACLE_ISA_AUTO, .folder = "out/sweep", .width = 480};
    cli_outcome outcome = parse(&options, argc, argv);
    return run_go(outcome, &options.choices, sweep_scene, &options);
}
