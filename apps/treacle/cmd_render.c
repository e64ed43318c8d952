#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "commands.h"
#include "frame_range.h"
#include "human.h"
#include "interrupt.h"
#include "look_assets.h"
#include "run_end.h"
#include "surface_options.h"

enum { FORMATS = 3, BOUNDS_FRAMES = 9, SAMPLES_BY_NOISE = 4096 };

typedef struct render_options {
    const char* operand;
    const char* frames;
    const char* folder; // where to write
    const char* name;
    const char* scene; // that has the look; NULL: the run's
    const char* look;  // laid over it; NULL: none
    const char* size;
    const char* film;
    const char* sheet;
    int64_t samples, threads, count, columns, turn, loop;
    double noise;
    surface_options surface;
    int format;
    bool raw, quiet, resume;
    cli_list sets;
    int width, height;
} render_options;

static const char* const format_names[FORMATS] = {"png", "exr", "both"};

typedef struct render_job {
    treacle_context* ctx;
    const render_options* options;
    frame_range range;
    const char* folder; // where to write
    treacle_scene* scene;
    treacle_render_def def;
    treacle_contact_sheet* sheet; // NULL: none is wanted
} render_job;

static bool parse_size(render_options* o) {
    char* end = NULL;
    if (o->size == NULL) {
        return true;
    }
    long width = strtol(o->size, &end, 10), height = 0;
    bool is_pair = end != o->size && (*end == 'x' || *end == 'X');
    if (is_pair) {
        const char* second = end + 1;
        height = strtol(second, &end, 10);
        is_pair = end != second && *end == '\0';
    }
    if (!is_pair || width < 1 || height < 1 || width > 16384 || height > 16384) {
        cli_error("--size must be WIDTHxHEIGHT in pixels, each from 1 to 16384, not \"%s\"",
                  o->size);
        return false;
    }
    o->width = (int)width;
    o->height = (int)height;
    return true;
}

// A name that is no file may be that of a look inside the program.
static void find_look(treacle_scene_files* files) {
    if (files->look == NULL || access(files->look, F_OK) == 0) {
        return;
    }
    size_t length = strlen(files->look);
    for (int i = 0; i < look_assets_count; ++i) {
        const embedded_file* a = &look_assets[i];
        if (strncmp(a->name, files->look, length) == 0 && strcmp(a->name + length, ".yaml") == 0) {
            files->look_text = (const char*)a->data;
            files->look_length = a->size;
        }
    }
}

// The scene that has the look: the one that was asked for, or the run's own copy.
static int load_scene(render_job* job) {
    char path[FRAME_PATH_CAPACITY];
    const char* from = job->options->scene;
    if (from == NULL && job->range.folder == NULL) { // a single frame has none
        if (job->options->look != NULL) {
            cli_error("--look is laid over a scene: say which with --scene");
        }
        return job->options->look == NULL ? TREACLE_OK : TREACLE_ERR_USAGE;
    }
    if (from == NULL) {
        int length = snprintf(path, sizeof(path), "%s/scene.yaml", job->range.folder);
        if (length < 0 || length >= FRAME_PATH_CAPACITY) {
            cli_error("the path %.60s... is too long", job->range.folder);
            return TREACLE_ERR_LIMIT;
        }
        from = path;
    }
    const cli_list* sets = &job->options->sets;
    treacle_scene_files files = {
        .scene = from, .look = job->options->look, .set_count = sets->count, .sets = sets->items};
    find_look(&files);
    return (int)cli_load_look(job->ctx, &files, &job->scene);
}

// What the camera frames, if it is not told: all that the liquid reaches in the run, so that the
// camera stands still in a film.
static treacle_status find_bounds(render_job* job) {
    frame_range all = job->range;
    treacle_run_info info;
    if (all.folder == NULL || treacle_run_inspect(job->ctx, all.folder, &info) != TREACLE_OK) {
        return TREACLE_OK;
    }
    for (int k = 0; k < 3; ++k) {
        job->def.low[k] = INFINITY;
        job->def.high[k] = -INFINITY;
    }
    int64_t last = info.frames_done;
    for (int i = 0; i < BOUNDS_FRAMES; ++i) {
        int64_t number = 1 + (last - 1) * i / (BOUNDS_FRAMES - 1);
        char path[FRAME_PATH_CAPACITY];
        treacle_loaded_frame* loaded = NULL;
        if (!frame_range_path(&all, number, path)) {
            return TREACLE_ERR_LIMIT;
        }
        treacle_status status = treacle_frame_read(job->ctx, path, &loaded);
        if (status == TREACLE_OK) {
            status = treacle_render_bounds(job->ctx, treacle_loaded_frame_view(loaded),
                                           job->def.low, job->def.high);
        }
        treacle_loaded_frame_destroy(loaded);
        if (status != TREACLE_OK) {
            return status;
        }
    }
    job->def.box_set = true;
    return TREACLE_OK;
}

// On a terminal: how far the picture is, on one line that is written over.
static bool go_on(double fraction, void* user) {
    const render_job* job = user;
    if (!job->options->quiet && isatty(STDERR_FILENO) != 0) {
        if (fraction < 1.0) {
            fprintf(stderr, "\r%3.0f %% of a picture", 100.0 * fraction);
        } else {
            fprintf(stderr, "\r%20s\r", "");
        }
    }
    return !interrupt_wanted();
}

static int set_def(render_job* job) {
    const render_options* o = job->options;
    job->def = treacle_render_def_default();
    job->def.mesh = surface_mesh_def(&o->surface, job->scene);
    if (job->scene != NULL) {
        const treacle_sim_def* sim = treacle_scene_sim(job->scene);
        job->def.material_count = sim->material_count;
        job->def.materials = sim->materials;
        if (o->surface.overlap < 0.0) { // two surfaces in one place would be drawn as noise
            job->def.mesh.overlap = 0.05 * sim->domain.cell;
        }
        job->def.solid_count = sim->solid_count;
        job->def.solids = sim->solids;
        job->def.body_count = sim->body_count;
        job->def.bodies = sim->bodies;
        job->def.emitter_count = sim->emitter_count;
        job->def.emitters = sim->emitters;
        job->def.domain = &sim->domain;
        job->def.look = *treacle_scene_look(job->scene);
        job->def.camera = *treacle_scene_camera(job->scene);
    }
    if (o->width > 0) {
        job->def.width = o->width;
        job->def.height = o->height;
    }
    if (o->noise > 0.0) {
        job->def.noise = o->noise;
        job->def.samples = SAMPLES_BY_NOISE;
    }
    if (o->samples > 0) {
        job->def.samples = (int)o->samples;
        job->def.noise = o->noise;
    }
    job->def.denoise = !o->raw;
    job->def.progress = go_on;
    job->def.progress_user = job;
    treacle_status status = find_bounds(job);
    return status == TREACLE_OK ? TREACLE_OK : cli_fail(job->ctx, status);
}

static treacle_status write_picture(const render_job* job, const treacle_picture* picture,
                                    int64_t number, const char* ending) {
    char path[FRAME_PATH_CAPACITY];
    if (!frame_range_output(job->folder, job->options->name, number, ending, path)) {
        return TREACLE_ERR_LIMIT;
    }
    treacle_status status = treacle_picture_write(job->ctx, picture, path);
    if (status == TREACLE_OK && !job->options->quiet) {
        treacle_picture_stats stats = treacle_picture_get_stats(picture);
        const char* verdict = job->def.noise <= 0.0 ? ""
                              : stats.is_quiet      ? " (as wanted)"
                                                    : " (not everywhere as low as wanted)";
        printf("%s: %" PRId64 " triangles, %.0f samples a pixel, noise %.3f%s, %s\n", path,
               stats.triangles, stats.samples, stats.noise, verdict,
               human_seconds(stats.seconds_mesh + stats.seconds_render).at);
        fflush(stdout);
    }
    return status;
}

// How many frames are drawn, and which is the i-th: all of the range, or some spread over it.
static int64_t frame_count(const render_job* job) {
    int64_t all = job->range.last - job->range.first + 1, wanted = job->options->count;
    if (job->options->turn > 0) {
        return job->options->turn;
    }
    return wanted > 0 && wanted < all ? wanted : all;
}

static int64_t frame_at(const render_job* job, int64_t i) {
    int64_t count = frame_count(job), span = job->range.last - job->range.first;
    if (job->options->turn > 0) {
        return job->range.last;
    }
    return count == 1 ? job->range.last
                      : job->range.first + (span * i + (count - 1) / 2) / (count - 1);
}

// The number in the name of the i-th picture.
static int64_t picture_number(const render_job* job, int64_t i) {
    return job->options->turn > 0 ? i + 1 : frame_at(job, i);
}

// Whether an earlier call has drawn the picture to its end.
static bool is_drawn(const render_job* job, int64_t number) {
    char path[FRAME_PATH_CAPACITY];
    const render_options* o = job->options;
    bool is_there = o->resume;
    for (int i = 0; i < 2 && is_there; ++i) {
        bool is_wanted = o->format == 2 || o->format == i;
        is_there = !is_wanted ||
                   (frame_range_output(job->folder, o->name, number, format_names[i], path) &&
                    access(path, F_OK) == 0);
    }
    return is_there && frame_range_output(job->folder, o->name, number, "part", path) &&
           access(path, F_OK) != 0;
}

static treacle_status draw_frame(const render_job* job, int64_t index) {
    const double whole = 6.283185307179586; // rad
    int64_t number = picture_number(job, index);
    char path[FRAME_PATH_CAPACITY], keep[FRAME_PATH_CAPACITY];
    treacle_loaded_frame* loaded = NULL;
    treacle_picture* picture = NULL;
    treacle_render_def def = job->def;
    if (is_drawn(job, number)) {
        return TREACLE_OK;
    }
    if (job->options->turn > 0) {
        def.camera.turn += whole * (double)index / (double)job->options->turn;
    }
    if (!frame_range_path(&job->range, frame_at(job, index), path) ||
        !frame_range_output(job->folder, job->options->name, number, "part", keep)) {
        return TREACLE_ERR_LIMIT;
    }
    def.keep = keep;
    treacle_status status = treacle_frame_read(job->ctx, path, &loaded);
    if (status == TREACLE_OK) {
        status = treacle_render_frame(job->ctx, treacle_loaded_frame_view(loaded), &def, &picture);
    }
    int format = job->options->format;
    if (status == TREACLE_OK && job->sheet != NULL) {
        char words[64];
        snprintf(words, sizeof(words), "%" PRId64 "  %.2f s", number,
                 treacle_loaded_frame_view(loaded)->time);
        status = treacle_contact_put(job->sheet, (int)index, picture);
        if (status == TREACLE_OK) {
            treacle_contact_label(job->sheet, (int)index, words);
        }
    }
    if (status == TREACLE_OK && format != 1) {
        status = write_picture(job, picture, number, "png");
    }
    if (status == TREACLE_OK && format != 0) {
        status = write_picture(job, picture, number, "exr");
    }
    if (status == TREACLE_OK && interrupt_wanted()) { // what there is of the picture is kept
        status = TREACLE_ERR_INTERRUPTED;
    }
    treacle_picture_destroy(picture);
    treacle_loaded_frame_destroy(loaded);
    return status;
}

static int end_with(const render_job* job, treacle_status status, int64_t number) {
    if (status == TREACLE_OK) {
        return TREACLE_OK;
    }
    if (status == TREACLE_ERR_INTERRUPTED) {
        cli_error("interrupted at frame %" PRId64, number);
        cli_hint(
            "its picture has fewer samples than the others; the same call with --resume goes on "
            "where this one was ended");
        return CLI_EXIT_INTERRUPTED;
    }
    return cli_fail(job->ctx, status);
}

static int make_film(const render_job* job) {
    const char* film = job->options->film;
    double fps = job->scene == NULL ? 24.0 : treacle_scene_sim(job->scene)->fps;
    int64_t count = frame_count(job), first = picture_number(job, 0);
    const treacle_film_range range = {job->folder, job->options->name, first, first + count - 1,
                                      fps,         job->options->loop};
    treacle_status status = treacle_film_write_range(job->ctx, &range, film);
    if (status == TREACLE_OK && !job->options->quiet) {
        printf("%s: %" PRId64 " frames at %g a second\n", film, count - job->options->loop, fps);
    }
    return status == TREACLE_OK ? TREACLE_OK : cli_fail(job->ctx, status);
}

static int begin_sheet(render_job* job) {
    if (job->options->sheet == NULL) {
        return TREACLE_OK;
    }
    const treacle_contact_def def = {.count = (int)frame_count(job),
                                     .columns = (int)job->options->columns,
                                     .gap = 4,
                                     .width = job->def.width,
                                     .height = job->def.height};
    treacle_status status = treacle_contact_create(job->ctx, &def, &job->sheet);
    if (status == TREACLE_OK) {
        return TREACLE_OK;
    }
    int code = cli_fail(job->ctx, status);
    if (status == TREACLE_ERR_LIMIT) {
        cli_hint("choose fewer frames with --count, or a smaller --size");
    }
    return code;
}

static int end_sheet(const render_job* job) {
    const char* path = job->options->sheet;
    if (path == NULL) {
        return TREACLE_OK;
    }
    treacle_status status = treacle_contact_write(job->sheet, path);
    if (status == TREACLE_OK && !job->options->quiet) {
        printf("%s: %" PRId64 " frames in one picture\n", path, frame_count(job));
    }
    return status == TREACLE_OK ? TREACLE_OK : cli_fail(job->ctx, status);
}

static int draw_all(render_job* job) {
    interrupt_begin();
    int code = begin_sheet(job);
    for (int64_t i = 0; i < frame_count(job) && code == TREACLE_OK; ++i) {
        code = end_with(job, draw_frame(job, i), frame_at(job, i));
    }
    if (code == TREACLE_OK) {
        code = end_sheet(job);
    }
    if (code == TREACLE_OK && job->options->film != NULL) {
        code = make_film(job);
    }
    treacle_contact_destroy(job->sheet);
    return code;
}

static int check_film(const render_job* job) {
    const render_options* o = job->options;
    if (o->resume && o->sheet != NULL) {
        cli_error("a sheet is made of pictures of one call: use --sheet without --resume");
        return TREACLE_ERR_USAGE;
    }
    if (o->loop > 0 && (o->film == NULL || o->turn > 0)) {
        cli_error("--loop is for films of a range of frames: use it with --film, without --turn");
        return TREACLE_ERR_USAGE;
    }
    if (o->film == NULL) {
        return TREACLE_OK;
    }
    if (o->count > 0 && o->turn == 0) {
        cli_error("a film is made of all frames of the range: use --film without --count");
        return TREACLE_ERR_USAGE;
    }
    if (o->format == 1) {
        cli_error("a film is made of PNG pictures: use --to png or --to both with --film");
        return TREACLE_ERR_USAGE;
    }
    treacle_status status = treacle_film_check(job->ctx, o->film);
    return status == TREACLE_OK ? TREACLE_OK : cli_fail(job->ctx, status);
}

// Before the pictures are drawn.
static int check_loop(const render_job* job) {
    int64_t count = frame_count(job), loop = job->options->loop;
    if (2 * loop < count) {
        return TREACLE_OK;
    }
    cli_error("a loop that lays %" PRId64 " pictures over others needs twice as many and one more, "
              "not %" PRId64,
              loop, count);
    return TREACLE_ERR_USAGE;
}

static int render_all(treacle_context* ctx, const void* options) {
    const render_options* o = options;
    render_job job = {.ctx = ctx, .options = o};
    int code = check_film(&job);
    if (code == TREACLE_OK) {
        code = frame_range_find(ctx, o->operand, o->frames, &job.range);
    }
    job.folder = o->folder != NULL ? o->folder : job.range.folder != NULL ? job.range.folder : ".";
    if (code == TREACLE_OK && !frame_range_make_folder(job.folder)) {
        code = TREACLE_ERR_IO;
    }
    if (code == TREACLE_OK) {
        code = check_loop(&job);
    }
    if (code == TREACLE_OK) {
        code = load_scene(&job);
    }
    if (code == TREACLE_OK) {
        code = set_def(&job);
    }
    if (code == TREACLE_OK) {
        code = draw_all(&job);
    }
    treacle_scene_destroy(job.scene);
    return code;
}

static const char details[] =
    "Writes picture_0001.png and so on. Look and camera are those of the scene, in its\n"
    "sections \"look\" and \"camera\"; without them liquid gets the look of its "
    "material's\n"
    "name, on a light ground in soft light, and the camera frames all that the liquid\n"
    "reaches. The pictures do not depend on the number of threads. A file appears under\n"
    "its name only once it is whole; Ctrl-C ends after the picture's current pass and\n"
    "keeps what there is of it, also as picture_0001.part, with which the same call goes on.";

static const char example[] =
    "  treacle render out/honey --film honey.mp4\n"
    "  treacle render out/honey --frames 60 --size 1920x1080 --noise 0.01\n"
    "  treacle render out/honey --frames 60 --set look.liquid.kind=chocolate\n"
    "  treacle render out/honey --count 12 --size 320x180 --sheet honey.png\n";

#define TEXT_OPTION(name_, value_, out_, help_)                                                    \
    { .name = name_, .kind = CLI_TEXT, .value = value_, .out = out_, .help = help_ }

static cli_outcome parse(render_options* o, int argc, char** argv) {
    const cli_option options[] = {
        FRAME_RANGE_OPTION(&o->frames),
        TEXT_OPTION("size", "WxH", &o->size, "pixels (default: 960x540)"),
        {.name = "samples",
         .kind = CLI_NUMBER,
         .value = "N",
         .out = &o->samples,
         .min = 1,
         .max = 1000000,
         .help = "paths a pixel, at most (default: 256)"},
        {.name = "noise",
         .kind = CLI_REAL,
         .value = "X",
         .out = &o->noise,
         .real_min = 1e-4,
         .real_max = 10.0,
         .help = "stop where the noise is below X (default: 0.02 without --samples)"},
        TEXT_OPTION("film", "FILE", &o->film,
                    "make a film of the pictures: .mp4, .mov, .mkv or .webm"),
        TEXT_OPTION("sheet", "FILE", &o->sheet, "lay all pictures out in one PNG, a contact sheet"),
        {.name = "count",
         .kind = CLI_NUMBER,
         .value = "N",
         .out = &o->count,
         .min = 1,
         .max = 10000,
         .help = "draw only N frames, spread evenly over the range"},
        {.name = "turn",
         .kind = CLI_NUMBER,
         .value = "N",
         .out = &o->turn,
         .min = 2,
         .max = 10000,
         .help = "draw the last frame N times, once around: a film of them has no seam"},
        {.name = "loop",
         .kind = CLI_NUMBER,
         .value = "N",
         .out = &o->loop,
         .min = 1,
         .max = 10000,
         .help = "of the film: the first N pictures fade in over the last, so that it has no seam"},
        {.name = "columns",
         .kind = CLI_NUMBER,
         .value = "N",
         .out = &o->columns,
         .min = 1,
         .max = 10000,
         .help = "of the contact sheet (default: about as many as rows)"},
        TEXT_OPTION("scene", "FILE", &o->scene,
                    "take look and camera from this scene (default: the run's own)"),
        TEXT_OPTION(
            "look", "FILE", &o->look,
            "lay a file of look and camera over the scene, or a look by name, such as water"),
        {.name = "set",
         .kind = CLI_LIST,
         .value = "KEY=VALUE",
         .out = &o->sets,
         .help = "lay a value over the scene, such as look.liquid.kind=wax; may be repeated"},
        SURFACE_OPTIONS(&o->surface),
        {.name = "resume",
         .kind = CLI_FLAG,
         .out = &o->resume,
         .help = "pass over pictures that are there, and go on with one that was ended early"},
        {.name = "raw", .kind = CLI_FLAG, .out = &o->raw, .help = "leave the noise as it is"},
        {.name = "to",
         .kind = CLI_CHOICE,
         .value = "FORMAT",
         .out = &o->format,
         .choice_count = FORMATS,
         .choices = format_names,
         .help = "png, exr (linear, with layers) or both (default: png)"},
        FRAME_FOLDER_OPTION(&o->folder),
        TEXT_OPTION("name", "STEM", &o->name,
                    "files are STEM_0001.png and so on (default: picture)"),
        RUN_THREADS_OPTION(&o->threads),
        FRAME_QUIET_OPTION(&o->quiet),
    };
    const cli_spec spec = {
        .command = "render",
        .operand_name = "PATH",
        .operand_help = "the folder of a run, or one frame file",
        .summary = "make pictures and a film by path tracing",
        .details = details,
        .example = example,
        .operand = &o->operand,
        .option_count = sizeof(options) / sizeof(options[0]),
        .options = options,
    };
    return cli_parse(&spec, argc, argv);
}

int cmd_render(int argc, char** argv) {
    render_options options = {.name = "picture", .surface = surface_options_default()};
    cli_outcome outcome = parse(&options, argc, argv);
    if (outcome == CLI_GO && !parse_size(&options)) {
        outcome = CLI_WRONG;
    }
    return cli_go(outcome, options.threads, render_all, &options);
}
