#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "interrupt.h"
#include "run_end.h"

enum { PATH_CAPACITY = 4096 };

typedef struct run_options {
    const char* scene;
    const char* folder;
    const char* film;
    int64_t frames;
    bool preview, force;
    double coarser;
    cli_list sets;
    run_choices choices;
} run_options;

// Where the run goes if nobody says: out/<scene name>, and of a preview out/<scene name>-coarser4.
static bool default_folder(const treacle_scene* scene, double coarser, char folder[PATH_CAPACITY]) {
    const char* name = treacle_scene_output(scene)->name;
    bool usable = name != NULL && name[0] != '\0' && name[0] != '.' && strchr(name, '/') == NULL;
    char end[32] = "";
    if (coarser != 1.0) {
        snprintf(end, sizeof(end), "-coarser%g", coarser);
    }
    int length = usable ? snprintf(folder, PATH_CAPACITY, "out/%s%s", name, end) : -1;
    if (length < 0 || length >= PATH_CAPACITY) {
        cli_error("the scene's name cannot be the name of a folder");
        cli_hint("say where to write: -o FOLDER");
        return false;
    }
    return true;
}

static int simulate(treacle_context* ctx, const run_options* options, const treacle_scene* scene,
                    progress_line* line) {
    char folder[PATH_CAPACITY];
    if (options->folder == NULL && !default_folder(scene, options->coarser, folder)) {
        return TREACLE_ERR_USAGE;
    }
    treacle_run_def def = treacle_run_def_default();
    def.folder = options->folder != NULL ? options->folder : folder;
    def.frames = options->frames;
    def.replace = options->force;
    def.preview = options->preview || options->film != NULL;
    def.film = options->film;
    def.scene_path = options->scene;
    def.set_count = options->sets.count;
    def.sets = options->sets.items;
    def.progress = progress_line_update;
    def.progress_user = line;
    interrupt_begin_run(ctx, def.folder);
    return run_end(ctx, treacle_run_start(ctx, scene, &def), def.folder, line);
}

static int load_and_run(treacle_context* ctx, const void* options, progress_line* line) {
    run_options o = *(const run_options*)options;
    treacle_scene* scene = NULL;
    char room[CLI_COARSER_MAX];
    int code = (int)cli_load_coarser(ctx, o.scene, o.coarser, &o.sets, room, &scene);
    if (code == TREACLE_OK) {
        code = simulate(ctx, &o, scene, line);
    }
    treacle_scene_destroy(scene);
    return code;
}

static cli_outcome parse(run_options* o, int argc, char** argv) {
    const cli_option options[] = {
        {.name = "output",
         .letter = 'o',
         .kind = CLI_TEXT,
         .value = "FOLDER",
         .out = &o->folder,
         .help = "where to write (default: out/ and the scene's name)"},
        RUN_FRAMES_OPTION(&o->frames, "simulate N frames (default: as the scene says)"),
        RUN_SET_OPTION(&o->sets, "lay a value over the scene file; may be repeated"),
        RUN_COARSER_OPTION(&o->coarser),
        {.name = "preview",
         .kind = CLI_FLAG,
         .out = &o->preview,
         .help = "write a picture beside every frame"},
        {.name = "film",
         .kind = CLI_TEXT,
         .value = "FILE",
         .out = &o->film,
         .help = "make a film of the pictures at the end; implies --preview"},
        {.name = "force",
         .kind = CLI_FLAG,
         .out = &o->force,
         .help = "replace the run that is in the folder; other files stay"},
        RUN_THREADS_OPTION(&o->choices.threads),
        RUN_ISA_OPTION(&o->choices.isa),
        RUN_QUIET_OPTION(&o->choices.quiet),
    };
    const cli_spec spec = {
        .command = "run",
        .operand_name = "SCENE",
        .operand_help = "the scene file",
        .summary = "simulate a scene into a folder",
        .details =
            "The folder gets frame_0001.trf and so on, state files to resume from, scene.yaml\n"
            "(the scene as it is run), run.json and stats.jsonl. A run may be ended at any time,\n"
            "even by kill -9 or a power cut, and \"treacle resume FOLDER\" goes on to the very "
            "same\n"
            "files. Ctrl-C ends it after the current step; a second Ctrl-C at once. Neither the\n"
            "number of threads nor the instruction set changes the result by one bit. Built with\n"
            "MPI, \"mpirun -n 4 treacle run ...\" simulates on four ranks, to the same files.",
        .example = "  treacle run honey.yaml\n"
                   "  treacle run honey.yaml -o out/thin --set materials.honey.viscosity=2Pa.s\n"
                   "  treacle run honey.yaml --frames 48 --film honey.mp4\n"
                   "  treacle run honey.yaml --coarser 4\n",
        .operand = &o->scene,
        .option_count = sizeof(options) / sizeof(options[0]),
        .options = options,
    };
    return cli_parse(&spec, argc, argv);
}

int cmd_run(int argc, char** argv) {
    run_options options = {.coarser = 1.0,
                           .choices = {.isa = TREACLE_ISA_AUTO, .takes_ranks = true}};
    cli_outcome outcome = parse(&options, argc, argv);
    return run_go(outcome, &options.choices, load_and_run, &options);
}
