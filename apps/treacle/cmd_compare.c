// What differs between two runs: their scenes, their frames, and figures over time.
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "commands.h"
#include "frame_range.h"
#include "line_diff.h"
#include "run_figures.h"

enum { EXIT_DIFFERENT = 1 }; // as of cmp and diff

typedef struct compare_options {
    const char* folder[2];
    const char* frames;
    bool shows_table, quiet;
} compare_options;

// Where two frames first differ.
typedef struct first_difference {
    const char* array; // "" if they do not
    char text[256];
} first_difference;

// How far a figure of the two runs is apart at most.
typedef struct figure_gap {
    double largest;
    int64_t frame;
    double value[2]; // there
} figure_gap;

typedef struct comparison {
    treacle_context* ctx;
    const compare_options* options;
    run_history history[2];
    bool is_scene_same;
    int64_t first_frame; // that differs; 0: none does
    figure_gap gap[RUN_FIGURE_COUNT];
} comparison;

static int load_scene(const comparison* c, int k, treacle_scene** out) {
    char path[FRAME_PATH_CAPACITY];
    int length = snprintf(path, sizeof(path), "%s/scene.yaml", c->options->folder[k]);
    treacle_status status = length < (int)sizeof(path)
                                ? treacle_scene_load(c->ctx, path, 0, NULL, out)
                                : TREACLE_ERR_LIMIT;
    return status == TREACLE_OK ? TREACLE_OK : cli_fail(c->ctx, status);
}

static int compare_scenes(comparison* c) {
    treacle_scene* scene[2] = {NULL, NULL};
    int code = load_scene(c, 0, &scene[0]);
    if (code == TREACLE_OK) {
        code = load_scene(c, 1, &scene[1]);
    }
    if (code == TREACLE_OK) {
        c->is_scene_same = treacle_scene_hash(scene[0]) == treacle_scene_hash(scene[1]);
    }
    if (code == TREACLE_OK && !c->options->quiet) {
        printf("scene      %s\n", c->is_scene_same ? "the same" : "different:");
        bool is_told = c->is_scene_same ||
                       line_diff_print(treacle_scene_text(scene[0]), treacle_scene_text(scene[1]));
        if (!is_told) {
            puts("  the scenes are too long to be shown line by line");
        }
    }
    treacle_scene_destroy(scene[0]);
    treacle_scene_destroy(scene[1]);
    return code;
}

static double real_at(const treacle_array* array, int64_t k) {
    return array->type == TREACLE_TYPE_F32   ? (double)((const float*)array->data)[k]
           : array->type == TREACLE_TYPE_F64 ? ((const double*)array->data)[k]
                                             : NAN;
}

static void tell_values(const treacle_array* a, const treacle_array* b, first_difference* out) {
    size_t size = treacle_type_size(a->type);
    const char *left = a->data, *right = b->data;
    int64_t total = a->count * a->components, first = -1, differing = 0;
    for (int64_t k = 0; k < total; ++k) {
        bool is_other = memcmp(left + (size_t)k * size, right + (size_t)k * size, size) != 0;
        first = is_other && first < 0 ? k : first;
        differing += is_other;
    }
    double x = real_at(a, first), y = real_at(b, first);
    int length = snprintf(out->text, sizeof(out->text),
                          "%" PRId64 " of %" PRId64 " values, the first at item %" PRId64,
                          differing, total, first / a->components);
    if (!isnan(x) || !isnan(y)) {
        snprintf(out->text + length, sizeof(out->text) - (size_t)length, ": %.9g and %.9g", x, y);
    }
}

// Compares array by array, in the order of the first frame.
static void find_difference(const treacle_frame* a, const treacle_frame* b, first_difference* out) {
    *out = (first_difference){.array = ""};
    for (int k = 0; k < a->array_count && out->array[0] == '\0'; ++k) {
        const treacle_array* one = &a->arrays[k];
        const treacle_array* two = treacle_frame_find(b, one->name);
        bool is_alike = two != NULL && one->type == two->type &&
                        one->components == two->components && one->count == two->count;
        size_t bytes = (size_t)(one->count * one->components) * treacle_type_size(one->type);
        if (!is_alike) {
            out->array = one->name;
            snprintf(out->text, sizeof(out->text), "%" PRId64 " items and %" PRId64, one->count,
                     two == NULL ? 0 : two->count);
        } else if (bytes > 0 && memcmp(one->data, two->data, bytes) != 0) {
            out->array = one->name;
            tell_values(one, two, out);
        }
    }
    if (out->array[0] == '\0' && a->array_count != b->array_count) {
        out->array = "arrays";
        snprintf(out->text, sizeof(out->text), "%d and %d", a->array_count, b->array_count);
    }
}

static void note_figures(comparison* c, int64_t number, const run_figures of[2]) {
    for (int k = 0; k < RUN_FIGURE_COUNT; ++k) {
        double apart = fabs(of[0].at[k] - of[1].at[k]);
        if (apart > c->gap[k].largest) {
            c->gap[k] = (figure_gap){apart, number, {of[0].at[k], of[1].at[k]}};
        }
    }
}

static void print_row(int64_t number, double time, const run_figures of[2]) {
    printf("%" PRId64 "\t%.9g", number, time);
    for (int k = 0; k < RUN_FIGURE_COUNT; ++k) {
        printf("\t%.9g\t%.9g", of[0].at[k], of[1].at[k]);
    }
    putchar('\n');
}

static void compare_views(comparison* c, const treacle_frame* a, const treacle_frame* b) {
    first_difference found;
    run_figures of[2] = {run_figures_of(a, &c->history[0]), run_figures_of(b, &c->history[1])};
    note_figures(c, a->number, of);
    if (c->options->shows_table) {
        print_row(a->number, a->time, of);
    }
    if (c->first_frame != 0) {
        return;
    }
    find_difference(a, b, &found);
    bool is_grid_same = a->cell == b->cell && memcmp(a->cells, b->cells, sizeof(a->cells)) == 0 &&
                        memcmp(a->origin, b->origin, sizeof(a->origin)) == 0 && a->time == b->time;
    if (found.array[0] != '\0' || !is_grid_same) {
        c->first_frame = a->number;
    }
    if (c->first_frame != 0 && !c->options->quiet && !c->options->shows_table) {
        printf("state      first differs in frame %" PRId64 " at %.6g s: %s\n", a->number, a->time,
               is_grid_same ? found.array : "the grid, or the time");
        if (found.array[0] != '\0') {
            printf("           %s\n", found.text);
        }
    }
}

static int compare_frame(comparison* c, const frame_range range[2], int64_t number) {
    char path[2][FRAME_PATH_CAPACITY];
    treacle_loaded_frame* loaded[2] = {NULL, NULL};
    treacle_status status = TREACLE_OK;
    for (int k = 0; k < 2 && status == TREACLE_OK; ++k) {
        status = frame_range_path(&range[k], number, path[k])
                     ? treacle_frame_read(c->ctx, path[k], &loaded[k])
                     : TREACLE_ERR_LIMIT;
    }
    if (status == TREACLE_OK) {
        compare_views(c, treacle_loaded_frame_view(loaded[0]),
                      treacle_loaded_frame_view(loaded[1]));
    }
    treacle_loaded_frame_destroy(loaded[0]);
    treacle_loaded_frame_destroy(loaded[1]);
    return status == TREACLE_OK ? TREACLE_OK : cli_fail(c->ctx, status);
}

static void print_table_head(void) {
    fputs("frame\ttime s", stdout);
    for (int k = 0; k < RUN_FIGURE_COUNT; ++k) {
        const run_figure_name* f = &run_figure_names[k];
        printf("\t%s a %s\t%s b %s", f->name, f->unit, f->name, f->unit);
    }
    putchar('\n');
}

static void print_gaps(const comparison* c) {
    for (int k = 0; k < RUN_FIGURE_COUNT; ++k) {
        const figure_gap* gap = &c->gap[k];
        const run_figure_name* f = &run_figure_names[k];
        if (gap->frame == 0) {
            printf("  %-16s the same in all\n", f->name);
        } else {
            printf("  %-16s %.4g %s apart in frame %" PRId64 ": %.6g and %.6g\n", f->name,
                   gap->largest, f->unit, gap->frame, gap->value[0], gap->value[1]);
        }
    }
}

// True if both have the same frames; otherwise those that only one has are said.
static bool compare_counts(const comparison* c, const frame_range range[2]) {
    bool is_same = range[0].first == range[1].first && range[0].last == range[1].last;
    if (!c->options->quiet && !c->options->shows_table) {
        printf("frames     %" PRId64 " to %" PRId64 " and %" PRId64 " to %" PRId64 "\n",
               range[0].first, range[0].last, range[1].first, range[1].last);
    }
    return is_same;
}

static int compare_frames(comparison* c, bool* is_same) {
    frame_range range[2];
    const compare_options* o = c->options;
    bool tells = !o->quiet && !o->shows_table;
    for (int k = 0; k < 2; ++k) {
        int code = frame_range_find(c->ctx, o->folder[k], o->frames, &range[k]);
        if (code != TREACLE_OK) {
            return code;
        }
    }
    *is_same = compare_counts(c, range);
    if (o->shows_table) {
        print_table_head();
    }
    int64_t first = range[0].first > range[1].first ? range[0].first : range[1].first;
    int64_t last = range[0].last < range[1].last ? range[0].last : range[1].last;
    for (int64_t number = first; number <= last; ++number) {
        int code = compare_frame(c, range, number);
        if (code != TREACLE_OK) {
            return code;
        }
    }
    if (tells && c->first_frame == 0) {
        puts("state      the same, bit for bit, in all frames that both have");
    } else if (tells) {
        puts("figures    how far they are apart at most");
        print_gaps(c);
    }
    *is_same = *is_same && c->first_frame == 0;
    return TREACLE_OK;
}

static int compare_histories(comparison* c, bool* is_same) {
    for (int k = 0; k < 2; ++k) {
        treacle_status status = run_history_read(c->ctx, c->options->folder[k], &c->history[k]);
        if (status != TREACLE_OK) {
            return cli_fail(c->ctx, status);
        }
    }
    return compare_frames(c, is_same);
}

static int compare(treacle_context* ctx, const void* options) {
    comparison c = {.ctx = ctx, .options = options};
    compare_options quiet_scene = *c.options;
    bool is_same = false;
    quiet_scene.quiet = quiet_scene.quiet || quiet_scene.shows_table;
    c.options = &quiet_scene;
    int code = compare_scenes(&c);
    c.options = options;
    if (code == TREACLE_OK) {
        code = compare_histories(&c, &is_same);
    }
    run_history_free(&c.history[0]);
    run_history_free(&c.history[1]);
    if (code != TREACLE_OK) {
        return code;
    }
    return is_same && c.is_scene_same ? TREACLE_OK : EXIT_DIFFERENT;
}

static cli_outcome parse(compare_options* o, int argc, char** argv) {
    const cli_option options[] = {
        FRAME_RANGE_OPTION(&o->frames),
        {.name = "table",
         .kind = CLI_FLAG,
         .out = &o->shows_table,
         .help = "print the figures of every frame, with tabs between them"},
        FRAME_QUIET_OPTION(&o->quiet),
    };
    const cli_spec spec = {
        .command = "compare",
        .operand_name = "A",
        .operand_help = "the folder of a run",
        .second_name = "B",
        .second_help = "the folder of another one",
        .summary = "tell what differs between two runs",
        .details =
            "Tells the lines in which the scenes differ, the first frame whose values are not\n"
            "the same bit for bit and where in it, and how far volume, centre, front and\n"
            "energies are apart at most. The exit code is 0 if all is the same and 1 if\n"
            "anything differs; what cannot be read is an error, with a larger one.",
        .example = "  treacle compare out/honey out/stir\n"
                   "  treacle compare out/honey out/stir --table > figures.tsv\n",
        .operand = &o->folder[0],
        .second = &o->folder[1],
        .option_count = CLI_COUNT(options),
        .options = options,
    };
    return cli_parse(&spec, argc, argv);
}

int cmd_compare(int argc, char** argv) {
    compare_options options = {.frames = NULL};
    cli_outcome outcome = parse(&options, argc, argv);
    return cli_go(outcome, 1, compare, &options);
}
