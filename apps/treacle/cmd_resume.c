#include "commands.h"
#include "interrupt.h"
#include "run_end.h"

typedef struct resume_options {
    const char* folder;
    int64_t frames;
    run_choices choices;
} resume_options;

static cli_outcome parse(resume_options* o, int argc, char** argv) {
    const cli_option options[] = {
        RUN_FRAMES_OPTION(&o->frames, "go on to frame N (default: as the run began)"),
        RUN_THREADS_OPTION(&o->choices.threads),
        RUN_ISA_OPTION(&o->choices.isa),
        RUN_QUIET_OPTION(&o->choices.quiet),
    };
    const cli_spec spec = {
        .command = "resume",
        .operand_name = "FOLDER",
        .operand_help = "the folder of a run",
        .summary = "go on with a run that was ended",
        .details =
            "Goes on after the newest state file that is whole and leaves the same files as a run\n"
            "that was never ended. The scene is the copy in the folder; if the file that it came\n"
            "from has changed meanwhile, that is said. --frames makes a run longer.",
        .example = "  treacle resume out/honey\n"
                   "  treacle resume out/honey --frames 240\n",
        .operand = &o->folder,
        .option_count = sizeof(options) / sizeof(options[0]),
        .options = options,
    };
    return cli_parse(&spec, argc, argv);
}

static int resume(treacle_context* ctx, const void* options, progress_line* line) {
    const resume_options* o = options;
    treacle_run_def def = treacle_run_def_default();
    def.folder = o->folder;
    def.frames = o->frames;
    def.progress = progress_line_update;
    def.progress_user = line;
    interrupt_begin_run(ctx, def.folder);
    return run_end(ctx, treacle_run_resume(ctx, &def), o->folder, line);
}

int cmd_resume(int argc, char** argv) {
    resume_options options = {.choices = {.isa = TREACLE_ISA_AUTO, .takes_ranks = true}};
    cli_outcome outcome = parse(&options, argc, argv);
    return run_go(outcome, &options.choices, resume, &options);
}
