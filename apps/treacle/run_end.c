#include "run_end.h"

#include <stdio.h>

#include "human.h"
#include "interrupt.h"

int run_go(cli_outcome outcome, const run_choices* choices, run_work* work, const void* options) {
    progress_line line;
    treacle_context* ctx = NULL;
    if (outcome != CLI_GO) {
        return cli_exit_code(outcome);
    }
    progress_line_begin(&line, choices->quiet);
    treacle_context_def def = treacle_context_def_default();
    def.threads = (int)choices->threads;
    def.isa = (treacle_isa)choices->isa;
    def.log = progress_line_log;
    def.log_user = &line;
    def.ranks = choices->takes_ranks;
    treacle_status status = cli_begin(&def, &ctx);
    if (status != TREACLE_OK) {
        return (int)status;
    }
    line.is_mute = treacle_context_rank(ctx) != 0;
    int code = work(ctx, options, &line);
    treacle_context_destroy(ctx);
    return code;
}

static void print_summary(const char* folder, const progress_line* line) {
    if (line->quiet || line->first_frame == 0) {
        return;
    }
    printf("frames %lld to %lld are in %s: %lld steps in %s\n", (long long)line->first_frame,
           (long long)line->last_frame, folder, (long long)line->steps,
           human_seconds(line->seconds).at);
}

static void print_way_on(treacle_status status, const char* folder, const progress_line* line) {
    if (status == TREACLE_ERR_INTERRUPTED) {
        cli_hint("go on with \"treacle resume %s\"", folder);
    } else if (status == TREACLE_ERR_DIVERGED) {
        cli_hint("the %lld frames and the newest state in %s are whole; try shorter steps in a new "
                 "run, with a smaller step.cfl or step.max_dt",
                 (long long)line->last_frame, folder);
    } else if (line->last_frame > 0) {
        cli_hint("the frames up to %lld are safe; once the cause is gone, go on with \"treacle "
                 "resume %s\"",
                 (long long)line->last_frame, folder);
    }
}

int run_end(const treacle_context* ctx, treacle_status status, const char* folder,
            progress_line* line) {
    progress_line_clear(line);
    if (line->is_mute) {
        return (int)status;
    }
    if (status == TREACLE_OK) {
        print_summary(folder, line);
        return TREACLE_OK;
    }
    if (status == TREACLE_ERR_INTERRUPTED) {
        if (!line->quiet) {
            fprintf(stderr, "treacle: %s\n", treacle_context_error(ctx));
            print_way_on(status, folder, line);
        }
        return CLI_EXIT_INTERRUPTED;
    }
    int code = cli_fail(ctx, status);
    print_way_on(status, folder, line);
    // Ctrl-C reaches a helper program too, which then fails.
    bool is_interrupted = status == TREACLE_ERR_EXTERNAL && interrupt_wanted();
    return is_interrupted ? CLI_EXIT_INTERRUPTED : code;
}
