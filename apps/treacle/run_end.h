// What "run", "resume" and "sweep" share: their options, how they begin with a progress line, and
// how they end, with a summary or the error and what can be done about it.
#pragma once

#include "cli.h"
#include "progress_line.h"

typedef struct run_choices {
    int64_t threads;
    int isa;
    bool quiet;
    bool takes_ranks; // it runs on those of mpirun, of which one speaks
} run_choices;

/// What a command does once its options are known; returns the exit code.
typedef int run_work(treacle_context* ctx, const void* options, progress_line* line);

/// Does the work in a context that speaks through the progress line, if the outcome of parsing is
/// to go. Returns the exit code.
int run_go(cli_outcome outcome, const run_choices* choices, run_work* work, const void* options);

/// Prints the end of a run and returns the exit code.
int run_end(const treacle_context* ctx, treacle_status status, const char* folder,
            progress_line* line);

// Options of commands that simulate.
#define RUN_THREADS_OPTION(to)                                                                     \
    {                                                                                              \
        .name = "threads", .kind = CLI_NUMBER, .value = "N", .out = (to), .min = 1, .max = 1024,   \
        .help = "work with N threads (default: one per core)"                                      \
    }
#define RUN_ISA_OPTION(to)                                                                         \
    {                                                                                              \
        .name = "isa", .kind = CLI_CHOICE, .value = "SET", .out = (to),                            \
        .choice_count = CLI_ISA_COUNT, .choices = cli_isa_names,                                   \
        .help = "instruction set: auto, sse2, avx2 or avx512 (default: auto)"                      \
    }
#define RUN_FRAMES_OPTION(to, help_)                                                               \
    {                                                                                              \
        .name = "frames", .kind = CLI_NUMBER, .value = "N", .out = (to), .min = 1, .max = 1000000, \
        .help = help_                                                                              \
    }
#define RUN_SET_OPTION(to, help_)                                                                  \
    { .name = "set", .kind = CLI_LIST, .value = "KEY=VALUE", .out = (to), .help = help_ }
#define RUN_COARSER_OPTION(to)                                                                     \
    {                                                                                              \
        .name = "coarser", .kind = CLI_REAL, .value = "N", .out = (to), .real_min = 1.0,           \
        .real_max = 1000.0, .help = "cells N times as wide: a preview of the scene (default: 1)"   \
    }
#define RUN_QUIET_OPTION(to)                                                                       \
    {                                                                                              \
        .name = "quiet", .letter = 'q', .kind = CLI_FLAG, .out = (to),                             \
        .help = "show no progress and no summary"                                                  \
    }
